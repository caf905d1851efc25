import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCoordination
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinNetwork
import SkeinTensors
import SkeinTestSupport
import SkeinTraining
import Synchronization

/// A run that seeds share: its plan and rows are real, its model is made up. What it must end with is
/// computed once, in one process without faults.
final class SimulatedJob: Sendable {
    let job: TrainingJob
    let identity: RunIdentity
    private let known = Mutex<[Poison: Expected]>([:])

    /// What diverges, whichever worker computes it.
    struct Poison: Hashable, Sendable {
        var step: Int?
        var validation: Int?
    }

    /// What every way to compute the run must leave behind.
    struct Expected: Sendable {
        var files: RunFiles
        /// The step that ends it with an error.
        var failingStep: Int?
        /// The steps that have a checkpoint at some time.
        var savedSteps: Set<Int> = []
    }

    init(_ configuration: TrainingConfiguration, rows lengths: [Int]) throws {
        job = try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            // A letter is a token.
            let lines = lengths.enumerated().map { number, length in
                let text = String(repeating: "z", count: max(0, length - 2))
                let answers =
                    configuration.loss == nil
                    ? "\"completion\": \"\(text)\""
                    : "\"chosen\": \"\(text)\", \"rejected\": \"\(text.prefix(7))y\""
                return "{\"prompt\": \"\(number % 10)\", \(answers)}\n"
            }
            try AtomicFile.write(lines.joined(), to: directory + "/rows.jsonl")
            return try TrainingJob(
                configuration: configuration, modelPath: directory + "/tiny.gguf",
                dataPath: directory + "/rows.jsonl", version: "simulated")
        }
        identity = try RunIdentity(job: job, term: 1, start: [UInt8](repeating: 0, count: 16))
    }

    /// The identity of another start; the model's bytes are hashed once.
    ///
    /// - Parameters:
    ///   - term: of the start.
    ///   - start: 16 random bytes of it.
    ///   - fetched: files that its workers fetch as the model; nil: each has one.
    /// - Returns: what its coordinator offers.
    /// - Throws: never, for a job that has been made.
    func identity(
        term: UInt32, start: [UInt8], fetched: FetchedModel? = nil
    ) throws -> RunIdentity {
        var offer = identity.offer
        (offer.term, offer.start) = (term, start)
        if let fetched { offer.modelFiles = fetched.files }
        return try RunIdentity(
            offer: offer, parameterCount: job.shape.layout.count,
            codec: job.configuration.gradientCodec, local: LocalBounds(job),
            files: fetched?.sources ?? [], pieces: FetchedModel.pieces)
    }

    func model(_ poison: Poison) -> MadeUpModel {
        MadeUpModel(job, poisonedStep: poison.step, poisonedValidation: poison.validation)
    }

    func expected(_ poison: Poison) throws -> Expected {
        if let expected = known.withLock({ $0[poison] }) { return expected }
        let expected = try computed(poison)
        known.withLock { $0[poison] = expected }
        return expected
    }

    private func computed(_ poison: Poison) throws -> Expected {
        let disk = SimulatedDisk(seed: 0)
        var failingStep: Int?
        var last = 0
        do {
            last = try straight(in: disk.opened(), nil, poison).step
        } catch TrainingError.lossNotFinite(let step, _) {
            (failingStep, last) = (step, step - 1)
        }
        // What the configuration gives, not what the loop has saved.
        return Expected(
            files: try RunFiles(disk, directory: "/run"), failingStep: failingStep,
            savedSteps: dueSteps(through: last))
    }

    /// The steps behind which a checkpoint is due: those that are validated, an epoch's last ones among them,
    /// and each so many.
    private func dueSteps(through last: Int) -> Set<Int> {
        let (configuration, plan) = (job.configuration, job.plan)
        var (due, former) = (Set<Int>(), 0)
        for step in stride(from: 1, through: last, by: 1) {
            let endsEpoch = step % plan.stepsPerEpoch == 0 || step == plan.stepCount
            let isJudged = endsEpoch || configuration.validateEvery.map { step % $0 == 0 } ?? false
            let isDue =
                if configuration.logicalWorkers == nil {
                    configuration.checkpointEvery > 0 && step % configuration.checkpointEvery == 0
                } else {
                    // They count from the last checkpoint on.
                    step - former
                        >= (configuration.saveStateEvery ?? LocalSettings.usualSaveInterval)
                }
            guard isJudged || isDue else { continue }
            due.insert(step)
            former = step
        }
        return due
    }

    /// Begins or continues the run in one process.
    ///
    /// - Parameters:
    ///   - process: whose disk it is.
    ///   - opened: the directory, if the process has opened it before.
    ///   - poison: what diverges.
    ///   - steps: after how many it is asked to stop; nil: it is not.
    ///   - mark: of its term, which it raises; nil: it does not.
    ///   - report: called with each event of the loop.
    /// - Returns: how it ended.
    /// - Throws: what ends it, also a death of the process.
    func straight(
        in process: SimulatedProcess, _ opened: RunDirectory? = nil, _ poison: Poison = Poison(),
        steps: Int? = nil,
        mark: UInt64? = nil, report: @escaping (TrainingLoop.Event) -> Void = { _ in }
    ) throws -> TrainingLoop.Outcome {
        let directory =
            try opened ?? RunDirectory(path: "/run", resuming: true, in: process.store)
        if let mark { _ = try directory.nextTerm(first: 1, mark: mark) }
        var settings = LoopSettings()
        settings.beside = BesideRun { work in
            work()
            return {}
        }
        let done = Atomic<Int>(0)
        let references = ReferenceCache(
            directory: directory.references, calls: process, check: { try directory.checkTerm() })
        return try RunAssembly(
            job: job, directory: directory, source: StraightSource(model: model(poison)),
            references: references, settings: settings
        ).run(
            report: {
                guard case .loop(let event) = $0 else { return }
                if case .step = event { done.wrappingAdd(1, ordering: .relaxed) }
                report(event)
            },
            shouldStop: {
                steps.map { done.load(ordering: .relaxed) >= $0 } ?? false
            }
        ).outcome
    }

    // MARK: The runs that seeds choose from

    private struct Name: Hashable {
        var recipe: Scenario.Recipe
        var number: Int
        var steps: Int?
    }

    private static let made = Mutex<[Name: SimulatedJob]>([:])

    /// The job of a scenario, made once: `draw` chooses among the recipe's jobs, and `steps` is how many
    /// steps it has; nil: its epochs say so.
    static func job(
        _ recipe: Scenario.Recipe, _ draw: UInt64, steps: Int? = nil
    ) throws -> SimulatedJob {
        let count = recipe == .local ? DeltaCodec.Kind.allCases.count : 8
        let name = Name(recipe: recipe, number: Int(draw % UInt64(count)), steps: steps)
        return try made.withLock { made in
            if let job = made[name] { return job }
            let job =
                switch recipe {
                case .gradients: try make(name.number, steps)
                case .local: try makeLocal(name.number, steps)
                }
            // Many different numbers of steps do not fill the memory.
            if made.count >= 256 { made = [:] }
            made[name] = job
            return job
        }
    }

    /// A run with local steps, one for each codec.
    private static func makeLocal(_ number: Int, _ steps: Int?) throws -> SimulatedJob {
        let codec = DeltaCodec.Kind.allCases[number]
        var configuration = SimulatedJob.configuration(number)
        configuration.gradientCodec = .fp32
        (configuration.localSteps, configuration.logicalWorkers) = (3, 2 + number)
        (configuration.schedule, configuration.warmupSteps) = schedule(number)
        configuration.deltaCodec = codec
        configuration.saveStateEvery = [3, 1, 4, 100][number]
        configuration.batchSize = 2
        // In half of the jobs epochs are so long that a lost state is rebuilt from several rounds.
        configuration.epochs = number < 2 ? 3 : 2
        configuration.validationSplit = number % 2 == 0 ? 0.1 : 0
        if number == 2 {
            (configuration.validateEvery, configuration.bestMetric) = (2, .accuracy)
        }
        configuration.validateAtStart = number == 0
        var random = SplitMix(state: UInt64(number) &+ 99)
        // The last round of an epoch is short; in one job it has work for two logical workers of five.
        let rows = (number < 2 ? 9 : 20) * (2 + number) + [1, 5, 9, -6][number]
        configuration.iterations = steps
        return try SimulatedJob(
            configuration, rows: (0..<rows).map { _ in Int.random(in: 6...400, using: &random) }
        )
    }

    /// Stops early by the accuracy of validations after every second step; with local steps, too.
    static let judged = Result {
        try [false, true].map { isLocal in
            var configuration = SimulatedJob.configuration(2)
            configuration.gradientCodec = .fp32
            configuration.batchSize = isLocal ? 1 : 4
            configuration.epochs = 8
            (configuration.validateEvery, configuration.bestMetric) = (2, .accuracy)
            (configuration.validateAtStart, configuration.samplePrompt) = (true, ["1", "2"])
            (configuration.checkpointEvery, configuration.keepCheckpoints) = (3, 1)
            configuration.earlyStopPatience = 3
            if isLocal {
                (configuration.localSteps, configuration.logicalWorkers) = (2, 2)
                configuration.saveStateEvery = 3
            }
            return try SimulatedJob(configuration, rows: Array(repeating: 12, count: 15))
        }
    }

    /// A run that ends with a step that no longer run validates, and the longer one; with local steps,
    /// too.
    static let lengthened = Result {
        try [false, true].map { isLocal in
            func job(_ steps: Int) throws -> SimulatedJob {
                var configuration = SimulatedJob.configuration(1)
                configuration.gradientCodec = .fp32
                configuration.batchSize = isLocal ? 1 : 4
                configuration.iterations = steps
                (configuration.validateAtStart, configuration.samplePrompt) = (true, ["1"])
                (configuration.checkpointEvery, configuration.keepCheckpoints) = (2, 1)
                if isLocal {
                    (configuration.localSteps, configuration.logicalWorkers) = (2, 2)
                    configuration.saveStateEvery = 2
                }
                return try SimulatedJob(configuration, rows: Array(repeating: 12, count: 15))
            }
            return try (job(5), job(14))
        }
    }

    /// One piece of work to a step, and validations in between.
    static let narrow = Result {
        var configuration = SimulatedJob.configuration(0)
        configuration.batchSize = 1
        configuration.validationSplit = 0
        configuration.epochs = 3
        return try SimulatedJob(configuration, rows: [200])
    }

    /// As `narrow`, with many more steps.
    static let long = Result {
        var configuration = SimulatedJob.configuration(0)
        configuration.batchSize = 1
        configuration.validationSplit = 0
        configuration.epochs = 80
        return try SimulatedJob(configuration, rows: [200])
    }

    private static func configuration(_ number: Int) -> TrainingConfiguration {
        var configuration = TrainingConfiguration.fixed
        configuration.rank = 1 + number % 2
        configuration.targetModules = [.query, .value]
        configuration.layers = .last(1)
        configuration.dropout = 0
        configuration.maxLength = 400
        configuration.microBatchTokens = number % 3 == 0 ? 200 : 1
        configuration.gradientCodec = GradientCodec.allCases[number % 3]
        configuration.checkpointEvery = number % 4
        configuration.keepCheckpoints = 1 + number % 3
        // Some steps are so small that several differences are shorter than the whole.
        configuration.learningRate = number % 4 == 3 ? 1e-6 : 0.01
        configuration.seed = number
        return configuration
    }

    /// The rate depends on the step in most runs.
    private static func schedule(_ number: Int) -> (Schedule.Kind, warmupSteps: Int) {
        ([.constant, .linear, .cosine][number % 3], number % 2)
    }

    private static func make(_ number: Int, _ steps: Int?) throws -> SimulatedJob {
        var random = SplitMix(state: UInt64(number) &+ 77)
        var configuration = SimulatedJob.configuration(number)
        configuration.batchSize = [20, 13, 7, 26, 8, 15, 10, 3][number]
        configuration.epochs = 2
        (configuration.schedule, configuration.warmupSteps) = schedule(number)
        configuration.validationSplit = number % 4 == 3 ? 0 : 0.2
        // Validations at other steps than an epoch's last, and before the first.
        if number == 4 || number == 6 {
            (configuration.validateEvery, configuration.bestMetric) = (2, .accuracy)
            configuration.validateAtStart = true
        }
        if number == 5 { configuration.loss = .dpo }
        let rows = configuration.batchSize * 3
        configuration.iterations = steps
        return try SimulatedJob(
            configuration, rows: (0..<rows).map { _ in Int.random(in: 6...400, using: &random) })
    }
}

