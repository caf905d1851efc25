import Foundation
import SkeinInference
import SkeinNetwork
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// Adapters that are alive are counted, whatever holds them, and there is one limit for all.
@Suite struct AdapterMemoryTests {
    @Test("an adapter that was unloaded counts until the last request that holds it has ended")
    func unloaded() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let models = try ModelsCase(in: directory, room: 2)
            let bytes = models.adapterBytes
            #expect(models.heldBytes == 0)
            try models.load("a")
            try models.load("b")
            do {
                let request = try models.served.model(named: "a")
                #expect(models.served.unload("a"))
                #expect(models.heldBytes == 2 * bytes)
                #expect(
                    throws: AdapterMemoryError.full(
                        bytes: bytes, held: 2 * bytes, limit: models.served.memory.byteLimit)
                ) { try models.load("c") }
                withExtendedLifetime(request) {}
            }
            #expect(models.heldBytes == bytes)
            try models.load("c")
            #expect(models.heldBytes == 2 * bytes)
            #expect(models.served.list.map(\.id) == ["tiny", "b", "c"])
        }
    }

    @Test("an adapter that cannot be read leaves its room free")
    func unread() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let models = try ModelsCase(in: directory, room: 1)
            let path = models.root + "/a/adapter_model.safetensors"
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.truncate(atOffset: file.seekToEnd() - 4)
            try file.close()
            #expect(throws: (any Error).self) { try models.load("a") }
            #expect(models.heldBytes == 0)
            try models.load("b")
        }
    }

    @Test("checkpoints that no request holds make room, those that one holds are used again")
    func checkpoints() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let models = try ModelsCase(in: directory, room: 2)
            for step in 1...4 { try models.writeCheckpoint(step) }
            let served = models.served
            let first = try served.model(named: "run@1")
            _ = try served.model(named: "run@2")
            #expect(served.list.map(\.id) == ["tiny", "run@1", "run@2"])
            // The second leaves: the first, older one would make no room.
            let third = try served.model(named: "run@3")
            #expect(served.list.map(\.id) == ["tiny", "run@1", "run@3"])
            #expect(models.heldBytes == 2 * models.adapterBytes)
            do throws(APIError) {
                _ = try served.model(named: "run@4")
                Issue.record("there is no room for a third one")
            } catch {
                #expect(error.status == .tooManyRequests)
                #expect(error.retryAfter == 5)
                #expect(error.message.contains("--adapter-memory"), "\(error.message)")
            }
            #expect(try served.model(named: "run@1").projections === first.projections)
            #expect(try served.model(named: "run@3").projections === third.projections)
            #expect(models.heldBytes == 2 * models.adapterBytes)
        }
    }

    @Test("a client that needs an adapter too many gets 429, and has it once another client leaves")
    func server() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let root = directory + "/root"
            let model = try ServeCase(in: directory).model
            // More than half a mebibyte each.
            for name in ["a", "b"] {
                _ = try ServeCase.writeAdapter(root + "/" + name, model: model, seed: 1, rank: 512)
            }
            let server = try ServeCase(in: directory) {
                $0.adapterRoot = root
                $0.maximumRank = 1024
                $0.adapterBytes = 1 << 20
                $0.context = 100_000
            }
            func load(_ name: String) throws -> ServeCase.Answer {
                try server.ask(
                    "POST", "/v1/load_lora_adapter",
                    #"{"lora_name":"\#(name)","lora_path":"\#(name)"}"#)
            }
            #expect(try load("a").status == 200)
            let held = try server.metric("skein_serve_adapter_bytes")
            #expect(held > 1 << 19 && held < 1 << 20)
            #expect(try server.metric("skein_serve_adapter_limit_bytes") == 1 << 20)
            do {
                let client = try server.client()
                try server.send(
                    "POST", "/v1/completions",
                    "{\"model\":\"a\",\"stream\":true,\(ServeCase.endless)}", to: client)
                _ = try client.event()
                let unloaded = try server.ask(
                    "POST", "/v1/unload_lora_adapter", #"{"lora_name":"a"}"#)
                #expect(unloaded.status == 200)
                let refused = try load("b")
                #expect(refused.status == 429)
                #expect(refused.headers["retry-after"] == "5")
                let message = refused.error["message"] as? String ?? ""
                #expect(message.contains("--adapter-memory"), "\(message)")
                #expect(try server.metric("skein_serve_adapter_bytes") == held)
            }
            try Deadline.wait { (try? load("b"))?.status == 200 }
            #expect(
                try server.complete(#""model":"b","prompt":"the in","max_tokens":4"#).status == 200)
            _ = try ServeCase.writeAdapter(root + "/c", model: model, seed: 1, rank: 1024)
            let large = try load("c")
            #expect(large.status == 400)
            let message = large.error["message"] as? String ?? ""
            #expect(message.contains("--adapter-memory 2 or more"), "\(message)")
        }
    }
}
