import Foundation
import SkeinBasics
import SkeinRows
import SkeinTensors
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// DPO that compares with the adapter that a run starts from (`--reference init`), as TRL's DPOTrainer does
/// with a model that comes with an adapter.
@Suite("a reference with the initial adapter")
struct InitialReferenceTests {
    private struct Gone: Error {}

    private struct Bench {
        let directory: String

        func request(
            _ output: String, _ change: (inout TrainingConfiguration) -> Void
        ) -> RunRequest {
            var configuration = TrainingConfiguration.fixed
            (configuration.loss, configuration.dropout, configuration.threads) = (.dpo, 0, 1)
            (configuration.epochs, configuration.learningRate) = (2, 0.01)
            (configuration.microBatchTokens, configuration.maxLength) = (64, 64)
            change(&configuration)
            return RunRequest(
                configuration: configuration, model: .path(directory + "/tiny.gguf"),
                data: directory + "/pairs.jsonl", output: directory + "/" + output, tokenCache: nil)
        }

        /// - Returns: the digest of the adapter, and the losses of steps and validations by step.
        func run(
            _ output: String, resuming: Bool = false, last: Int = .max,
            _ change: (inout TrainingConfiguration) -> Void
        ) throws -> (digest: String, losses: [Int: Double], validations: [Int: Double]) {
            let run = try TrainingRun(
                request(output, change), resuming: resuming, samples: .silent)
            let ending = try run.run(
                report: {
                    guard case .loop(.step(let line, _)) = $0, line.step > last else { return }
                    throw Gone()
                }, shouldStop: { false })
            var losses: [Int: Double] = [:]
            var validations: [Int: Double] = [:]
            try Metrics.read(path: ending.directory.metrics) { record in
                switch record {
                case .step(let line): losses[line.step] = line.loss
                case .validation(let line): validations[line.step] = line.loss
                case .sample: break
                }
            }
            return (try ending.directory.adapterDigest().description, losses, validations)
        }

        /// Starts from the adapter of the run "first".
        func from(
            _ reference: PreferenceReference?,
            _ change: @escaping (inout TrainingConfiguration) -> Void = { _ in }
        ) -> (inout TrainingConfiguration) -> Void {
            {
                ($0.initAdapter, $0.reference) = (directory + "/first/adapter", reference)
                change(&$0)
            }
        }
    }

