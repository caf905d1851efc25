import SkeinBasics
import SkeinTraining

/// A run over a cluster, put together: job, output directory and a coordinator that listens.
///
/// `skein coordinator` and the library's `Coordinator` come here.
package struct CoordinatorRun: Sendable {
    package let job: TrainingJob
    private let node: CoordinatorNode

    /// Reads and checks model, data and options, locks the output directory and begins to listen.
    ///
    /// - Parameters:
    ///   - request: what is wanted.
    ///   - options: where to listen, and whom to admit.
    ///   - resuming: goes on with the run that is in the output directory, if there is one.
    ///   - log: what happens.
    ///   - check: looks at the job before anything on disk changes and anybody can dial in.
    /// - Throws: as `TrainingJob.init`, `RunDirectory.init` and `CoordinatorNode.init`; what `check`
    ///   throws.
    package init(
        _ request: RunRequest, options: CoordinatorOptions, resuming: Bool, log: Log,
        check: (TrainingJob) throws -> Void = { _ in }
    ) throws {
        job = try request.job()
        try check(job)
        // Before anything on disk changes.
        try CoordinatorNode.check(job: job, options: options)
        node = try CoordinatorNode(
            job: job, directory: RunDirectory(path: request.output, resuming: resuming),
            options: options, version: Version.text, log: log)
    }

    /// `HOST:PORT`, as bound.
    package var address: String { node.address }

    /// Runs on the calling thread; as `CoordinatorNode.run`.
    package func run(
        report: @escaping (TrainingLoop.Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        try node.run(report: report, shouldStop: shouldStop)
    }
}
