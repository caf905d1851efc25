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
/// with the same bytes. A trainer computes and reads on its own threads, not on Swift's pool.
///
/// If the system refuses memory for a large buffer during a run, the process ends with status 74
/// and a line on standard error, as `skein` does; what the run needs to resume is on disk.
public final class Trainer: Sendable {
    private let request: @Sendable () throws -> RunRequest
    private let adapter: Adapter?
    let control = RunControl()

    /// - Parameters:
    ///   - recipe: What shapes the result.
    ///   - model: The base model.
    ///   - data: The rows.
    ///   - output: The run directory, for adapter, checkpoints and ledger; created if missing.
    ///   - machine: How this machine is used.
    ///   - adapter: The adapter to start from, of the recipe's shape; nil: a random one.
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

    /// A run requested on the command line.
    package init(_ request: RunRequest) {
        self.request = { request }
        adapter = nil
    }

    /// The events from now until the run ends. Each access begins a new sequence, which drops its
    /// oldest events when more than 4,096 wait. After the run the sequence is empty.
    public var events: some AsyncSequence<TrainingEvent, Never> & Sendable {
        control.feed.stream()
    }

    /// Trains from the first step to the last. A trainer can run only once.
    ///
    /// - Returns: How the run ended; not complete if it was cancelled before its last step.
    /// - Throws: `SkeinError`, for instance if the output directory already holds a run;
    ///   `CancellationError` if it is cancelled before the weights are loaded.
    public func run() async throws -> Outcome { try await start(resuming: false) }

    /// Continues from the newest valid checkpoint in the output directory; without one, begins.
    ///
    /// - Returns: As `run()`.
    /// - Throws: As `run()`, and `SkeinError` if that run has another recipe, model or data.
    public func resume() async throws -> Outcome { try await start(resuming: true) }

    /// Stops the run after the current step, with a checkpoint, or while it still loads.
    public func cancel() { control.cancel() }

    private func start(resuming: Bool) async throws -> Outcome {
        try control.begin()
        return try await control.run("skein-train") { [self, control] in
            try control.checkCancellation()
            let run = try prepare(resuming: resuming)
            control.feed.prepared(run.job)
            let ending = try run.run(
                report: { event in
                    switch event {
                    case .loop(let event):
                        for event in TrainingEvent.events(of: event) { control.feed.send(event) }
                    case .warning(let text): control.feed.send(.warning(text))
                    case .memory, .features, .loaded, .references, .ready, .trained, .measuringKept:
                        break
                    }
                }, shouldStop: { control.shouldStop })
            return try Outcome(ending)
        }
    }

    /// Reads and checks everything. This and the run that it returns use the calling thread.
    package func prepare(resuming: Bool) throws -> TrainingRun {
        let run = try TrainingRun(request(), resuming: resuming, samples: .generating)
        try adapter?.checkUnchanged(run.job)
        return run
    }
}

extension RunRequest {
    /// What a `Trainer` or a `Coordinator` is asked for; `cluster` is nil for one process.
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
            output: output, tokenCache: machine.tokenCache, unnamed: recipe.unnamed)
    }
}
