import SkeinBasics
import SkeinTraining

/// Fine-tunes a base model with LoRA in this process.
///
/// ```swift
/// let trainer = Trainer(
///     model: try Model(at: "SmolLM2-135M-Instruct.Q4_1.gguf"), data: Dataset(at: "pairs.jsonl"),
///     output: "run")
/// let outcome = try await trainer.run()
/// print(outcome.adapter?.sha256 ?? "")
/// ```
///
/// The adapter is a function of recipe, model and data: `skein train`, a cluster and this class end
/// with the same bytes. Threads of its own compute and read; Swift's pool is never blocked.
///
/// When the system refuses memory for a large buffer in the middle of a run, the process ends with
/// status 74 and a line on standard error, as `skein` does; what a run needs to go on is on disk.
public final class Trainer: Sendable {
    private let request: @Sendable () throws -> RunRequest
    private let adapter: Adapter?
    let control = RunControl()

    /// - Parameters:
    ///   - recipe: what shapes the result.
    ///   - model: the base model.
    ///   - data: the rows.
    ///   - output: the run directory; it is made. It holds the adapter, checkpoints and a ledger.
    ///   - machine: how this machine is used.
    ///   - adapter: to begin with, of the recipe's shape; nil for a random one.
    public init(
        recipe: Recipe = Recipe(), model: Model, data: Dataset, output: String,
        machine: Machine = Machine(), startingFrom adapter: Adapter? = nil
    ) {
        self.adapter = adapter
        request = {
            try RunRequest(
                recipe: recipe, model: model, data: data, output: output, machine: machine,
                cluster: nil, adapter: adapter)
        }
    }

    /// A run that was asked for on the command line.
    package init(_ request: RunRequest) {
        self.request = { request }
        adapter = nil
    }

    /// What happens from now on until the run ends; each use listens anew. A listener that is 4,096
    /// events late misses the oldest. After the run there is nothing to hear.
    public var events: some AsyncSequence<TrainingEvent, Never> & Sendable {
        control.feed.stream()
    }

    /// Trains from the beginning to the end. A trainer runs once.
    ///
    /// - Returns: how it ended; after `cancel()`, or when the task was cancelled, it is not complete.
    /// - Throws: `SkeinError`, for instance when the output directory holds a run already;
    ///   `CancellationError` when it was stopped before the weights were loaded.
    public func run() async throws -> Outcome { try await start(resuming: false) }

    /// Continues from the newest good checkpoint in the output directory; begins where there is none.
    ///
    /// - Returns: as `run()`.
    /// - Throws: as `run()`; also when the run there has another recipe, model or data.
    public func resume() async throws -> Outcome { try await start(resuming: true) }

    /// Stops the run after the current step, with a checkpoint, or before its first one.
    public func cancel() { control.cancel() }

    private func start(resuming: Bool) async throws -> Outcome {
        try control.begin()
        return try await control.run("skein-train") { [self, control] in
            try control.checkCancellation()
            let run = try prepare(resuming: resuming)
            control.feed.prepared(run.job)
            let ending = try run.run(
                report: { event in
                    if case .loop(let event) = event {
                        for event in TrainingEvent.events(of: event) { control.feed.send(event) }
                    }
                }, shouldStop: { control.shouldStop })
            return try Outcome(ending)
        }
    }

    /// Reads and checks everything on the calling thread; what it returns runs there, too.
    package func prepare(resuming: Bool) throws -> TrainingRun {
        let run = try TrainingRun(request(), resuming: resuming)
        try adapter?.checkUnchanged(run.job)
        return run
    }
}

extension RunRequest {
    /// As the library's `Trainer` and `Coordinator` are given it; `cluster` is nil for one process.
    ///
    /// - Throws: `TrainingError.badOption`.
    init(
        recipe: Recipe, model: Model, data: Dataset, output: String, machine: Machine,
        cluster: Cluster?, adapter: Adapter?
    ) throws {
        var configuration = try recipe.checked()
        configuration.inputs.validData = data.validation
        configuration.inputs.testData = data.test
        configuration.inputs.skipBadLines = data.skipsBadLines
        configuration.inputs.initAdapter = adapter?.path
        configuration.machine = machine.values
        if let cluster { configuration.cluster = cluster.values }
        try configuration.validate()
        self.init(
            configuration: configuration, model: .opened(model.directory), data: data.path,
            output: output, tokenCache: machine.tokenCache)
    }
}
