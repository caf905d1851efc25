import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinServe

/// How tokens are picked where a request does not say.
@Suite struct SamplingTests {
    private let ask = #""prompt":"the in","max_tokens":40,"ignore_eos":true,"seed":7"#

    private static let tiny = {
        var tiny = TinyModel()
        tiny.contextLength = 131_072
        return tiny
    }()

    private func texts(_ server: ServeCase, _ name: String, _ fields: String = "") throws -> String
    {
        try server.complete(#""model":"\#(name)",\#(ask)\#(fields)"#).texts[0]
    }

    /// A server whose model says how it is sampled, with an adapter.
    private func run(
        _ options: SamplingWish = SamplingWish(), _ body: (ServeCase) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = Self.tiny.gguf()
            image.metadata += [
                ("general.sampling.temp", .float32(0.9)), ("general.sampling.top_k", .int32(30)),
            ]
            let path = directory + "/tiny.gguf"
            try AtomicFile.write(image.bytes(), to: path)
            let model = try ModelDirectory.open(path)
            let adapter = try ServeCase.writeAdapter(directory + "/a", model: model, seed: 1)
            try body(
                ServeCase(in: directory) {
                    $0.adapters = [.init(name: "first", path: adapter)]
                    $0.sampling = options
                })
        }
    }

    /// Checks whether a model says the same to what says these fields and to what says those.
    private func expect(
        _ server: ServeCase, _ name: String, _ fields: String, _ others: String,
        isSame: Bool = true
    ) throws {
        let (one, other) = (try texts(server, name, fields), try texts(server, name, others))
        #expect((one == other) == isSame, "\(name): \(fields) and \(others)")
    }

    @Test("an adapter says what it learned, the base what its makers want, a client what it wants")
    func rule() throws {
        try run { server in
            let greedy = #","temperature":0"#
            let warm = #","temperature":0.9,"top_k":30"#
            let hot = #","temperature":1.5"#
            try expect(server, "first", "", greedy)
            try expect(server, "first", "", warm, isSame: false)
            try expect(server, "tiny", "", warm)
            try expect(server, "tiny", "", greedy, isSame: false)
            // A null is no wish.
            try expect(server, "first", #","temperature":null"#, greedy)
            // What the base's makers want is no filter of what a client asks an adapter for.
            try expect(server, "first", hot, hot + #","top_k":0"#)
            try expect(server, "tiny", hot, hot + #","top_k":30"#)
        }
    }

    @Test("the server's options count for adapters and base before the model's files")
    func options() throws {
        try run(SamplingWish(temperature: 1.2, topP: 0.7)) { server in
            let given = #","temperature":1.2,"top_p":0.7,"top_k":"#
            try expect(server, "first", "", given + "0")
            try expect(server, "tiny", "", given + "30")
            try expect(server, "first", "", #","temperature":0"#, isSame: false)
        }
    }

    @Test("the list of models says what counts for each, as it was written")
    func told() throws {
        try run(SamplingWish(topP: 0.95)) { server in
            let data = try server.ask("GET", "/v1/models").json["data"] as? [[String: Any]] ?? []
            let told = data.map { $0["sampling"] as? NSDictionary }
            #expect(
                told == [
                    [
                        "temperature": 0.9, "top_k": 30, "top_p": 0.95, "min_p": 0,
                        "repetition_penalty": 1,
                    ],
                    [
                        "temperature": 0, "top_k": 0, "top_p": 0.95, "min_p": 0,
                        "repetition_penalty": 1,
                    ],
                ])
        }
    }

    @Test("what is wrong with the model's wishes is said at the start, and the server goes on")
    func flaw() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = Self.tiny.gguf()
            image.metadata.append(("general.sampling.temp", .float32(-1)))
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            let lines = Lines()
            let server = try ServeCase(in: directory, log: lines.log)
            #expect(lines.all.contains { $0.contains("general.sampling.temp") })
            try expect(server, "tiny", "", #","temperature":0"#)
        }
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }
        var log: Log { Log(to: { [self] _, line in lines.withLock { $0.append(line) } }) }
    }
}
