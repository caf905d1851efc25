import SkeinBasics
import SkeinNodes
import SkeinTraining

/// Fine-tunes as `Trainer` does, with gradients that workers compute; they dial in over TCP.
///
/// Workers may be `Worker`s or `skein worker`s, on this machine or others; they join, leave and
/// return at any time, and the adapter stays the same.
public final class Coordinator: Sendable {
    private let request: @Sendable () throws -> RunRequest
    private let options: CoordinatorOptions
    private let log: Log
    private let adapter: Adapter?
    private let control = RunControl()
    private let place = AwaitedAddress()

    /// - Parameters:
    ///   - recipe: what shapes the result.
    ///   - model: the base model; workers without it fetch it from here.
    ///   - data: the rows.
    ///   - output: the run directory; it is made.
    ///   - cluster: where to listen, and whom to wait for.
    ///   - machine: how this machine is used.
    ///   - adapter: to begin with, of the recipe's shape; nil for a random one.
    public init(
        recipe: Recipe = Recipe(), model: Model, data: Dataset, output: String,
        cluster: Cluster = Cluster(), machine: Machine = Machine(),
        startingFrom adapter: Adapter? = nil
    ) {
        self.adapter = adapter
        request = {
            try cluster.check()
            return try RunRequest(
                recipe: recipe, model: model, data: data, output: output, machine: machine,
                cluster: cluster, adapter: adapter)
        }
        options = cluster.options
        log = machine.roomLog
    }

    /// A run that was asked for on the command line.
    package init(_ request: RunRequest, options: CoordinatorOptions, log: Log) {
        self.request = { request }
        adapter = nil
        self.options = options
        self.log = log
    }

    /// Where workers dial in, `HOST:PORT`: waits until the run listens.
    ///
    /// - Throws: what the run has thrown; `SkeinError` when it has ended; `CancellationError` when this
    ///   task is cancelled. Without a run it waits until somebody calls `run()`.
    public var address: String {
        get async throws { try await place.value() }
    }

    /// What happens from now on until the run ends; each use listens anew. A listener that is 4,096
    /// events late misses the oldest. After the run there is nothing to hear.
    public var events: some AsyncSequence<TrainingEvent, Never> & Sendable {
        control.feed.stream()
    }

    /// Trains from the beginning to the end. A coordinator runs once.
    ///
    /// - Returns: how it ended; after `cancel()`, or when the task was cancelled, it is not complete.
    /// - Throws: `SkeinError`, also when no worker comes within the cluster's patience;
    ///   `CancellationError` when it was stopped before it listened.
    public func run() async throws -> Outcome { try await start(resuming: false) }

    /// Continues from the newest good checkpoint in the output directory; begins where there is none.
    ///
    /// - Returns: as `run()`.
    /// - Throws: as `run()`; also when the run there has another recipe, model or data.
    public func resume() async throws -> Outcome { try await start(resuming: true) }

    /// Stops the run after the current step, with a checkpoint, or before its first one.
    public func cancel() { control.cancel() }

    private func start(resuming: Bool) async throws -> Outcome {
        // Before anything that only the run itself may say of its address.
        try control.begin()
        do {
            let outcome = try await control.run("skein-train") { [self, control] in
                try control.checkCancellation()
                let run = try prepare(resuming: resuming)
                control.feed.prepared(run.job)
                control.feed.send(.listening(address: run.address))
                place.set(.success(run.address))
                let ending = try run.run(
                    report: { event in
                        for event in TrainingEvent.events(of: event) { control.feed.send(event) }
                    }, shouldStop: { control.shouldStop })
                return try Outcome(ending)
            }
            place.set(
                .failure(
                    SkeinError(code: .usage, what: "the run has ended: nobody listens any more")))
            return outcome
        } catch {
            // Whoever waits for the address is to know why there is none.
            place.set(.failure(error))
            throw error
        }
    }

    /// Reads and checks everything and begins to listen, on the calling thread; what it returns runs
    /// there, too.
    package func prepare(resuming: Bool) throws -> CoordinatorRun {
        try CoordinatorRun(
            request(), options: options, resuming: resuming, log: log,
            check: { try adapter?.checkUnchanged($0) })
    }
}
