import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinTraining

/// What a coordinator needs besides the job.
package struct CoordinatorOptions: Sendable {
    package static let localWorkerRange = 0...1024

    /// `HOST:PORT`; port 0 lets the system choose.
    package var listen: String
    /// nil: only workers of this machine are served.
    package var token: [UInt8]?
    /// Threads of this process that compute, too.
    package var localWorkers: Int
    /// Lets workers in whose engine computes other bits. The law does not hold then.
    package var admitsOtherEngines: Bool

    package init(
        listen: String, token: [UInt8]?, localWorkers: Int = 0, admitsOtherEngines: Bool = false
    ) {
        self.listen = listen
        self.token = token
        self.localWorkers = localWorkers
        self.admitsOtherEngines = admitsOtherEngines
    }
}

/// A coordinator's process: the training loop on the caller's thread, the network on one of its own, and
/// what ties them together.
///
/// `TrainingLoop` plans, sums, applies AdamW and writes checkpoints, as in a run of one process;
/// `CoordinatorShell` leases, and brings parameters to whoever joins or comes back.
package final class CoordinatorNode: Sendable {
    private let job: TrainingJob
    private let directory: RunDirectory
    private let options: CoordinatorOptions
    private let version: String
    private let log: Log
    private let server: CoordinatorServer
    /// As bound.
    package var address: String { server.address }

    /// Refuses what follows from the command line and the files that it names: an address that is
    /// none, more workers than there are descriptors for, an adapter that no message can hold.
    ///
    /// Changes nothing on disk: to be called before the output directory is made.
    ///
    /// - Throws: `NodeError.addressInvalid`, `.tooFewFiles`, `.adapterTooLarge`.
    package static func check(job: TrainingJob, options: CoordinatorOptions) throws {
        _ = try NetworkAddress(parsing: options.listen)
        _ = try settings(job)
        try RunIdentity.checkSizes(
            parameterCount: job.shape.layout.count, codec: job.configuration.gradientCodec)
    }

    private static func settings(_ job: TrainingJob) throws -> CoordinatorSettings {
        var settings = CoordinatorSettings(
            minimumWorkers: job.configuration.minWorkers, patience: job.configuration.patience)
        try settings.fit(ProcessFigures.connectionRoom())
        return settings
    }

    /// Raises the term, binds the port and begins to answer; nothing of it for a job that is not
    /// that of the run to go on with, since workers would follow whoever answers, nor for one that is
    /// refused whoever comes.
    ///
    /// - Throws: as `check`; `NodeError.tokenRequired` for an address that others reach, `.portInUse` and others;
    ///   `TrainingError.resumeDiffers`, and for a damaged term.
    package init(
        job: TrainingJob, directory: RunDirectory, options: CoordinatorOptions, version: String,
        log: Log
    ) throws {
        self.job = job
        self.directory = directory
        self.options = options
        self.version = version
        self.log = log
        try job.checkResume(in: directory)
        try Self.check(job: job, options: options)
        let name = try NetworkAddress(parsing: options.listen)
        let addresses = try name.resolved(for: .listening)
        if options.token == nil, !addresses.contains(where: \.isLoopback) {
            throw NodeError.tokenRequired(address: options.listen)
        }
        var settings = try Self.settings(job)
        // From here on something on disk changes.
        let identity = try RunIdentity(
            job: job, term: directory.nextTerm(first: Self.randomTerm()))
        settings.maximumUnchecked = min(
            settings.maximumUnchecked,
            CoordinatorMemory.unchecked(gradientBytes: identity.mostGradientBytes))
        let memory = CoordinatorMemory(
            parameterCount: job.shape.layout.count, codec: job.configuration.gradientCodec,
            microBatches: job.plan.mostMicroBatches)
        log.info(memory.sentence)
        server = try CoordinatorServer(
            name, addresses, identity: identity, options: options, settings: settings, log: log)
    }

    /// A first term, 1 ... 2^31: what one run's workers hold of another run in the same place, with
    /// the same options, has another term.
    private static func randomTerm() throws -> UInt32 {
        try SystemRandomness.bytes(4).reduce(0) { $0 << 8 | UInt32($1) } / 2 + 1
    }

    /// Runs to the end of the plan and says goodbye to the workers.
    ///
    /// - Returns: how the run ended, and the loss on the test rows when there are some.
    /// - Throws: what `TrainingLoop` throws; `NodeError.workersMissing` when nobody came in time.
    package func run(
        report: @escaping (TrainingLoop.Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        defer { server.stop() }
        let local = LocalWorkers(
            threads: options.localWorkers, address: address, token: options.token,
            job: job, version: version, log: log)
        do {
            let ending = try ClusterTraining(
                job: job, directory: directory, desk: server.desk, inbox: server.inbox,
                log: log
            ).run(report: report, shouldStop: shouldStop)
            server.farewell(
                ending.outcome.isComplete
                    ? Leave(reason: .complete, detail: "the run is complete")
                    : Leave(reason: .interrupted, detail: "the coordinator was asked to stop"))
            local.end()
            return ending
        } catch {
            let detail = (error as? any Explained)?.explanation.what ?? String(describing: error)
            server.farewell(Leave(reason: .failed, detail: detail))
            local.end()
            throw error
        }
    }
}
