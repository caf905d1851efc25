import Foundation
import SkeinBasics
import SkeinTraining

/// Trains adapters in sessions that outlive the program.
///
/// ```swift
/// let model = try Model(at: "SmolLM2-135M-Instruct.Q4_1.gguf")
/// let task = try AdapterTrainer.train(
///     pairs: .file("pairs.jsonl"), parameters: AdapterTrainer.Parameters(model: model),
///     sessionParameters: SessionParameters(sessionDirectory: URL(fileURLWithPath: "session")))
/// for await progress in task.progress { print(progress.phase, progress.itemCount) }
/// print(try await task.result.adapter.sha256)
/// ```
///
/// A session directory is a run directory of `skein train`: either continues what the other began,
/// and the adapter is a function of model, data and recipe alone. A task computes on threads of its
/// own, not on Swift's pool.
public enum AdapterTrainer {
    /// What a session trains. All but `machine` shape the adapter.
    public struct Parameters: Sendable {
        /// The base model.
        public var model: Model
        /// What shapes the result.
        public var recipe: Recipe
        /// How this machine is used. The session's intervals replace `checkpointEvery`. Tokens are
        /// kept in the session directory, unless `keepsTokens` is false.
        public var machine: Machine
        /// The adapter to start from, of the recipe's shape; nil: a random one.
        public var startingFrom: Adapter?

        public init(
            model: Model, recipe: Recipe = Recipe(), machine: Machine = Machine(),
            startingFrom adapter: Adapter? = nil
        ) {
            self.model = model
            self.recipe = recipe
            self.machine = machine
            startingFrom = adapter
        }
    }

    /// Makes a session and begins to train.
    ///
    /// - Parameters:
    ///   - pairs: The rows; a share of them, or a file of their own, is for validation.
    ///   - parameters: What to train.
    ///   - sessionParameters: Where, and how often to report and save.
    /// - Returns: The task, which has begun.
    /// - Throws: As `makeTrainingSession`.
    public static func train(
        pairs: TrainingPairs, parameters: Parameters,
        sessionParameters: SessionParameters = SessionParameters()
    ) throws -> TrainingTask {
        try resume(
            makeTrainingSession(
                pairs: pairs, parameters: parameters, sessionParameters: sessionParameters))
    }

    /// Makes a session; nothing is trained yet. Writes its record, and pairs that are given in
    /// memory, on the calling thread.
    ///
    /// - Parameters:
    ///   - pairs: The rows.
    ///   - parameters: What to train.
    ///   - sessionParameters: Where, and how often to report and save.
    /// - Returns: The session, in phase `initialized`.
    /// - Throws: `SkeinError` for a value that is not allowed, or if the directory already holds a
    ///   session or anything else, also one that another thread or program is just making.
    public static func makeTrainingSession(
        pairs: TrainingPairs, parameters: Parameters,
        sessionParameters: SessionParameters = SessionParameters()
    ) throws -> TrainingSession {
        try SkeinError.wrapping {
            try sessionParameters.check()
            var parameters = parameters
            if let iterations = sessionParameters.iterations {
                parameters.recipe.iterations = iterations
            }
            let directory = SessionDirectory(sessionParameters.sessionDirectory)
            _ = try parameters.recipe.checked()
            try parameters.machine.check()
            return try directory.begin(pairs) { dataset in
                TrainingSession(
                    directory: directory, parameters: parameters,
                    sessionParameters: sessionParameters, dataset: dataset, date: Date())
            }
        }
    }

    /// Whether a directory holds a session or a run of `skein train`, which
    /// `restoreTrainingSession` continues; `makeTrainingSession` refuses such a directory.
    ///
    /// It asks for the records only: restoring throws if they are damaged.
    public static func hasSession(in directory: URL) -> Bool {
        guard directory.isFileURL else { return false }
        let directory = SessionDirectory(directory)
        return [directory.record, directory.run].contains { DiskStore().exists($0) }
    }

