import SkeinBasics
import SkeinCluster
import SkeinTraining

/// Computes gradients for a `Coordinator` or a `skein coordinator`, here or on another machine.
///
/// It needs an address and the token: rows and parameters come from the coordinator, and so does
/// the model if none is given. It loads the weights once it is let in, and connects again by itself
/// when the connection is lost.
public final class Worker: Sendable {
    /// How a worker ended without an error.
    public enum Ending: Sendable, Equatable {
        /// The run is complete.
        case complete
        /// It was cancelled; the run continues without it.
        case left
    }

    private let machine: Machine
    private let options: WorkerOptions
    private let log: Log
    private let control = RunControl()

    /// - Parameters:
    ///   - address: The coordinator's, `HOST:PORT`.
    ///   - token: The secret that coordinator and workers share; nil: none; on loopback none is needed.
    ///   - model: The run's base model, opened again by its path; nil: fetched from the
    ///     coordinator by its hash and kept in the cache directory.
    ///   - name: The worker's in ledger and status; nil: made of host, process and a random number.
    ///   - patience: How long to try to reach the coordinator.
    ///   - machine: How this machine is used; only `threads`, `weights`, `log` and what it
    ///     says about features matter.
    public init(
        coordinator address: String, token: [UInt8]? = nil, model: Model? = nil,
        name: String? = nil, patience: Duration = .seconds(60), machine: Machine = Machine()
    ) {
        self.machine = machine
        options = WorkerOptions(
            coordinator: address, token: token, modelPath: model?.path, threads: machine.threads,
            name: name, patience: patience, weights: machine.values.weights,
            features: machine.features)
        log = machine.roomLog
    }

    /// A worker requested on the command line.
    package init(_ options: WorkerOptions, log: Log) {
        machine = Machine()
        self.options = options
        self.log = log
    }

    /// Works until the run is complete, `cancel()` is called or the task is cancelled. Reconnects
    /// when the connection is lost. A worker can run only once.
    ///
    /// - Throws: `SkeinError` if the coordinator cannot be reached within the patience, refuses
    ///   this worker, or reports that the run has failed.
    public func run() async throws -> Ending {
        try control.begin()
        return try await control.run("skein-worker") { [self, control] in
            try machine.check()
            try options.check()
            return try work { control.shouldStop } == .complete ? .complete : .left
        }
    }

    /// Leaves after the current work is computed and handed in, or at once if there is none.
    public func cancel() { control.cancel() }

    /// Like `run()`, but on the calling thread and until `shouldDrain` returns true.
    package func work(
        on status: WorkerStatus = WorkerStatus(), until shouldDrain: @escaping @Sendable () -> Bool
    ) throws -> WorkerOutcome {
        try WorkerNode.run(
            options, log: log, version: Version.text, status: status, shouldDrain: shouldDrain)
    }
}