    private func withBench(_ body: (Bench) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<16).map {
                "{\"prompt\": \"\($0)?\", \"chosen\": \"the answer is \($0)\", \"rejected\": \"\($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/pairs.jsonl")
            let bench = Bench(directory: directory)
            _ = try bench.run("first") { $0.epochs = 1 }
            try body(bench)
        }
    }

    @Test("the first loss is ln 2, and needs no validation; that under the base model is another")
    func firstLoss() throws {
        try withBench { bench in
            let two = log(2.0)
            let usual = try bench.run("usual", bench.from(nil))
            // The adapter has learned, and is not what it is compared with.
            #expect(try abs(#require(usual.losses[1]) - two) > 1e-5)
            #expect(try abs(#require(usual.validations[0]) - two) > 1e-5)
            let based = try bench.run("base", bench.from(.base))
            #expect(based.digest == usual.digest && based.losses == usual.losses)

            let own = try bench.run("init", bench.from(.initial))
            #expect(try abs(#require(own.losses[1]) - two) < 1e-6)
            #expect(own.digest != usual.digest && own.validations[0] == nil)
            // The same is computed where it is asked for.
            let asked = try bench.run("asked", bench.from(.initial) { $0.validateAtStart = true })
            #expect(try abs(#require(asked.validations[0]) - two) < 1e-6)
            #expect(asked.digest == own.digest && asked.losses == own.losses)
            func digest(_ name: String) throws -> String? {
                try RunFile(path: bench.directory + "/\(name)/run.json").referencesDigest
            }
            #expect(try digest("usual") == digest("base") && digest("init") != digest("base"))
        }
    }

    @Test("threads and a kill do not change a bit; what was kept is used again")
    func resumed() throws {
        try withBench { bench in
            let whole = try bench.run("whole", bench.from(.initial))
            let two = try bench.run("two", bench.from(.initial) { $0.threads = 2 })
            #expect(two.digest == whole.digest)
            #expect(throws: Gone.self) {
                _ = try bench.run("killed", last: 4, bench.from(.initial))
            }
            let again = try bench.run("killed", resuming: true, bench.from(.initial))
            #expect(again.digest == whole.digest && again.losses == whole.losses)
            let verified = try Ledger.verify(
                ledger: bench.directory + "/killed/ledger.jsonl",
                metrics: bench.directory + "/killed/metrics.jsonl",
                references: RunFile(path: bench.directory + "/killed/run.json").referencesDigest,
                groupsFromBeginning: true)
            #expect(verified.findings == [])
        }
    }

    @Test("what is kept of one reference is not taken for another")
    func kept() throws {
        try withBench { bench in
            let cache = ReferenceCache(directory: bench.directory + "/kept")
            func asked(_ change: (inout TrainingConfiguration) -> Void) throws -> Int {
                var job = try bench.request("none", change).job(resuming: false)
                var count = 0
                _ = try References.attach(
                    to: &job, cache: cache, recorded: .none,
                    reports: References.Reports(
                        announce: { _ in }, warn: { Issue.record("\($0)") }),
                    compute: { groups, _, deliver in
                        count += groups.count
                        for (place, group) in groups.enumerated() {
                            try deliver(
                                place,
                                ReferencePiece(
                                    values: group.map { _ in -1 }, worker: "w", attempt: 1))
                        }
                    })
                return count
            }
            let all = try asked { _ in }
            #expect(all > 0)
            // The base model is the same with any adapter.
            #expect(try asked(bench.from(nil)) == 0 && asked(bench.from(.base)) == 0)
            #expect(try asked(bench.from(.initial)) == all)
            #expect(try asked(bench.from(.initial) { $0.learningRate = 0.5 }) == 0)
            _ = try bench.run("second") { ($0.epochs, $0.learningRate) = (1, 0.02) }
            let second = bench.directory + "/second/adapter"
            #expect(try asked(bench.from(.initial) { $0.initAdapter = second }) == all)
            #expect(try asked { _ in } == 0)
        }
    }

    @Test("a reference needs dpo, and that of init an adapter")
    func refused() throws {
        try withBench { bench in
            func error(_ change: (inout TrainingConfiguration) -> Void) throws -> TrainingError? {
                #expect(throws: TrainingError.self) {
                    _ = try bench.request("none", change).job(resuming: false)
                }
            }
            #expect(
                try error { ($0.loss, $0.reference) = (nil, .base) }
                    == .badCombination(flag: "reference", problem: .needs("loss dpo")))
            for loss in [PreferenceLoss.Kind.orpo, .simpo] {
                let found = try error(bench.from(.initial) { $0.loss = loss })
                #expect(found == .noReference(loss: loss.rawValue))
                #expect(found?.explanation.what.contains("compares with no reference") == true)
            }
            #expect(
                try error { $0.reference = .initial }
                    == .badCombination(
                        flag: "reference init", problem: .needs("init-adapter")))
        }
    }

    @Test("where it is given it counts, and nothing is warned of")
    func digests() throws {
        try withBench { bench in
            let other = try bench.request("none", bench.from(.base)).job(resuming: false)
            let usual = try bench.request("none", bench.from(nil)).job(resuming: false)
            #expect(other.runFile.recipeDigest != usual.runFile.recipeDigest)
            #expect(!other.report.warnings.contains(.referenceWithoutAdapter))
            #expect(usual.report.warnings.contains(.referenceWithoutAdapter))
        }
    }
}
