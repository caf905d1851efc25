import Foundation
import SkeinBasics

/// Trains an adapter that is in use on more pairs, and makes a new version of it.
///
/// The version is a folder of its own beside the adapter, and a session directory: if the program
/// is killed, `AdapterTrainer.restoreTrainingSession` continues it. The adapter that the task starts
/// from is not changed. The version is a function of model, adapter, pairs and parameters, however
/// often the task pauses.
public final class UpdateTask: Sendable {
    /// What a task is doing.
    public enum State: String, Sendable {
        /// Not begun, or paused in a progress handler: `resume()` goes on.
        case suspended
        case running
        /// `cancel()` was called; the task still writes its checkpoint.
        case cancelling
        case completed
        /// `error` says why.
        case failed
    }

    struct Progress: Sendable {
        var state = State.suspended
        var hasBegun = false
        /// In a progress handler, or after it without `resume()`.
        var isPaused = false
        var isCancelled = false
        var error: (any Error)?
        var session: TrainingSession?
        /// The learning rate of a step that a handler was told last.
        var toldRate: Double?
    }

    /// Names the task, in logs for instance.
    public let identifier = UUID().uuidString
    /// The adapter to start from.
    public let adapter: Adapter
    /// What is trained.
    public let parameters: AdapterTrainer.Parameters
    private let pairs: TrainingPairs
    private let handlers: ProgressHandlers
    private let progress = Condition(Progress())
    private let flag = CancelFlag()
    private let settlement = Settlement<TrainedAdapter>()

    /// Reads the adapter on the calling thread.
    ///
    /// - Parameters:
    ///   - adapter: The adapter to start from.
    ///   - model: Its base model.
    ///   - pairs: The rows to train on.
    ///   - parameters: What shapes the result; nil: the defaults, with rank, alpha, target modules
    ///     and layers of the adapter.
    ///   - machine: How this machine is used.
    ///   - progressHandlers: What is called while the task runs.
    /// - Throws: `SkeinError` for a value that is not allowed, for no pairs, or for an adapter of
    ///   another kind of model or of another shape than the parameters'.
    public init(
        adapter: Adapter, model: Model, pairs: TrainingPairs, parameters: Recipe? = nil,
        machine: Machine = Machine(), progressHandlers: ProgressHandlers = ProgressHandlers()
    ) throws {
        let recipe = try parameters ?? Recipe(continuing: adapter, of: model)
        try SkeinError.wrapping {
            _ = try recipe.checked()
            try machine.check()
            try pairs.check()
            try adapter.check(for: model, recipe)
        }
        self.adapter = adapter
        self.parameters = AdapterTrainer.Parameters(
            model: model, recipe: recipe, machine: machine, startingFrom: adapter)
        self.pairs = pairs
        handlers = progressHandlers
    }

    public var state: State { read(\.state) }

    /// Why the task failed; `CancellationError` if it was cancelled.
    public var error: (any Error)? { read(\.error) }

    /// The folder of the new version; nil before the task begins.
    public var version: URL? { read(\.session)?.url }

    /// Begins the task, or lets it go on after a progress handler; otherwise does nothing.
    ///
    /// Pairs in memory are written on the calling thread. What fails there makes the state `failed`.
    public func resume() {
        let begins = progress.change { progress in
            guard progress.error == nil, !progress.isCancelled, progress.state != .completed else {
                return false
            }
            progress.state = .running
            progress.isPaused = false
            defer { progress.hasBegun = true }
            return !progress.hasBegun
        }
        if begins { begin() }
    }

