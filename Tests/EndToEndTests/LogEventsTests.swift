import SkeinLab
import SkeinTestSupport
import Testing

/// What `--log-format json` has for programs besides its sentences.
@Suite("events of the log, end to end", .ownThreads)
struct LogEventsTests {
    /// The events of a log, by kind, in their order.
    private static func events(_ log: String) throws -> [String: [[String: Any]]] {
        var events: [String: [[String: Any]]] = [:]
        for line in log.split(separator: "\n") {
            let object = try Workbench.object(String(line))
            guard let event = object["event"] as? String else { continue }
            events[event, default: []].append(object)
        }
        return events
    }

    @Test("a run tells programs of its checkpoints, samples, early end and resumption")
    func run() throws {
        try Workbench.with { bench in
            // With such a rate nothing is learned, and no validation is better than the first.
            let words = bench.trainWords(
                "run",
                [
                    "--learning-rate", "1e-30", "--validate-every", "2", "--checkpoint-every", "1",
                    "--early-stop-patience", "2", "--iterations", "50", "--sample-prompt", "the",
                    "--threads", "1", "--max-length", "60", "--log-format", "json",
                ])
            let first = try SkeinProcess.run(words)
            #expect(first.status == 0, "\(first.error)")
            let told = try Self.events(first.error)
            let checkpoints = told["checkpoint"] ?? []
            #expect(checkpoints.first?["step"] as? Int == 1)
            let path = checkpoints.first?["path"] as? String ?? ""
            #expect(path.hasPrefix(bench.path("run/checkpoints/")), "\(path)")
            let samples = told["sample"] ?? []
            #expect(samples.map { $0["step"] as? Int } == [0, 2, 4, 6])
            #expect(samples.allSatisfy { $0["prompt"] as? String == "the" })
            #expect(samples.allSatisfy { $0["text"] is String && $0["tokens"] is Int })
            let ends = told["stopped_early"] ?? []
            #expect(ends.map { $0["step"] as? Int } == [6])
            #expect(ends.map { $0["best_step"] as? Int } == [2])
            #expect(told["resumed"] == nil)
            let again = try SkeinProcess.run(words + ["--resume"])
            #expect(again.status == 0, "\(again.error)")
            #expect(
                try Self.events(again.error)["resumed"]?.map { $0["step"] as? Int } == [6],
                "\(again.error)")
        }
    }
}
