import Foundation
import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// Which models requests can name, and from where they come.
@Suite struct AdaptersTests {
    private let ask = #""prompt":"the in","max_tokens":16,"temperature":0"#

    @Test("base and adapters answer with their own words on one copy of the base")
    func names() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = try ServeCase(in: directory).model
            let a = try ServeCase.writeAdapter(directory + "/a", model: model, seed: 1)
            let b = try ServeCase.writeAdapter(directory + "/b", model: model, seed: 2, rank: 6)
            let server = try ServeCase(in: directory) {
                $0.adapters = [.init(name: "first", path: a), .init(name: "second", path: b)]
            }
            let list = try server.ask("GET", "/v1/models").json["data"] as? [[String: Any]] ?? []
            #expect(list.compactMap { $0["id"] as? String } == ["tiny", "first", "second"])
            #expect(list.compactMap { $0["parent"] as? String } == ["tiny", "tiny"])
            #expect(list.compactMap { $0["root"] as? String } == ["tiny.gguf", "a", "b"])
            let texts = try ["tiny", "first", "second"].map {
                try server.complete(#""model":"\#($0)",\#(ask)"#)
            }
            #expect(Set(texts.map { $0.texts[0] }).count == 3)
            #expect(texts.map { $0.json["model"] as? String } == ["tiny", "first", "second"])
            #expect(try server.complete(ask).texts == texts[0].texts)
        }
    }

    @Test("what cannot be served is refused at the start")
    func refused() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = try ServeCase(in: directory).model
            let a = try ServeCase.writeAdapter(directory + "/a", model: model, seed: 1)
            let other = try ServeCase.writeAdapter(
                directory + "/other", model: model, seed: 1,
                base: String(repeating: "0", count: 64))
            let large = try ServeCase.writeAdapter(
                directory + "/large", model: model, seed: 1, rank: 9)
            func start(_ adapters: [(String, String)], rank: Int = 8) throws {
                _ = try ServeCase(in: directory) {
                    $0.adapters = adapters.map { .init(name: $0.0, path: $0.1) }
                    $0.maximumRank = rank
                }
            }
            #expect(throws: ServeError.nameTaken(name: "a", from: .adapter)) {
                try start([("a", a), ("a", a)])
            }
            #expect(throws: ServeError.nameTaken(name: "tiny", from: .adapter)) {
                try start([("tiny", a)])
            }
            #expect(throws: ServeError.badName(name: "\"a@b\"", from: .adapter)) {
                try start([("a@b", a)])
            }
            #expect(throws: ServeError.badName(name: "\"a b\"", from: .base)) {
                _ = try ServeCase(in: directory) { $0.name = "a b" }
            }
            #expect(throws: ServeError.nameTaken(name: "tiny", from: .followed)) {
                _ = try ServeCase(in: directory) { $0.follow = directory + "/tiny" }
            }
            #expect(throws: AdapterMemoryError.rankTooLarge(adapter: large, rank: 9, limit: 8)) {
                try start([("large", large)])
            }
            #expect(throws: (any Error).self) { try start([("other", other)]) }
            #expect(throws: (any Error).self) { try start([("none", directory + "/none")]) }
            try start([("a", a)])
        }
    }

    @Test("adapters are loaded and unloaded at run time, below the root alone")
    func root() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let model = try ServeCase(in: directory).model
            let root = directory + "/root"
            try FileManager.default.createDirectory(
                atPath: root, withIntermediateDirectories: true)
            _ = try ServeCase.writeAdapter(root + "/in", model: model, seed: 1)
            _ = try ServeCase.writeAdapter(directory + "/out", model: model, seed: 2)
            try FileManager.default.createSymbolicLink(
                atPath: root + "/link", withDestinationPath: directory + "/out")
            try FileManager.default.createSymbolicLink(
                atPath: root + "/good", withDestinationPath: root + "/in")
            let server = try ServeCase(in: directory) {
                $0.adapterRoot = root
                $0.maximumAdapters = 2
            }
            func load(_ name: String, _ path: String) throws -> ServeCase.Answer {
                try server.ask(
                    "POST", "/v1/load_lora_adapter",
                    #"{"lora_name":"\#(name)","lora_path":"\#(path)"}"#)
            }
            for path in [
                "../out", "link", directory + "/out", "in/../../out", "/etc/passwd", "", "none",
                ".",
            ] {
                let answer = try load("x", path)
                #expect(answer.status == 400, "\(path): \(answer.text)")
            }
            // Below the root the cause is told, elsewhere nothing is.
            try FileManager.default.createSymbolicLink(
                atPath: root + "/lost", withDestinationPath: directory + "/nothing")
            for (path, words) in [
                ("none", "No such file or directory: none"),
                ("in/none/x", "No such file or directory: in/none/x"),
                ("in/adapter_config.json/x", "Not a directory: in/adapter_config.json/x"),
                ("../none", "is not below --adapter-root"),
                ("lost", "is not below --adapter-root"), ("lost/x", "is not below --adapter-root"),
                ("in/../../none", "is not below --adapter-root"),
                ("link/none", "is not below --adapter-root"),
                (directory + "/none", "is not below --adapter-root"),
            ] {
                let message = try load("x", path).error["message"] as? String ?? ""
                #expect(message.contains(words), "\(path): \(message)")
                #expect(!message.contains(root))
            }
            let crowd = root + "/crowd"
            try FileManager.default.createDirectory(
                atPath: crowd, withIntermediateDirectories: false)
            for number in 0...Limits.adapterFiles {
                try Data().write(to: URL(fileURLWithPath: "\(crowd)/\(number)"))
            }
            let many = try load("x", "crowd").error["message"] as? String ?? ""
            #expect(many.contains("has more than \(Limits.adapterFiles) files"), "\(many)")
            #expect(try load("in", "in").status == 200)
            let twice = try load("in", "in")
            #expect(twice.status == 400)
            #expect(twice.error["code"] as? String == "name_taken")
            #expect(twice.error["param"] as? String == "lora_name")
            #expect(
                twice.error["message"] as? String
                    == "the name in is taken: use another, or unload the adapter that has it")
            #expect(try load("tiny", "in").error["code"] as? String == "name_taken")
            #expect(try load("a b", "in").error["param"] as? String == "lora_name")
            #expect(try load("good", root + "/good").status == 200)
            #expect(try load("third", "in").status == 400)
            let said = try server.complete(#""model":"in",\#(ask)"#)
            #expect(said.texts != (try server.complete(ask).texts))
            #expect(said.texts == (try server.complete(#""model":"good",\#(ask)"#).texts))
            func unload(_ name: String) throws -> Int {
                try server.ask(
                    "POST", "/v1/unload_lora_adapter", #"{"lora_name":"\#(name)"}"#
                ).status
            }
            #expect(try unload("in") == 200)
            #expect(try unload("in") == 404)
            #expect(try unload("tiny") == 404)
            #expect(try server.complete(#""model":"in",\#(ask)"#).status == 404)
        }
    }

    /// Checkpoints as a run has them, without its other files.
    private func writeCheckpoints(_ server: ServeCase, _ run: String, steps: [Int]) throws {
        for step in steps {
            let path = CheckpointFolder(ofRun: run).path(ofStep: step)
            _ = try ServeCase.writeAdapter(path, model: server.model, seed: UInt64(step))
        }
    }

    @Test("RUN@STEP names a checkpoint below the root, RUN@latest the newest")
    func checkpoints() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let root = directory + "/runs"
            let first = try ServeCase(in: directory)
            try writeCheckpoints(first, root + "/r1", steps: [10, 20])
            try writeCheckpoints(first, directory + "/outside", steps: [10])
            let server = try ServeCase(in: directory) { $0.adapterRoot = root }
            func say(_ name: String) throws -> ServeCase.Answer {
                try server.complete(#""model":"\#(name)",\#(ask)"#)
            }
            let ten = try say("r1@10")
            let twenty = try say("r1@20")
            #expect(ten.json["model"] as? String == "r1@10")
            #expect(ten.texts != twenty.texts)
            let latest = try say("r1@latest")
            #expect(latest.texts == twenty.texts)
            #expect(latest.json["model"] as? String == "r1@20")
            #expect(try say("r1@30").status == 404)
            // Not even looked for: a path of a mebibyte, and a name that no file system has.
            let long = [
                String(repeating: "a/", count: 400_000), String(repeating: "b", count: 300),
            ]
            for name in ["../outside@10", "r1@-1", "r1@010", "r2@10", "@10", "r1@"]
                + long.map({ $0 + "@latest" })
            {
                #expect(try say(name).status == 404, "\(name)")
            }
            // Those that were not used lately leave, and can be named again.
            #expect(try say("r1@10").texts == ten.texts)
        }
    }

    /// A checkpoint in the place of an older one of the same step, as a run that begins anew leaves it.
    private func rewrite(_ server: ServeCase, _ run: String, step: Int, seed: UInt64) throws {
        let path = CheckpointFolder(ofRun: run).path(ofStep: step)
        try FileManager.default.removeItem(atPath: path)
        _ = try ServeCase.writeAdapter(path, model: server.model, seed: seed)
    }

    @Test("a checkpoint of a run that was trained anew is read again, and one that is gone is gone")
    func trainedAnew() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let root = directory + "/runs"
            let run = root + "/r1"
            let first = try ServeCase(in: directory)
            try writeCheckpoints(first, run, steps: [10])
            let server = try ServeCase(in: directory) { $0.adapterRoot = root }
            func say(_ name: String) throws -> ServeCase.Answer {
                try server.complete(#""model":"\#(name)",\#(ask)"#)
            }
            let old = try say("r1@10").texts
            #expect(try say("r1@latest").texts == old)
            try rewrite(server, run, step: 10, seed: 77)
            let new = try say("r1@10").texts
            #expect(new != old)
            #expect(try say("r1@latest").texts == new)
            // It is there once.
            func names() throws -> [String] {
                let data = try server.ask("GET", "/v1/models").json["data"]
                return (data as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
            }
            #expect(try names() == ["tiny", "r1@10"])
            try FileManager.default.removeItem(atPath: run)
            #expect(try say("r1@latest").status == 404)
            #expect(try names() == ["tiny"])
            // What cannot be read is told.
            try FileManager.default.createDirectory(
                atPath: run, withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: run + "/checkpoints"))
            let odd = try say("r1@10")
            #expect(odd.status == 400)
            let message = odd.error["message"] as? String ?? ""
            #expect(message.contains("Not a directory: r1/checkpoints"), "\(message)")
        }
    }

    @Test("a run that is followed and trained anew is served anew, at the same step")
    func followAnew() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let run = directory + "/run1"
            let server = try ServeCase(in: directory) { $0.follow = run }
            func say() throws -> ServeCase.Answer {
                try server.complete(#""model":"run1",\#(ask)"#)
            }
            try writeCheckpoints(server, run, steps: [5])
            try Deadline.wait { (try? say())?.status == 200 }
            let old = try say()
            try rewrite(server, run, step: 5, seed: 77)
            try Deadline.wait {
                guard let answer = try? say(), answer.status == 200 else { return false }
                return answer.texts != old.texts
            }
            #expect(try say().json["model"] as? String == "run1@5")
            #expect(try server.complete(#""model":"run1@5",\#(ask)"#).texts == say().texts)
        }
    }

    @Test("clients hear why a run has no checkpoints, and not where it lies")
    func followFails() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let run = directory + "/run1"
            try FileManager.default.createDirectory(
                atPath: run, withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: run + "/checkpoints"))
            let server = try ServeCase(in: directory) { $0.follow = run }
            let message =
                try server.complete(#""model":"run1@5",\#(ask)"#).error["message"] as? String ?? ""
            #expect(
                message.contains("Not a directory: run1/checkpoints")
                    && !message.contains(directory), "\(message)")
            try FileManager.default.removeItem(atPath: run + "/checkpoints")
            try writeCheckpoints(server, run, steps: [5])
            try Deadline.wait {
                (try? server.complete(#""model":"run1",\#(ask)"#))?.status == 200
            }
        }
    }

    @Test("a run that goes on is served at its newest checkpoint")
    func follow() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let run = directory + "/run1"
            let server = try ServeCase(in: directory) { $0.follow = run }
            #expect(try server.complete(#""model":"run1",\#(ask)"#).status == 404)
            var said: [[String]] = []
            for step in [5, 10] {
                try writeCheckpoints(server, run, steps: [step])
                try Deadline.wait {
                    (try? server.complete(#""model":"run1",\#(ask)"#))?.json["model"] as? String
                        == "run1@\(step)"
                }
                said.append(try server.complete(#""model":"run1",\#(ask)"#).texts)
            }
            #expect(said[0] != said[1])
            #expect(try server.complete(#""model":"run1@5",\#(ask)"#).texts == said[0])
        }
    }

    @Test("a model file that is overwritten changes nothing that is served")
    func replaced() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let root = directory + "/root"
            let server = try ServeCase(in: directory) {
                try FileManager.default.createDirectory(
                    atPath: root, withIntermediateDirectories: true)
                $0.adapterRoot = root
            }
            _ = try ServeCase.writeAdapter(root + "/a", model: server.model, seed: 1)
            let before = try server.complete(ask)
            let path = directory + "/tiny.gguf"
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.truncate(atOffset: 100)
            try file.close()
            #expect(try server.complete(ask).texts == before.texts)
            #expect(
                try server.chat(
                    #""messages":[{"role":"user","content":"the"}],"max_tokens":4"#
                ).status == 200)
            let loaded = try server.ask(
                "POST", "/v1/load_lora_adapter", #"{"lora_name":"a","lora_path":"a"}"#)
            #expect(loaded.status == 200, "\(loaded.text)")
        }
    }
}
