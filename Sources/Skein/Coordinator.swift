import SkeinBasics
import SkeinCluster
import SkeinTraining

/// Fine-tunes as `Trainer` does, with gradients computed by workers that connect over TCP.
///
/// Workers are `Worker`s or `skein worker` processes, on this machine or on others. They may join,
/// leave and return at any time; the adapter stays the same. `address` is what they connect to,
/// once the run listens. The coordinator adds gradients and keeps the adapter, the optimizer's
/// state and the checkpoints; it computes gradients itself only with `Cluster.localThreads`.
public final class Coordinator: Sendable {
    private let request: @Sendable () throws -> RunRequest
    private let options: CoordinatorOptions
    private let log: Log
    private let adapter: Adapter?
    private let control = RunControl()
    private let place = Settlement<String>()

    /// - Parameters:
    ///   - recipe: What shapes the result.
    ///   - model: The base model. Workers without it fetch it from here.
    ///   - data: The rows.
    ///   - output: The run directory; created if missing.
    ///   - cluster: Where to listen, and which workers to wait for.
    ///   - machine: How this machine is used.
    ///   - adapter: The adapter to start from, of the recipe's shape; nil: a random one.
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

    /// A run requested on the command line.
    package init(_ request: RunRequest, options: CoordinatorOptions, log: Log) {
        self.request = { request }
        adapter = nil
        self.options = options
        self.log = log
    }

    /// The address that workers connect to, `HOST:PORT`. Waits until the run listens, even if it
    /// has not begun.
    ///
    /// - Throws: What the run has thrown; `SkeinError` if the run has ended; `CancellationError` if
    ///   this task is cancelled.
    public var address: String {
        get async throws { try await place.value() }
    }

    /// The events from now until the run ends. Each access begins a new sequence, which drops its
    /// oldest events when more than 4,096 wait. After the run the sequence is empty.
    public var events: some AsyncSequence<TrainingEvent, Never> & Sendable {
        control.feed.stream()
    }

    /// Trains from the first step to the last. A coordinator can run only once.
    ///
    /// - Returns: How the run ended; not complete if it was cancelled before its last step.
    /// - Throws: `SkeinError`, for instance if workers are missing for longer than the cluster's
    ///   patience; `CancellationError` if it is cancelled before it listens.
    public func run() async throws -> Outcome { try await start(resuming: false) }

    /// Continues from the newest valid checkpoint in the output directory; without one, begins.
    ///
    /// - Returns: As `run()`.
    /// - Throws: As `run()`, and `SkeinError` if that run has another recipe, model or data.
    public func resume() async throws -> Outcome { try await start(resuming: true) }

    /// Stops the run after the current step, or at once while workers are missing, and saves a
    /// checkpoint of the steps that are done.
    public func cancel() { control.cancel() }

    private func start(resuming: Bool) async throws -> Outcome {
        // Outside of `do`: a second call must not change the address of the first.
        try control.begin()
        do {
            let outcome = try await control.run("skein-train") { [self, control] in
                try control.checkCancellation()
                let run = try prepare(resuming: resuming)
                control.feed.prepared(run.job)
                control.feed.send(.listening(address: run.address))
                place.settle(.success(run.address))
                let ending = try run.run(
                    report: { event in
                        for event in TrainingEvent.events(of: event) { control.feed.send(event) }
                    }, shouldStop: { control.shouldStop })
                return try Outcome(ending)
            }
            place.settle(
                .failure(
                    SkeinError(code: .usage, what: "the run has ended, so it has no address")))
            return outcome
        } catch {
            // Tells those who wait for the address why there is none.
            place.settle(.failure(error))
            throw error
        }
    }

    /// Reads and checks everything and begins to listen. This and the run that it returns use the
    /// calling thread.
    package func prepare(
        resuming: Bool, board: RunBoard = RunBoard()
    ) throws -> CoordinatorRun {
        try CoordinatorRun(
            request(), options: options, resuming: resuming, log: log, samples: .generating,
            board: board,
            check: { try adapter?.checkUnchanged($0) })
    }
}
