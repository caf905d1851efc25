import Foundation
import SkeinModels

/// A whole run in one process, from the request to the ending.
///
/// The library's `Trainer`, and so `skein train`, uses it; in a cluster it is `CoordinatorRun`.
package struct TrainingRun: Sendable {
    /// What a run reports, in this order.
    package enum Event: Sendable {
        case memory(MemoryEstimate, WeightResidence)
        /// The weights are loaded; from here on the run can be stopped with a checkpoint.
        case loaded
        /// The first step begins.
        case ready
        case loop(TrainingLoop.Event)
        /// The steps are done, or the run was stopped; test rows may be evaluated next.
        case trained
    }

    package let job: TrainingJob
    private let output: String
    private let isResuming: Bool

    /// Reads and checks model, data and options; writes nothing and loads no weights.
    ///
    /// - Parameters:
    ///   - request: what to train.
    ///   - resuming: continues the run in the output directory, if there is one.
    /// - Throws: as `TrainingJob.init`.
    package init(_ request: RunRequest, resuming: Bool) throws {
        job = try request.job(resuming: resuming)
        output = request.output
        isResuming = resuming
    }

    /// Runs on the calling thread, which waits while others compute.
    ///
    /// - Parameters:
    ///   - report: called on this thread; what it throws ends the run.
    ///   - shouldStop: asked while weights are loaded, where true is a `CancellationError`, and after
    ///     every step, where it ends the run with a checkpoint.
    /// - Returns: how it ended.
    /// - Throws: `CancellationError`, `MemoryError`, `TrainingError`, `FileError`, `FormatError`.
    package func run(
        report: @escaping (Event) throws -> Void, shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        let configuration = job.configuration
        let threads = configuration.threads ?? ProcessInfo.processInfo.activeProcessorCount
        let (residence, estimate) = try job.fit(
            available: SystemMemory.usable.map { $0 - SampleMaker.bytes(of: job) },
            threads: threads)
        try report(.memory(estimate, residence))
        let directory = try RunDirectory(path: output, resuming: isResuming)
        let engine = try MicroBatchEngine(
            model: job.model, adapter: job.shape, configuration: configuration,
            residence: residence, positions: job.longestRow, threads: threads,
            progress: { _ in !shouldStop() })
        let computing = DecoderThreads(threadCount: threads)
        func evaluate(_ rows: [TokenizedRow], _ parameters: [Float]) throws -> RowEvaluation {
            try RowEvaluation.run(
                rows, engine: engine, parameters: parameters,
                microBatchTokens: configuration.microBatchTokens, threads: computing)
        }
        let samples = job.samplePrompts.isEmpty ? nil : SampleMaker(job: job, threads: threads)
        try report(.loaded)
        var loop = try TrainingLoop(
            job: job, directory: directory,
            source: LocalGradientSource(
                engine: engine, threads: computing, logical: job.logicalWorkers(engine)),
            validate: { [job] in try evaluate(job.validation, $0) },
            sample: { try samples?.samples($0, step: $1, epoch: $2) ?? [] },
            report: { try report(.loop($0)) }, shouldStop: shouldStop)
        try report(.ready)
        let outcome = try loop.run()
        try report(.trained)
        guard outcome.isComplete, !job.test.isEmpty else {
            return RunEnding(outcome: outcome, directory: directory, test: nil)
        }
        return RunEnding(
            outcome: outcome, directory: directory,
            test: try evaluate(job.test, loop.keptParameters()))
    }
}
