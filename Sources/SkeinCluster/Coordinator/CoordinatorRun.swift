import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinFormats
import SkeinModels
import SkeinNetwork
import SkeinTensors
import SkeinTraining

/// What a coordinator needs besides the job.
package struct CoordinatorOptions: Sendable {
    package static let localWorkerRange = 0...1024

    /// `HOST:PORT`; port 0 lets the system choose.
    package var listen: String
    /// nil: only workers on this machine are served.
    package var token: [UInt8]?
    /// Threads of this process that compute as well.
    package var localWorkers: Int
    /// Admits workers whose engine computes other bits. The law does not hold then.
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

/// A run over a cluster, put together: the training loop on the caller's thread, the network on a
/// thread of its own, and what connects them.
///
/// `TrainingLoop` plans, sums, takes the steps and writes checkpoints, as in a run of one process;
/// `CoordinatorShell` leases work, and sends parameters to workers. `skein coordinator` and the
/// library's `Coordinator` use it.
package struct CoordinatorRun: Sendable {
    package let job: TrainingJob
    let directory: RunDirectory
    let network: CoordinatorNetwork
    let options: CoordinatorOptions
    /// The incarnation of the coordinator's own worker.
    var ownIncarnation: [UInt8] = []
    var settings = LoopSettings()
    let log: Log
    let samples: SampleSource
    var board = RunBoard()

    /// Puts together what stands.
    package init(
        job: TrainingJob, directory: RunDirectory, network: CoordinatorNetwork,
        options: CoordinatorOptions, ownIncarnation: [UInt8] = [],
        settings: LoopSettings = LoopSettings(), log: Log, samples: SampleSource,
        board: RunBoard = RunBoard()
    ) {
        (self.job, self.directory, self.network) = (job, directory, network)
        (self.options, self.ownIncarnation, self.settings) = (options, ownIncarnation, settings)
        (self.log, self.samples, self.board) = (log, samples, board)
    }

    /// The bound address, `HOST:PORT`.
    package var address: String { network.address }
}

extension CoordinatorRun {
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
    /// - Throws: as `TrainingJob.init`, `RunDirectory.init` and the other `init`; as `check`.
    package init(
        _ request: RunRequest, options: CoordinatorOptions, resuming: Bool, log: Log,
        samples: SampleSource, board: RunBoard = RunBoard(),
        check: (TrainingJob) throws -> Void = { _ in }
    ) throws {
        let job = try request.job(resuming: resuming)
        try check(job)
        // Before anything on disk changes.
        try Self.check(job: job, options: options)
        try self.init(
            job: job, directory: RunDirectory(path: request.output, resuming: resuming),
            options: options, log: log, samples: samples, board: board)
    }

    /// Raises the term, binds the port and begins to answer. It does none of this for a job that
    /// `check` refuses, nor for one that differs from the run to resume: workers would follow it.
    ///
    /// - Throws: as `check`; `NodeError.tokenRequired` for an address that others can reach,
    ///   `.portInUse` and others; `TrainingError.resumeDiffers`, or another for a damaged term.
    package init(
        job: TrainingJob, directory: RunDirectory, options: CoordinatorOptions, log: Log,
        samples: SampleSource, board: RunBoard = RunBoard()
    ) throws {
        try job.checkResume(in: directory)
        try Self.check(job: job, options: options)
        let name = try NetworkAddress(parsing: options.listen)
        let addresses = try name.resolved(for: .listening)
        if options.token == nil, !addresses.contains(where: \.isLoopback) {
            throw NodeError.tokenRequired(address: options.listen)
        }
        var settings = try Self.settings(job)
        // From here on the disk changes.
        let identity = try RunIdentity(
            job: job, term: directory.nextTerm(first: Self.randomTerm()),
            start: SystemRandomness.bytes(16))
        let ownIncarnation = try SystemRandomness.bytes(16)
        settings.ownIncarnation = ownIncarnation
        settings.maximumUnchecked = min(
            settings.maximumUnchecked,
            CoordinatorMemory.unchecked(gradientBytes: identity.mostGradientBytes))
        let memory = CoordinatorMemory(
            parameterCount: job.shape.layout.count, codec: job.configuration.gradientCodec,
            microBatches: job.plan.mostMicroBatches, local: LocalBounds(job))
        log.info(memory.sentence)
        let network = try CoordinatorNetwork(
            name, addresses, identity: identity, options: options, settings: settings, log: log)
        self.init(
            job: job, directory: directory, network: network, options: options,
            ownIncarnation: ownIncarnation, log: log, samples: samples, board: board)
        self.settings.admitsOtherEngines = options.admitsOtherEngines
    }

    /// Refuses what the command line and the files that it names rule out: an invalid address, more
    /// workers than there are descriptors for, an adapter that no message can hold.
    ///
    /// Changes nothing on disk: call it before the output directory is made.
    ///
    /// - Throws: `SocketError.addressInvalid`, `.tooFewFiles`, `.adapterTooLarge`;
    ///   `TrainingError.badCombination` for local steps with other engines.
    package static func check(job: TrainingJob, options: CoordinatorOptions) throws {
        _ = try NetworkAddress(parsing: options.listen)
        _ = try settings(job)
        // A state that another engine has rebuilt would not have its name.
        if job.local != nil, options.admitsOtherEngines {
            throw TrainingError.badCombination(
                flag: "admit-other-engines",
                problem: .excludes(RecipeOptions.table.localSteps.description.name))
        }
        // Nor would what it has computed of the base model be that of the run.
        if job.configuration.preferenceLoss?.kind == .dpo, options.admitsOtherEngines {
            throw TrainingError.badCombination(
                flag: "admit-other-engines",
                problem: .excludes("\(RecipeOptions.table.loss.description.name) dpo"))
        }
        try RunIdentity.checkSizes(
            parameterCount: job.shape.layout.count, codec: job.configuration.gradientCodec,
            local: LocalBounds(job))
        try RoundWork.check(job)
    }

    private static func settings(_ job: TrainingJob) throws -> CoordinatorSettings {
        var settings = CoordinatorSettings(
            minimumWorkers: job.configuration.minWorkers, patience: job.configuration.patience)
        try settings.fit(ProcessFigures.connectionRoom())
        return settings
    }

    /// A random first term, 1 ... 2^31, so that workers can tell a run from an earlier one in the
    /// same place with the same options.
    private static func randomTerm() throws -> UInt32 {
        try SystemRandomness.bytes(4).reduce(0) { $0 << 8 | UInt32($1) } / 2 + 1
    }

    /// Runs to the end of the plan and says goodbye to the workers.
    ///
    /// - Returns: how the run ended, and the loss on the test rows, if there are any.
    /// - Throws: what `TrainingLoop` throws; `NodeError.workersMissing` when too few workers joined
    ///   in time.
    package func run(
        report: @escaping (TrainingLoop.Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        defer { network.stop() }
        let local = LocalWorkers(
            threads: options.localWorkers, address: address, token: options.token,
            incarnation: ownIncarnation, job: job, version: Version.text, log: log)
        do {
            let ending = try train(report: report, shouldStop: shouldStop)
            network.farewell(
                ending.outcome.isComplete
                    ? Leave(reason: .complete, detail: "the run is complete")
                    : Leave(reason: .interrupted, detail: "the coordinator was asked to stop"))
            local.end()
            return ending
        } catch {
            network.farewell(Leave(ending: error))
            local.end()
            throw error
        }
    }

    /// Runs the loop over the network, without local workers and without a farewell.
    ///
    /// - Parameters:
    ///   - report: as `run` has it.
    ///   - shouldStop: as `run` has it.
    /// - Returns: how the run ended.
    /// - Throws: as `run`.
    package func train(
        report: @escaping (TrainingLoop.Event) throws -> Void,
        shouldStop: @escaping @Sendable () -> Bool
    ) throws -> RunEnding {
        let shellHandle = network.shellHandle
        let source = ClusterSource(
            shellHandle: shellHandle, inbox: network.inbox, recipe: job.workRecipe,
            configuration: job.configuration, initial: job.initial.values, local: job.local,
            samples: samples.maker(of: job, threads: nil), shouldStop: shouldStop)
        board.prepared(job, output: directory.path)
        shellHandle.note(board.progress)
        board.attach { shellHandle.view() }
        // What workers say of the reference is this run's alone.
        let references = ReferenceCache(
            directory: directory.references, calls: directory.store.calls,
            check: { [directory] in try directory.checkTerm() })
        return try RunAssembly(
            job: job, directory: directory, source: source, references: references,
            settings: settings
        ).run(
            report: { [board, directory, log] event in
                switch event {
                case .loop(let event):
                    try board.note(event, in: directory.store)
                    shellHandle.note(board.progress)
                    try report(event)
                case .references(let count): log.info(References.sentence(rows: count))
                case .warning(let text): log.warning(text)
                case .memory, .features, .loaded, .ready, .trained, .measuringKept: break
                }
            }, shouldStop: shouldStop)
    }
}

extension Leave {
    /// What workers are told by a coordinator that ends with an error.
    ///
    /// What `--resume` would meet again is the run's end: wrong options or data, a loss that is not
    /// finite (the same numbers come again), results that were wrong each time. After anything else
    /// they learn as little as from SIGKILL, and wait for its return as long as their patience: a
    /// disk that is full, a file or memory that the system refuses, workers that are missing or
    /// have lost a state, another coordinator that has taken over, a bug.
    init(ending error: any Error) {
        let explanation = (error as? any Explained)?.explanation
        let isFinal = [.usage, .badData].contains(explanation?.status)
        self.init(
            reason: isFinal ? .failed : .interrupted,
            detail: explanation?.what ?? String(describing: error))
    }
}
