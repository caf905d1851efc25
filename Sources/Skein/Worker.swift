import SkeinBasics
import SkeinNodes
import SkeinTraining

/// Computes gradients for a `Coordinator` or a `skein coordinator`, here or on another machine.
public final class Worker: Sendable {
    /// How a worker ended well.
    public enum Ending: Sendable, Equatable {
        /// The run is complete.
        case complete
        /// It was asked to leave; the others go on.
        case left
    }

    private let machine: Machine
    private let options: WorkerOptions
    private let log: Log
    private let control = RunControl()

    /// - Parameters:
    ///   - address: of the coordinator, `HOST:PORT`.
    ///   - token: the secret that all share; nil: none, as on loopback.
    ///   - model: the run's base model, opened again by its path; nil: fetched from the coordinator, by
    ///     hash, and kept in the cache directory.
    ///   - name: in ledger and status; nil: made of host, process and chance.
    ///   - patience: how long to try to reach a coordinator that is gone.
    ///   - machine: threads, weights and log are used.
    public init(
        coordinator address: String, token: [UInt8]? = nil, model: Model? = nil,
        name: String? = nil, patience: Duration = .seconds(60), machine: Machine = Machine()
    ) {
        self.machine = machine
        options = WorkerOptions(
            coordinator: address, token: token, modelPath: model?.path, threads: machine.threads,
            name: name, patience: patience, weights: machine.values.weights)
        log = machine.roomLog
    }

    /// A worker that was asked for on the command line.
    package init(_ options: WorkerOptions, log: Log) {
        machine = Machine()
        self.options = options
        self.log = log
    }

    /// Works until the run is complete, `cancel()` is called or the task is cancelled; returns by itself
    /// when the connection is lost. A worker runs once.
    ///
    /// - Throws: `SkeinError` when the coordinator cannot be reached within the patience, does not
    ///   let this worker in, or says that the run has failed.
    public func run() async throws -> Ending {
        try control.begin()
        return try await control.run("skein-worker") { [self, control] in
            try machine.check()
            try options.check()
            return try work { control.shouldStop } == .complete ? .complete : .left
        }
    }

    /// Leaves when what is being computed is done and handed in; a run that has not begun ends at once.
    public func cancel() { control.cancel() }

    /// As `run()`, on the calling thread, until `shouldDrain` says so.
    package func work(until shouldDrain: @escaping @Sendable () -> Bool) throws -> WorkerOutcome {
        try WorkerNode.run(options, log: log, version: Version.text, shouldDrain: shouldDrain)
    }
}
