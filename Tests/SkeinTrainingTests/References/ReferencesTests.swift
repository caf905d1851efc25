import Foundation
import SkeinBasics
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinTraining

/// How references are computed, kept and compared with what was recorded.
@Suite struct ReferencesTests {
    /// Answers of a made-up worker, and what it was asked.
    private final class Asked {
        var groups = 0
        var sentences: [String] = []
    }

    private struct Bench {
        let job: TrainingJob
        let cache: ReferenceCache
        let directory: String

        /// Attaches references that `worker` computes as `value` says, group by group; `after` may end it
        /// before the group of this number.
        func attach(
            _ worker: String, _ recorded: RecordedReferences = .none, asked: Asked = Asked(),
            after: @escaping (Int) throws -> Void = { _ in },
            value: @escaping (TokenizedRow) -> Double = { -Double($0.ids.count) }
        ) throws -> (entries: [GroupEntry], job: TrainingJob) {
            var job = job
            let entries = try References.attach(
                to: &job, cache: cache, recorded: recorded,
                reports: References.Reports(
                    announce: { _ in }, warn: { asked.sentences.append($0) }),
                compute: { groups, _, deliver in
                    for (place, group) in groups.enumerated() {
                        try after(asked.groups)
                        asked.groups += 1
                        try deliver(
                            place,
                            ReferencePiece(values: group.map(value), worker: worker, attempt: 1))
                    }
                })
            return (entries, job)
        }
    }

    private func withBench(_ body: (Bench) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<12).map {
                "{\"prompt\": \"\($0)?\", \"chosen\": \"the answer is \($0)\", \"rejected\": \"\($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/pairs.jsonl")
            var configuration = TrainingConfiguration.fixed
            (configuration.loss, configuration.microBatchTokens) = (.dpo, 24)
            let job = try TrainingJob(
                configuration: configuration, modelPath: directory + "/tiny.gguf",
                dataPath: directory + "/pairs.jsonl", version: "test")
            try body(
                Bench(
                    job: job, cache: ReferenceCache(directory: directory + "/kept"),
                    directory: directory))
        }
    }

    private func workers(_ entries: [GroupEntry]) -> [String] {
        entries.filter { $0.subject == .reference(of: .training) }.map(\.worker)
    }

    @Test("what was computed before a stop is kept with its worker, and the rest is computed next")
    func stopped() throws {
        try withBench { bench in
            let first = Asked()
            #expect(throws: SourceStopped.self) {
                try bench.attach("w1", asked: first) {
                    if $0 == 2 { throw SourceStopped(reason: .interrupted) }
                }
            }
            let second = Asked()
            let (entries, job) = try bench.attach("w2", asked: second)
            #expect(workers(entries).prefix(3) == ["w1", "w1", "w2"])
            #expect(first.groups == 2 && second.groups == entries.count - 2)
            #expect(job.training.allSatisfy { $0.reference == -Double($0.ids.count) })
            #expect(job.runFile.referencesDigest == References.Digest.of(entries))
            let third = Asked()
            let again = try bench.attach("w3", asked: third).entries
            #expect(again == entries)
            #expect(third.groups == 0)
        }
    }

    @Test(
        "what two workers do not agree on is not kept, nor what was delivered before an error",
        arguments: [true, false])
    func disputed(isDisputed: Bool) throws {
        struct Broken: Error {}
        try withBench { bench in
            #expect(throws: (any Error).self) {
                try bench.attach("liar") {
                    guard $0 == 2 else { return }
                    if isDisputed { throw SourceStopped(reason: .interrupted, isDisputed: true) }
                    throw Broken()
                }
            }
            let entries = try bench.attach("w2").entries
            #expect(Set(entries.map(\.worker)) == ["w2"])
        }
    }

    @Test("a round that was spoiled is computed again as a whole")
    func spoiled() throws {
        try withBench { bench in
            var isFirst = true
            let asked = Asked()
            let entries = try bench.attach("w1", asked: asked) {
                guard isFirst, $0 == 2 else { return }
                isFirst = false
                throw StepSpoiled()
            }.entries
            #expect(asked.groups == entries.count + 2)
        }
    }

    @Test("numbers that are no log-probabilities end the run, and are not kept")
    func impossible() throws {
        try withBench { bench in
            for value in [5, Double.nan, -Double.infinity] {
                #expect(throws: TrainingError.referencesNotFinite) {
                    try bench.attach("liar", value: { _ in value })
                }
            }
            let entries = try bench.attach("w2").entries
            #expect(Set(entries.map(\.worker)) == ["w2"])
        }
    }

    @Test("what a resumed run computes again must be what it was computed with")
    func recorded() throws {
        try withBench { bench in
            let lied = try bench.attach("liar", value: { _ in -1 })
            let recorded = RecordedReferences(lied.entries)
            // Kept by this life: the file and the lines agree.
            let asked = Asked()
            _ = try bench.attach("w1", recorded, asked: asked)
            #expect(asked.groups == 0)
            try FileManager.default.removeItem(atPath: bench.directory + "/kept")
            for _ in 0..<2 {
                #expect(
                    throws: TrainingError.referencesDiffer(
                        rows: "training", group: 0, then: "liar", now: "w1")
                ) { try bench.attach("w1", recorded) }
            }
            // Kept by another run: what differs is computed again.
            _ = try bench.attach("w1")
            let again = try bench.attach("liar", recorded, value: { _ in -1 }).entries
            #expect(again == lied.entries)
        }
    }

    @Test("without lines only what run.json names as a whole is kept")
    func withoutLines() throws {
        try withBench { bench in
            let honest = try bench.attach("w1").entries
            try FileManager.default.removeItem(atPath: bench.directory + "/kept")
            let recorded = RecordedReferences([], digest: References.Digest.of(honest))
            _ = try bench.attach("liar", recorded, value: { _ in -1 })
            let asked = Asked()
            #expect(try bench.attach("w2", recorded, asked: asked).entries.count == honest.count)
            #expect(asked.groups == honest.count)
            let again = try bench.attach("w3", recorded, asked: asked).entries
            #expect(asked.groups == honest.count)
            #expect(Set(again.map(\.worker)) == ["w2"])
        }
    }

    @Test(
        "run.json's digest counts when the ledger is missing; a name that none can have is not shown"
    )
    func missingLedger() throws {
        try withBench { bench in
            let attached = try bench.attach("w1")
            var run = attached.job.runFile
            run.referencesDigest = References.Digest.of(attached.entries)
            let directory = try RunDirectory(path: bench.directory + "/run", resuming: false)
            #expect(try RecordedReferences(directory, run).isWithoutLines)
            let named = attached.entries.map { entry in
                var entry = entry
                entry.worker = "w\u{1B}[2J"
                return entry
            }
            _ = try Ledger(path: directory.ledger, keepingThroughStep: -1, references: named)
            let recorded = try RecordedReferences(directory, run)
            #expect(!recorded.isWithoutLines)
            #expect(recorded.entry(.training, 0)?.worker == "(a name that none can have)")
        }
    }

    @Test("a folder that cannot be written is told once")
    func notKept() throws {
        try withBench { bench in
            try AtomicFile.write("", to: bench.directory + "/kept")
            let asked = Asked()
            _ = try bench.attach("w1", asked: asked)
            // One for reading and one for writing each set of rows.
            #expect(Set(asked.sentences).count == asked.sentences.count)
            #expect(!asked.sentences.isEmpty)
        }
    }
}