    /// Like `resume()`, for parameters that are as they were.
    ///
    /// - Parameter values: Each must be the recipe's, or as the context told it last: under a
    ///   schedule, that has the learning rate of the step. A run is a function of its recipe, so
    ///   nothing else can change it while it goes on.
    /// - Throws: `SkeinError` for any other value; the task stays as it is.
    public func resume(withParameters values: [Parameter: Double]) throws {
        let own = parameters.recipe.values(learningRate: parameters.recipe.learningRate)
        let told = read(\.toldRate)
        for (key, value) in values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if own[key] == value || key == .learningRate && value == told { continue }
            let recorded = own[key].map { String($0) } ?? "left to the run"
            throw SkeinError(
                code: .usage,
                what: "`\(key.rawValue)` is \(recorded) and cannot become \(value) while a task "
                    + "runs",
                place: "UpdateTask",
                remedy: "cancel it and begin another task with this recipe; for a learning rate "
                    + "that changes by plan, use `Recipe.schedule` and `warmupSteps`")
        }
        resume()
    }

    /// Stops the task after the current step, with a checkpoint. It has then failed with a
    /// `CancellationError`; the version's folder stays, for `restoreTrainingSession`.
    public func cancel() {
        BusyDirectories.cancel(flag)
        let wasIdle = progress.change { progress in
            guard progress.error == nil, progress.state != .completed else { return false }
            progress.isCancelled = true
            progress.state = .cancelling
            defer { progress.hasBegun = true }
            return !progress.hasBegun
        }
        if wasIdle { finish(.failure(CancellationError())) }
    }

    /// The new version, when the task is over, after its completion handler. If the task that waits
    /// is cancelled, so is this one.
    ///
    /// - Throws: `SkeinError`; `CancellationError`.
    public var result: TrainedAdapter {
        get async throws { try await settlement.value(onCancel: cancel) }
    }

    private func read<Value>(_ path: KeyPath<Progress, Value>) -> Value {
        progress.change(waking: false) { $0[keyPath: path] }
    }

    private func begin() {
        do {
            let session = try makeSession()
            progress.change { $0.session = session }
            _ = try TrainingTask(
                session, flag: flag, pause: { [self] in pause($0) },
                ended: { [self] in finish($0) })
        } catch {
            finish(.failure(error))
        }
    }

    private func makeSession() throws -> TrainingSession {
        let folder = try SkeinError.wrapping { try AdapterVersion.next(to: adapter.path) }
        let url = URL(fileURLWithPath: folder)
        do {
            return try AdapterTrainer.makeTrainingSession(
                pairs: pairs, parameters: parameters,
                sessionParameters: SessionParameters(
                    sessionDirectory: url, reportInterval: 1,
                    checkpointInterval: max(1, parameters.machine.checkpointEvery)))
        } catch {
            // The folder is this task's, and without a session it is of no use to any other. What
            // cannot be removed is empty or nearly so; the error that counts is the other one.
            if !AdapterTrainer.hasSession(in: url) { try? DiskStore().remove(folder) }
            throw error
        }
    }

    /// On the task's thread: calls the handler and waits until the task may go on.
    private func pause(_ moment: SessionRun.Moment) {
        let (event, metrics, rate) = Context.facts(of: moment)
        guard let handler = handlers.progressHandler, handlers.events.contains(event) else {
            return
        }
        let pauses = progress.change { progress in
            guard !progress.isCancelled else { return false }
            progress.isPaused = true
            progress.state = .suspended
            if let rate { progress.toldRate = rate }
            return true
        }
        guard pauses else { return }
        handler(context(event, metrics, rate))
        progress.wait { $0.isPaused && !$0.isCancelled ? nil : () }
    }

    private func finish(_ result: Result<TrainedAdapter, any Error>) {
        progress.change { progress in
            switch result {
            case .success: progress.state = .completed
            case .failure(let error):
                progress.state = .failed
                progress.error = error
            }
        }
        let adapter: Adapter?
        switch result {
        case .success(let trained): adapter = trained.adapter
        case .failure: adapter = nil
        }
        handlers.completionHandler(context(.completion, [:], nil, adapter))
        settlement.settle(result)
    }

    private func context(
        _ event: Events, _ metrics: [Metric: Double], _ rate: Double?, _ adapter: Adapter? = nil
    ) -> Context {
        let recipe = parameters.recipe
        return Context(
            task: self, event: event, metrics: metrics,
            parameters: recipe.values(learningRate: rate ?? recipe.learningRate), adapter: adapter)
    }
}
