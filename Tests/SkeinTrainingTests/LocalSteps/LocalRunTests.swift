import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// Whole runs with local steps in one process, on a tiny model.
@Suite struct LocalRunTests {
    /// A run in a directory of its own.
    private struct Bench {
        let directory: String

        func run(
            _ name: String, resuming: Bool = false, threads: Int = 2, stopAfter: Int = .max,
            isSparing: Bool = false, _ change: (inout TrainingConfiguration) -> Void = { _ in }
        ) throws -> (run: RunDirectory, digest: String?, outcome: TrainingLoop.Outcome) {
            var configuration = TrainingConfiguration.fixed
            (configuration.localSteps, configuration.logicalWorkers) = (2, 3)
            configuration.deltaCodec = .topk
            configuration.topkDensity = 0.2
            configuration.batchSize = 1
            configuration.epochs = 2
            configuration.maxLength = 64
            configuration.learningRate = 0.01
            configuration.saveStateEvery = 2
            configuration.keepCheckpoints = 100
            change(&configuration)
            let job = try TrainingJob(
                configuration: configuration, modelPath: directory + "/tiny.gguf",
                dataPath: directory + "/rows.jsonl", version: "test")
            let engine = try MicroBatchEngine(
                model: job.model, adapter: job.shape, configuration: configuration,
                residence: .resident, positions: job.longestRow, threads: threads)
            let computing = DecoderThreads(threadCount: threads)
            var newest = 0
            let run = try RunDirectory(path: directory + "/" + name, resuming: resuming)
            let source = InProcessSource(job, engine: engine, threads: computing)
            var loop = try TrainingLoop(
                job: job, directory: run,
                source: isSparing ? SparingSource(source: source) : source,
                report: { if case .step(let metrics, _) = $0 { newest = metrics.step } },
                shouldStop: { newest >= stopAfter })
            let outcome = try loop.run()
            let report = try Ledger.verify(
                ledger: run.ledger, metrics: run.metrics, doneSteps: outcome.step,
                microBatchCount: { job.plan.step($0).microBatches.count })
            #expect(report.findings == [])
            return (run, outcome.isComplete ? try run.adapterDigest().description : nil, outcome)
        }
    }

