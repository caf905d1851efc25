import SkeinBasics
import SkeinCoordination
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
        self.options = options
        self.log = log
    }

    /// Where workers dial in, `HOST:PORT`: waits until the run listens.
    ///
    /// - Throws: `SkeinError` when the run has ended; `CancellationError` when this task is cancelled.
    public var address: String {
        get async throws { try await place.value() }
    }

    /// As `Trainer.events`.
    public var events: some AsyncSequence<TrainingEvent, Never> & Sendable {
        control.feed.stream()
    }

    /// Trains from the beginning to the end.
    ///
    /// - Returns: how it ended; not complete after `cancel()`, or when the task was cancelled.
    /// - Throws: `SkeinError`, also when no worker comes within the cluster's patience.
    public func run() async throws -> Outcome { try await start(resuming: false) }

    /// Goes on from the newest good checkpoint in the output directory; begins where there is none.
    public func resume() async throws -> Outcome { try await start(resuming: true) }

    /// Stops after the current step, with a checkpoint. Before a run it stops the next one.
    public func cancel() { control.cancel() }

    private func start(resuming: Bool) async throws -> Outcome {
        try await control.run("skein-train") { [self, control] in
            place.begin()
            defer { place.end() }
            try control.checkCancellation()
            let run = try prepare(resuming: resuming)
            control.feed.send(.prepared(.init(run.job)))
            for warning in run.job.report.warnings { control.feed.send(.warning(warning.text)) }
            control.feed.send(.listening(address: run.address))
            place.set(run.address)
            let ending = try run.run(
                report: { event in
                    for event in TrainingEvent.events(of: event) { control.feed.send(event) }
                }, shouldStop: { control.shouldStop })
            return try Outcome(ending)
        }
    }

    /// Reads and checks everything and begins to listen, on the calling thread; what it returns runs
    /// there, too.
    package func prepare(resuming: Bool) throws -> CoordinatorRun {
        try CoordinatorRun(request(), options: options, resuming: resuming, log: log)
    }
}

extension Cluster {
    /// - Throws: `SkeinError` for a token or a patience that no cluster can work with.
    func check() throws {
        if let token, !TokenFile.allowedBytes.contains(token.count) {
            throw SkeinError(
                code: .usage, what: "the token is \(token.count) bytes long",
                remedy: "use one of \(TokenFile.allowedBytes.lowerBound) to "
                    + "\(TokenFile.allowedBytes.upperBound) bytes")
        }
        let lost = CoordinatorSettings().lostAfter
        guard patience > lost else {
            throw SkeinError(
                code: .usage, what: "the cluster's patience is \(patience)",
                remedy: "use more than \(lost), after which a silent worker counts as lost")
        }
    }
}
