import SkeinBasics
import SkeinTraining

/// A run over a cluster, put together: job, output directory and a coordinator that listens.
///
/// `skein coordinator` and the library's `Coordinator` use it.
package struct CoordinatorRun: Sendable {
    package let job: TrainingJob
    private let node: CoordinatorNode

    /// Reads and checks model, data and options, locks the output directory and begins to listen.
    ///
    /// - Parameters:
    ///   - request: what to train.
    ///   - options: where to listen, and whom to admit.
    ///   - resuming: continues the run in the output directory, if there is one.
    ///   - log: told what happens.
    ///   - samples: what answers the sample prompts.
    ///   - board: what people are shown of the run.
    ///   - check: inspects the job before anything on disk changes and before any peer can dial.
    /// - Throws: as `TrainingJob.init`, `RunDirectory.init` and `CoordinatorNode.init`; as `check`.
    package init(
        _ request: RunRequest, options: CoordinatorOptions, resuming: Bool, log: Log,
        samples: SampleSource, board: RunBoard = RunBoard(),
        check: (TrainingJob) throws -> Void = { _ in }
    ) throws {
        job = try request.job(resuming: resuming)
        try check(job)
        // Before anything on disk changes.
        try CoordinatorNode.check(job: job, options: options)
        node = try CoordinatorNode(
            job: job, directory: RunDirectory(path: request.output, resuming: resuming),
            options: options, version: Version.text, log: log, samples: samples, board: board)
    }

    /// The bound address, `HOST:PORT`.
    package var address: String { node.address }

    /// Runs on the calling thread; see `CoordinatorNode.run`.
    package func run(
        report: @escaping (TrainingLoop.Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        try node.run(report: report, shouldStop: shouldStop)
    }
}