    private func withBench(rows: Int = 27, _ body: (Bench) throws -> Void) throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<rows).map {
                "{\"prompt\": \"\($0)?\", \"completion\": \"the answer is \($0)\"}\n"
            }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            try body(Bench(directory: directory))
        }
    }

    @Test(
        "threads, checkpoints and kills do not change the adapter",
        arguments: DeltaCodec.Kind.allCases)
    func oneHash(codec: DeltaCodec.Kind) throws {
        try withBench { bench in
            func run(
                _ name: String, resuming: Bool = false, threads: Int = 2, stopAfter: Int = .max,
                every: Int = 2
            ) throws -> String? {
                try bench.run(name, resuming: resuming, threads: threads, stopAfter: stopAfter) {
                    $0.deltaCodec = codec
                    $0.topkDensity = codec == .topk ? 0.2 : nil
                    $0.saveStateEvery = every
                }.digest
            }
            let expected = try #require(try run("a"))
            #expect(try run("b", threads: 1, every: 3) == expected)
            #expect(try run("c", threads: 3, every: 100) == expected)
            // Stopped, which saves; and killed after each step, which leaves older checkpoints.
            #expect(try run("d", stopAfter: 3) == nil)
            #expect(try run("d", resuming: true, threads: 1) == expected)
            let steps = try bench.run("a", resuming: true) {
                $0.deltaCodec = codec
                $0.topkDensity = codec == .topk ? 0.2 : nil
            }.run.checkpoints.steps()
            #expect(steps.count >= 4)
            for step in steps {
                let store = try RunDirectory(path: bench.directory + "/a", resuming: true)
                    .checkpoints
                for later in try store.steps() where later > step {
                    try FileManager.default.removeItem(atPath: store.path(ofStep: later))
                }
                #expect(try run("a", resuming: true) == expected, "from step \(step)")
            }
        }
    }

    @Test("one logical worker with an outer step of 1 and no momentum is plain training")
    func plain() throws {
        try withBench { bench in
            func parameters(_ directory: RunDirectory) throws -> [Float] {
                try AdapterFilesBench.flat(directory.adapter)
            }
            let local = try bench.run("local") {
                ($0.localSteps, $0.logicalWorkers) = (3, 1)
                ($0.deltaCodec, $0.topkDensity) = (nil, nil)
                ($0.outerLearningRate, $0.outerMomentum) = (1, 0)
                $0.batchSize = 4
                $0.validationSplit = 0
                $0.schedule = .cosine
            }
            let plain = try bench.run("plain") {
                ($0.localSteps, $0.logicalWorkers, $0.saveStateEvery) = (nil, nil, nil)
                ($0.deltaCodec, $0.topkDensity) = (nil, nil)
                $0.batchSize = 4
                $0.validationSplit = 0
                // 27 rows are 7 steps of 4, or 3 rounds of 3 steps, of which the last has 1.
                $0.schedule = .cosine
                $0.iterations = 3
            }
            let one = try bench.run("one") {
                ($0.localSteps, $0.logicalWorkers) = (3, 1)
                ($0.deltaCodec, $0.topkDensity) = (nil, nil)
                ($0.outerLearningRate, $0.outerMomentum) = (1, 0)
                $0.batchSize = 4
                $0.validationSplit = 0
                $0.schedule = .cosine
                $0.iterations = 1
            }
            #expect(local.outcome.step == 6)
            let (found, expected) = (try parameters(one.run), try parameters(plain.run))
            #expect(found.count == expected.count)
            for (found, expected) in zip(found, expected) {
                #expect(abs(found - expected) <= 1e-6)
            }
        }
    }

    @Test("early stopping and validation decide as they do without local steps")
    func stopping() throws {
        try withBench { bench in
            let (_, digest, outcome) = try bench.run("a") {
                $0.epochs = 50
                $0.learningRate = 0.3
                $0.earlyStopPatience = 1
            }
            #expect(digest != nil)
            #expect(outcome.bestValidationLoss != nil && outcome.keptStep < outcome.step)
            #expect(outcome.step < 50 * 5)
        }
    }

    @Test("validations between the ends of epochs have a checkpoint, where states come if wanted")
    func judging() throws {
        try withBench { bench in
            func run(
                _ name: String, isSparing: Bool = true, resuming: Bool = false,
                stopAfter: Int = .max
            ) throws -> (run: RunDirectory, digest: String?, outcome: TrainingLoop.Outcome) {
                try bench.run(
                    name, resuming: resuming, stopAfter: stopAfter, isSparing: isSparing
                ) {
                    ($0.validateEvery, $0.bestMetric) = (3, .accuracy)
                    $0.validateAtStart = true
                    $0.saveStateEvery = 100
                }
            }
            let whole = try run("a", isSparing: false)
            #expect(whole.outcome.step == 8 && whole.digest != nil)
            // An epoch has four rounds.
            #expect(try whole.run.checkpoints.steps() == [3, 4, 6, 8])
            for stop in 1...7 {
                let name = "stopped-\(stop)"
                #expect(try run(name, stopAfter: stop).digest == nil)
                let resumed = try run(name, resuming: true)
                #expect(resumed.digest == whole.digest && resumed.outcome == whole.outcome)
                var lines: [ValidationMetrics] = []
                try Metrics.read(path: resumed.run.metrics) {
                    if case .validation(let line) = $0 { lines.append(line) }
                }
                #expect(lines.map(\.step) == [0, 3, 4, 6, 8])
                #expect(lines.allSatisfy { $0.tokenAccuracy != nil })
            }
        }
    }

    @Test("rows that do not fill a round, and fewer rows than logical workers")
    func short() throws {
        for rows in [1, 2, 7] {
            try withBench(rows: rows) { bench in
                func run(_ name: String, resuming: Bool = false, stopAfter: Int = .max) throws
                    -> String?
                {
                    try bench.run(name, resuming: resuming, stopAfter: stopAfter) {
                        $0.validationSplit = 0
                        $0.logicalWorkers = 5
                    }.digest
                }
                let expected = try #require(try run("a"))
                _ = try run("b", stopAfter: 1)
                #expect(try run("b", resuming: true) == expected)
            }
        }
    }

    @Test("each epoch's end is saved, where states come only if they are wanted, and goes on")
    func sparing() throws {
        for (rows, workers) in [(27, 3), (25, 4), (7, 5), (3, 5)] {
            try withBench(rows: rows) { bench in
                func run(_ name: String, isSparing: Bool, resuming: Bool = false) throws -> (
                    digest: String?, ends: [Int], steps: [Int]
                ) {
                    var perEpoch = 0
                    let (run, digest, outcome) = try bench.run(
                        name, resuming: resuming, isSparing: isSparing
                    ) {
                        $0.validationSplit = 0
                        $0.logicalWorkers = workers
                        $0.epochs = 3
                        $0.saveStateEvery = 100
                        perEpoch = (rows + 2 * workers - 1) / (2 * workers)
                    }
                    #expect(outcome.step == 3 * perEpoch)
                    return (
                        digest, (1...3).map { $0 * perEpoch }, try run.checkpoints.steps()
                    )
                }
                let expected = try #require(try run("a", isSparing: false).digest)
                let (digest, ends, steps) = try run("b", isSparing: true)
                #expect(digest == expected)
                #expect(steps == ends, "\(rows) rows, \(workers) logical workers")
                let store = try RunDirectory(path: bench.directory + "/b", resuming: true)
                    .checkpoints
                for step in try store.steps().dropFirst() {
                    try FileManager.default.removeItem(atPath: store.path(ofStep: step))
                }
                let again = try run("b", isSparing: true, resuming: true)
                #expect(again.digest == expected && again.steps == ends)
            }
        }
    }

    @Test("a checkpoint whose state of a logical worker is damaged is passed over")
    func damaged() throws {
        try withBench { bench in
            let expected = try #require(try bench.run("a").digest)
            let store = try RunDirectory(path: bench.directory + "/a", resuming: true).checkpoints
            let last = try #require(try store.steps().last)
            let path = store.path(ofStep: last) + "/" + Checkpoint.workerFile(1)
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try bench.run("a", resuming: true).digest == expected)
            // Its files are what the manifest says, but states are missing.
            let earlier = store.path(ofStep: try store.steps()[0])
            let files = Checkpoint.files
            for worker in 0..<3 {
                try FileManager.default.removeItem(
                    atPath: earlier + "/" + Checkpoint.workerFile(worker))
            }
            let manifest = try Manifest(directory: earlier, files: files)
            try AtomicFile.write(manifest.text, to: earlier + "/" + Manifest.fileName)
            for step in try store.steps().dropFirst() {
                try FileManager.default.removeItem(atPath: store.path(ofStep: step))
            }
            #expect(throws: TrainingError.self) { _ = try bench.run("a", resuming: true) }
        }
    }

    @Test("a state that is rebuilt from any earlier round is the same, and the store forgets")
    func replays() throws {
        try withBench { bench in
            var configuration = TrainingConfiguration.fixed
            (configuration.localSteps, configuration.logicalWorkers) = (2, 2)
            configuration.deltaCodec = .int8
            let job = try TrainingJob(
                configuration: configuration, modelPath: bench.directory + "/tiny.gguf",
                dataPath: bench.directory + "/rows.jsonl", version: "test")
            let engine = try MicroBatchEngine(
                model: job.model, adapter: job.shape, configuration: configuration,
                residence: .resident, positions: job.longestRow, threads: 1)
            let workers = try #require(job.logicalWorkers(engine))
            let workspace = DecoderWorkspace()
            let stepper = LocalStepper(job, try #require(job.local))
            var outer = stepper.outer
            var saved: [LocalHistory] = [stepper.history]
            var state = LocalState(count: job.shape.layout.count)
            for planned in job.plan.steps().prefix(4) {
                let work = try #require(job.localWork(1, in: planned))
                let outcome = try #require(
                    workers.perform(
                        work, parameters: outer.parameters, state: state,
                        workspace: workspace))
                var average = outcome.sum.gradient
                let payload = workers.settings.codec.pack(
                    &average, DeltaCodec.Address(seed: 0, round: planned.step, sender: 2))
                workers.settings.outer.apply(average, to: &outer)
                state = outcome.state
                for index in saved.indices { saved[index].averages.append(payload) }
                let states = [LocalState(count: state.count), state]
                saved.append(
                    LocalHistory(
                        round: planned.step, outer: outer, states: states,
                        work: stepper.history.work))
                for history in saved {
                    let rebuilt = try workers.rebuild(
                        history.replay(of: 1), workspace: workspace)
                    #expect(rebuilt?.digest == state.digest)
                }
            }
            let packed = state.packed
            #expect(
                try LocalState(packed: packed, count: state.count, steps: state.steps) == state)
            #expect(
                try LocalState(packed: packed, count: state.count, steps: 3).digest != state.digest)
            #expect(throws: CodecError.self) {
                try LocalState(packed: Array(packed.dropLast()), count: state.count, steps: 1)
            }
            let store = LocalStates(workers: 1)
            for round in 1...6 {
                let state = LocalState(
                    steps: round, averages: [1], squareAverages: [2], error: [3])
                store.keep(state, state.digest, of: 0, afterRound: round)
            }
            // Before and after the last round.
            #expect(store.count == 2)
            store.dropUnused(in: 8)
            #expect(store.count == 1)
            store.dropUnused(in: 9)
            #expect(store.count == 0)
        }
    }
}

