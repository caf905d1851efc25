import Foundation
import SkeinLab
import SkeinTestSupport
import Testing

/// A second start on the same data encodes nothing, and is otherwise the same as the first.
@Suite("token cache, end to end", .ownThreads)
struct TokenCacheTests {
    private let run = ["--iterations", "4", "--threads", "1", "--max-length", "60"]

    private func shell(_ bench: Workbench) -> String {
        "SKEIN_CACHE='\(bench.path("cache"))' exec \"$@\""
    }

    private func train(
        _ bench: Workbench, _ output: String, _ more: [String] = [], model: String? = nil,
        data: String? = nil
    ) throws -> SkeinProcess.Ending {
        let words = bench.trainWords(output, run + more, model: model, data: data)
        let ending = try SkeinProcess.run(words, shell: shell(bench))
        #expect(ending.status == 0, "\(ending.error)")
        return ending
    }

    /// The lines about data and plan, without where the tokens came from.
    private func report(_ ending: SkeinProcess.Ending) -> [String] {
        let lines = ending.error.split(separator: "\n").map(String.init)
        let end = lines.firstIndex { $0.hasPrefix("memory:") } ?? lines.count
        return lines[..<end].filter { !$0.hasPrefix("tokens:") }
    }

    private let encoded = "tokens: 40 rows encoded\n"
    private let kept = "tokens: 40 rows from the token cache\n"

    @Test("the second start takes every row from the cache and gives the same bytes and report")
    func second() throws {
        try Workbench.with { bench in
            let first = try train(bench, "first")
            let second = try train(bench, "second")
            let without = try train(bench, "without", ["--no-token-cache"])
            #expect(first.error.contains(encoded), "\(first.error)")
            #expect(second.error.contains(kept), "\(second.error)")
            #expect(without.error.contains(encoded), "\(without.error)")
            for (ending, output) in [(second, "second"), (without, "without")] {
                #expect(try bench.result(of: output) == bench.result(of: "first"))
                #expect(try bench.metrics(of: output) == bench.metrics(of: "first"))
                #expect(report(ending) == report(first))
                #expect(!ending.error.contains("token cache file is not used"))
            }
            #expect(report(first).contains { $0.contains("rows: 32 to train on") })
        }
    }

    @Test("a coordinator finds what train kept, and says so as JSON")
    func coordinator() throws {
        try Workbench.with { bench in
            _ = try train(bench, "first")
            var words = bench.trainWords("second", run + ["--log-format", "json"])
            words[0] = "coordinator"
            words += ["--listen", "127.0.0.1:0", "--local-workers", "1"]
            let ending = try SkeinProcess.run(words, shell: shell(bench))
            #expect(ending.status == 0, "\(ending.error)")
            let facts = try ending.error.split(separator: "\n").map {
                try Workbench.object(String($0))
            }
            let tokens = try #require(facts.first { $0["event"] as? String == "tokens" })
            #expect(tokens["encoded_rows"] as? Int == 0 && tokens["cached_rows"] as? Int == 40)
            #expect(try bench.result(of: "second") == bench.result(of: "first"))
        }
    }

    @Test("other data, another length and another template are encoded again")
    func misses() throws {
        try Workbench.with { bench in
            _ = try train(bench, "first")
            let data = try bench.write(
                bench.text(bench.data).replacingOccurrences(of: "goose", with: "crane"),
                to: "other.jsonl")
            var bytes = try bench.bytes(bench.model)
            let word = Array("assistant\\n' }}{% endif %}".utf8)
            let place = try #require(
                bytes.indices.first { bytes[$0...].starts(with: word) })
            bytes[place] = UInt8(ascii: "A")
            let model = bench.path("other.gguf")
            try Data(bytes).write(to: URL(fileURLWithPath: model))

            #expect(try train(bench, "data", data: data).error.contains(encoded))
            #expect(try train(bench, "length", ["--max-length", "61"]).error.contains(encoded))
            #expect(try train(bench, "template", model: model).error.contains(encoded))
            #expect(try train(bench, "again").error.contains(kept))
        }
    }

    @Test("a torn file of the cache and a cache that cannot be written are warnings")
    func damage() throws {
        try Workbench.with { bench in
            _ = try train(bench, "first")
            let tokens = bench.path("cache/tokens")
            let names = try FileManager.default.contentsOfDirectory(atPath: tokens)
            let name = try #require(names.first)
            #expect(names.count == 1)
            let bytes = try bench.bytes(tokens + "/" + name)
            try Data(bytes.prefix(bytes.count / 2)).write(
                to: URL(fileURLWithPath: tokens + "/" + name))
            let torn = try train(bench, "torn")
            #expect(torn.error.contains("warning: a token cache file is not used"))
            #expect(torn.error.contains(encoded))
            #expect(try bench.bytes(tokens + "/" + name) == bytes)

            try FileManager.default.removeItem(atPath: tokens)
            try bench.write("not a directory", to: "cache/tokens")
            let blocked = try train(bench, "blocked")
            #expect(blocked.error.contains("warning: the tokens are not kept"))
            #expect(blocked.error.contains("--no-token-cache"))
            for output in ["torn", "blocked"] {
                #expect(try bench.result(of: output) == bench.result(of: "first"))
            }
        }
    }

    @Test("train and worker log how long after their start they were ready")
    func ready() throws {
        try Workbench.with { bench in
            let cluster = try ClusterHarness(bench, "run", run)
            let worker = try cluster.startWorker("w", ["--log-format", "json"])
            #expect(try worker.wait().status == 0)
            let alone = try train(bench, "alone", ["--log-format", "json"])
            for text in [worker.errorText, alone.error] {
                let ready = try text.split(separator: "\n").map {
                    try Workbench.object(String($0))
                }.filter { $0["event"] as? String == "ready" }
                #expect(ready.count == 1, "\(text)")
                let seconds = try #require(ready.first?["seconds"] as? Double)
                #expect(seconds > 0 && seconds < 120)
                #expect((ready.first?["processor_seconds"] as? Double ?? 0) > 0)
            }
        }
    }
}
