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
        /// Log-probabilities of so many answers under the base model are computed now.
        case references(Int)
        /// What does not change the run.
        case warning(String)
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
        let configuration = self.job.configuration
        let threads = configuration.threads ?? ProcessInfo.processInfo.activeProcessorCount
        let (residence, estimate) = try self.job.fit(
            available: SystemMemory.usable.map { $0 - SampleMaker.bytes(of: self.job) },
            threads: threads)
        try report(.memory(estimate, residence))
        let directory = try RunDirectory(path: output, resuming: isResuming)
        let engine = try MicroBatchEngine(
            model: self.job.model, adapter: self.job.shape, configuration: configuration,
            residence: residence, positions: self.job.longestRow, threads: threads,
            progress: { _ in !shouldStop() })
        let computing = DecoderThreads(threadCount: threads)
        func evaluate(_ rows: [TokenizedRow], _ parameters: [Float]) throws -> RowEvaluation {
            try RowEvaluation.run(
                rows, engine: engine, parameters: parameters,
                microBatchTokens: configuration.microBatchTokens, threads: computing)
        }
        let samples =
            self.job.samplePrompts.isEmpty ? nil : SampleMaker(job: self.job, threads: threads)
        try report(.loaded)
        // Before anything takes long.
        try self.job.checkResume(in: directory)
        var referenced = self.job
        do {
            let warnings = try References.attach(
                to: &referenced, cache: self.job.referenceCache,
                compute: {
                    try report(.references($0.count))
                    return try RowEvaluation.baseLogProbabilities(
                        of: $0, engine: engine,
                        microBatchTokens: configuration.microBatchTokens, threads: computing,
                        checkCancellation: { if shouldStop() { throw CancellationError() } })
                })
            for warning in warnings { try report(.warning(warning.text)) }
        } catch is CancellationError {
            return try RunEnding(stoppedBeforeFirstStep: directory)
        }
        let job = referenced
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
