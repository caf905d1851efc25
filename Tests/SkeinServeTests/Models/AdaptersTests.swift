import Foundation
import SkeinTestSupport
import SkeinTraining
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
            #expect(throws: ServeError.nameTaken(name: "a")) {
                try start([("a", a), ("a", a)])
            }
            #expect(throws: ServeError.nameTaken(name: "tiny")) { try start([("tiny", a)]) }
            #expect(throws: ServeError.self) { try start([("a@b", a)]) }
            #expect(throws: ServeError.rankTooLarge(adapter: large, rank: 9, limit: 8)) {
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
            #expect(try load("in", "in").status == 200)
            #expect(try load("in", "in").error["code"] as? String == "name_taken")
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
            let path = CheckpointStore(directory: run + "/checkpoints").path(ofStep: step)
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
            for name in ["../outside@10", "r1@-1", "r1@010", "r2@10", "@10", "r1@"] {
                #expect(try say(name).status == 404, "\(name)")
            }
            // Those that nobody used lately leave, and can be named again.
            #expect(try say("r1@10").texts == ten.texts)
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
