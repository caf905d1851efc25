import Foundation
import SkeinInference
import SkeinTestSupport
import Testing

@Suite("Which files lie at a path")
struct FileIdentityTests {
    private func write(_ text: String, _ folder: String, _ name: String) throws {
        // Written beside and renamed, as a program replaces a file: the number of the file changes.
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
    }

    @Test("A folder is another one if a file of a model in it is, comes or goes")
    func models() throws {
        try TestPaths.withTemporaryDirectory { folder in
            var known = try FileIdentity(of: folder)
            func changes(_ what: String, _ body: () throws -> Void) throws {
                try body()
                let now = try FileIdentity(of: folder)
                #expect(now != known, "\(what)")
                known = now
            }
            for name in [
                "config.json", "model.safetensors", "tokenizer.model", "chat_template.jinja",
                "merges.txt",
            ] {
                try changes("\(name) comes") { try write("1", folder, name) }
                try changes("\(name) is replaced") { try write("2", folder, name) }
            }
            try changes("a file has another name") {
                try FileManager.default.moveItem(
                    atPath: "\(folder)/merges.txt", toPath: "\(folder)/vocab.txt")
            }
            try changes("a file goes") {
                try FileManager.default.removeItem(atPath: "\(folder)/vocab.txt")
            }
            try changes("templates come") {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/additional_chat_templates",
                    withIntermediateDirectories: false)
            }
        }
    }

    @Test("A folder is another one if the weights of an adapter are, whatever their name")
    func weights() throws {
        try TestPaths.withTemporaryDirectory { folder in
            try write("1", folder, "toy.bin")
            let known = try FileIdentity(of: folder, weights: ["toy.bin"])
            #expect(try FileIdentity(of: folder, weights: ["toy.bin"]) == known)
            try write("2", folder, "toy.bin")
            #expect(try FileIdentity(of: folder, weights: ["toy.bin"]) != known)
        }
    }

    @Test("What is no part of a model changes nothing: a log, a run's output in the same folder")
    func others() throws {
        try TestPaths.withTemporaryDirectory { folder in
            try write("{}", folder, "config.json")
            let known = try FileIdentity(of: folder)
            for name in ["metrics.jsonl", "notes.md", ".lock", "model.safetensors.part"] {
                try write("x", folder, name)
            }
            try FileManager.default.createDirectory(
                atPath: "\(folder)/run", withIntermediateDirectories: false)
            #expect(try FileIdentity(of: folder) == known)
        }
    }

    @Test("A file is another one if it is replaced")
    func file() throws {
        try TestPaths.withTemporaryDirectory { folder in
            try write("1", folder, "model.bin")
            let known = try FileIdentity(of: folder + "/model.bin")
            #expect(try FileIdentity(of: folder + "/model.bin") == known)
            try write("2", folder, "model.bin")
            #expect(try FileIdentity(of: folder + "/model.bin") != known)
            #expect(throws: (any Error).self) { try FileIdentity(of: folder + "/none") }
        }
    }
}