/// The numbers of an adapter on disk.
enum AdapterFilesBench {
    static func flat(_ directory: String) throws -> [Float] {
        let bytes = try Data(
            contentsOf: URL(fileURLWithPath: directory + "/adapter_model.safetensors"))
        let header = Int(bytes.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.1) << (8 * $1.0) })
        return bytes.dropFirst(8 + header).withUnsafeBytes { raw in
            (0..<(raw.count / 4)).map {
                raw.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self)
            }
        }
    }
}

/// A source whose results bring only the states that a round wants: as those of a cluster do.
private struct SparingSource: StepSource {
    let source: InProcessSource

    var workerCount: Int { source.workerCount }

    func advance(to outer: OuterState, by average: [UInt8]) {
        source.advance(to: outer, by: average)
    }

    func compute(_ work: StepWork, deliver: (MicroBatchResult) throws -> Void) throws {
        guard case .round(let round) = work else {
            return try source.compute(work, deliver: deliver)
        }
        try source.compute(work) { result in
            var result = result
            if let state = result.state, !round.wantsState[result.index] {
                result.state = NamedState(digest: state.digest, state: nil)
            }
            try deliver(result)
        }
    }

    func evaluate(_ request: EvaluationRequest) throws -> RecordedEvaluation {
        try source.evaluate(request)
    }

    func logProbabilities(
        of groups: [[TokenizedRow]], recorded: [GroupEntry?],
        deliver: (Int, ReferencePiece) throws -> Void
    ) throws {
        try source.logProbabilities(of: groups, recorded: recorded, deliver: deliver)
    }

    func samples(_ parameters: [Float], step: Int, epoch: Int) -> [SampleMetrics] { [] }
}