    /// Restores a session from its directory, which may also be a run directory of `skein train`.
    /// Reads its records on the calling thread.
    ///
    /// - Parameters:
    ///   - sessionParameters: Where. `iterations` may be nil, else it must be what it was.
    ///   - model: The base model, if it has moved; its bytes must be what they were.
    ///   - dataset: The rows, if they have moved; their bytes must be what they were.
    ///   - machine: How this machine is used; nil: as recorded.
    ///   - adapter: The adapter that the session started from, if it has moved; its bytes must be
    ///     what they were.
    /// - Returns: The session, with the phase and iteration of its newest checkpoint.
    /// - Throws: `SkeinError` if there is nothing to restore.
    public static func restoreTrainingSession(
        sessionParameters: SessionParameters, model: Model? = nil, dataset: Dataset? = nil,
        machine: Machine? = nil, startingFrom adapter: Adapter? = nil
    ) throws -> TrainingSession {
        try SkeinError.wrapping {
            try sessionParameters.check()
            guard let url = sessionParameters.sessionDirectory else {
                throw SkeinError(
                    code: .usage, what: "there is no directory to restore a session from",
                    place: "SessionParameters", remedy: "set `sessionDirectory`")
            }
            let directory = SessionDirectory(url)
            let record = try SessionRecord(of: directory)
            let recipe = Recipe(record.configuration, unnamed: record.automatic)
            if let iterations = sessionParameters.iterations, iterations != recipe.iterations {
                let recorded = recipe.iterations.map { String($0) } ?? "all epochs"
                throw SkeinError(
                    code: .badData,
                    what: "the session was made for \(recorded) iterations, not \(iterations)",
                    place: directory.path,
                    remedy: "leave `iterations` nil, or begin another session")
            }
            let inputs = record.configuration.inputs
            if model == nil { try check(record.found(record.model), "model") }
            if dataset == nil { try check(record.found(record.data), "dataset") }
            let start = try startingAdapter(adapter, inputs.initAdapter.map(record.found), url)
            let session = TrainingSession(
                directory: directory,
                parameters: Parameters(
                    model: try model ?? Model(at: record.found(record.model)), recipe: recipe,
                    machine: machine
                        ?? Machine(record.configuration, keepsTokens: record.keepsTokens),
                    startingFrom: start),
                sessionParameters: sessionParameters,
                dataset: dataset
                    ?? Dataset(
                        at: record.found(record.data),
                        validation: inputs.validData.map(record.found),
                        test: inputs.testData.map(record.found), skipsBadLines: inputs.skipBadLines),
                date: record.date)
            try session.takeUp()
            return session
        }
    }

    private static func startingAdapter(
        _ given: Adapter?, _ recorded: String?, _ directory: URL
    ) throws -> Adapter? {
        guard let recorded else {
            guard given != nil else { return nil }
            throw SkeinError(
                code: .usage, what: "the session does not start from an adapter",
                place: directory.path,
                remedy: "leave `startingFrom` nil, or begin another session")
        }
        if let given { return given }
        try check(recorded, "startingFrom")
        return try Adapter(at: recorded)
    }

    private static func check(_ path: String, _ parameter: String) throws {
        guard !DiskStore().exists(path) else { return }
        throw SkeinError(
            code: .badData, what: "the session's `\(parameter)` is not there any more",
            place: path,
            remedy: "give restoreTrainingSession the `\(parameter)` where it is now")
    }

    /// Begins or continues a session, from its newest valid checkpoint.
    ///
    /// - Parameter session: One that no task trains, or only one that has been cancelled: the new task
    ///   waits for its end, on a thread of its own, and can be cancelled meanwhile.
    /// - Returns: The task, which has begun.
    /// - Throws: `SkeinError` if a task of this program already trains in its directory and has not been
    ///   cancelled. If another program does, the task's `result` throws.
    public static func resume(_ session: TrainingSession) throws -> TrainingTask {
        try TrainingTask(session)
    }
}
