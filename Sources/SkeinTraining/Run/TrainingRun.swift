import SkeinBasics
import SkeinModels
import SkeinTensors

/// A whole run in one process, from the request to the ending.
///
/// The library's `Trainer`, and so `skein train`, uses it; in a cluster it is `CoordinatorRun`.
package struct TrainingRun: Sendable {
    /// What a run reports, in this order.
    package enum Event: Sendable {
        case memory(MemoryEstimate, WeightResidence)
        /// What features that are kept will take, and the rows that are there already.
        case features(FeaturePlan, keptRows: Int)
        /// The weights are loaded; from here on the run can be stopped with a checkpoint.
        case loaded
        /// Log-probabilities of so many answers under the reference model are computed now.
        case references(Int)
        /// What does not change the run.
        case warning(String)
        /// The first step begins.
        case ready
        case loop(TrainingLoop.Event)
        /// The steps are done, or the run was stopped; test rows may be evaluated next.
        case trained
        /// The kept adapter is measured on rows that it was trained on, and on those held out.
        case measuringKept
    }

    package let job: TrainingJob
    let output: String
    private let isResuming: Bool
    private let samples: SampleSource

    /// Reads and checks model, data and options; writes nothing and loads no weights.
    ///
    /// - Parameters:
    ///   - request: what to train.
    ///   - resuming: continues the run in the output directory, if there is one.
    ///   - samples: what answers the sample prompts.
    /// - Throws: as `RunRequest.job`.
    package init(_ request: RunRequest, resuming: Bool, samples: SampleSource) throws {
        job = try request.job(resuming: resuming)
        output = request.output
        isResuming = resuming
        self.samples = samples
    }

    /// Runs on the calling thread, which waits while others compute.
    ///
    /// - Parameters:
    ///   - measuresKept: whether the ending says how well the kept adapter knows the rows.
    ///   - report: called on this thread; what it throws ends the run.
    ///   - shouldStop: asked while weights are loaded, where true is a `CancellationError`, and after
    ///     every step, where it ends the run with a checkpoint.
    /// - Returns: how it ended.
    /// - Throws: `CancellationError`, `MemoryError`, `TrainingError`, `FileError`, `FormatError`.
    package func run(
        measuresKept: Bool = false, report: @escaping (Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        let threads =
            job.configuration.threads ?? SystemProcessors.usable
        let (residence, estimate) = try TrainingJob.fit(
            [job], available: SystemMemory.usable.map { $0 - samples.bytes(job) },
            threads: threads, bound: SystemMemory.bound)
        try report(.memory(estimate, residence))
        try job.configuration.featureSettings.map { try job.featurePlan($0).checkLimit() }
        let directory = try RunDirectory(path: output, resuming: isResuming)
        let compute = try RunCompute(
            job, residence: residence, positions: job.longestRow, threads: threads,
            shouldStop: shouldStop)
        return try train(
            in: directory, with: compute, features: job.configuration.featureSettings,
            measuresKept: measuresKept, report: report, shouldStop: shouldStop)
    }

    /// Runs with what is loaded; others may compute with it in turns.
    ///
    /// - Parameters:
    ///   - directory: the run's.
    ///   - compute: what computes.
    ///   - features: where the frozen blocks' output is kept; nil: nowhere.
    ///   - measuresKept: as `run` has it.
    ///   - report: as `run` has it.
    ///   - shouldStop: as `run` has it.
    /// - Returns: how it ended.
    /// - Throws: as `run`.
    func train(
        in directory: RunDirectory, with compute: RunCompute, features: FeatureSettings?,
        measuresKept: Bool = false, report: @escaping (Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        // Before anything takes long, or makes room on a disk.
        try job.checkResume(in: directory)
        try directory.takeOver()
        let engine = try engine(compute, features: features, report: report)
        let source = InProcessSource(
            job, engine: engine, threads: compute.threads, turns: compute.turns,
            samples: samples.maker(of: job, threads: compute.threads.threadCount),
            shouldStop: shouldStop)
        try report(.loaded)
        return try RunAssembly(
            job: job, directory: directory, source: source, references: job.referenceCache,
            turns: compute.turns
        ).run(
            report: {
                try report($0)
                if case .loop = $0 { try warn(of: engine, report) }
            }, shouldStop: shouldStop,
            measure: { loop, outcome, begun in
                try warn(of: engine, report)
                guard measuresKept, KeptAccuracy.isDue(outcome, from: begun) else { return nil }
                try report(.measuringKept)
                return try loop.keptAccuracy(engine, compute.threads, report, shouldStop)
            })
    }

    private func warn(of engine: MicroBatchEngine, _ report: (Event) throws -> Void) throws {
        for warning in engine.features?.takeWarnings() ?? [] {
            try report(.warning(warning.text))
        }
    }

    /// The run's engine, with the features that it reads and keeps.
    private func engine(
        _ compute: RunCompute, features: FeatureSettings?, report: (Event) throws -> Void
    ) throws -> MicroBatchEngine {
        var engine = try MicroBatchEngine(
            weights: compute.weights, of: job.model, adapter: job.shape,
            configuration: job.configuration)
        guard let settings = features else { return engine }
        let plan = job.featurePlan(settings)
        let store: FeatureStore
        do {
            store = try compute.features.store(plan)
        } catch let error as any Explained where job.configuration.featureSettings == nil {
            // They were not asked for: a sweep shares them if it can.
            try report(.warning("features are not shared: " + error.explanation.located))
            return engine
        }
        try report(.features(plan, keptRows: store.rowCount))
        engine.features = store
        return engine
    }
}