/// What a run leaves behind, without times and without who computed what.
struct RunFiles: Sendable, Equatable {
    /// nil: none was kept.
    var adapter: [UInt8]?
    /// Step, micro-batch, tokens, loss and digests of every line.
    var ledger: [String] = []
    var metrics: [String] = []

    init(_ disk: SimulatedDisk, directory: String) throws {
        let store = disk.opened().store
        adapter = disk[directory + "/adapter/adapter_model.safetensors"]
        try Ledger.read(path: directory + "/ledger.jsonl", in: store) { record in
            guard case .microBatch(let entry) = record else {
                if case .group(var entry) = record {
                    (entry.worker, entry.attempt) = ("", 0)
                    ledger.append(entry.line.written)
                }
                return
            }
            ledger.append(
                "\(entry.step) \(entry.microBatch) \(entry.tokens) \(entry.lossTokens) "
                    + "\(entry.lossSum) \(entry.gradientDigest) \(entry.stateDigest ?? "") "
                    + "\(entry.parametersDigest ?? "none") \(entry.inputsDigest ?? "none")")
        }
        try Metrics.read(path: directory + "/metrics.jsonl", in: store) { record in
            switch record {
            case .step(let line):
                metrics.append(
                    "\(line.step) \(line.epoch) \(line.loss) \(line.tokens) \(line.lossTokens) "
                        + "\(line.learningRate) \(line.gradientNorm)")
            case .validation(let line):
                metrics.append(
                    "\(line.step) \(line.epoch) \(String(describing: line.loss)) \(line.tokens) "
                        + String(describing: line.tokenAccuracy))
            case .sample(let line): metrics.append(line.line.written)
            }
        }
    }
}
