import Foundation
import SkeinBasics
import SkeinRows
import SkeinTraining
import Synchronization

/// The state of a training that can be left and taken up again.
///
/// `AdapterTrainer` makes or restores one, and its `resume` begins a task that trains it. A session
/// is small: weights are loaded by its task, and all that it needs to continue is in its directory.
public final class TrainingSession: Sendable {
    /// What a session is doing, or would do next.
    public enum Phase: String, Sendable, Codable, CaseIterable {
        /// Nothing is done yet.
        case initialized
        /// Rows are read and tokenized.
        case extractingFeatures
        /// The adapter is trained.
        case training
        /// The validation or test rows are measured.
        case evaluating
        /// The machine's sample prompts are answered.
        case inferencing
    }

    /// Where the rows of a session came from.
    public struct ExtractedFeatures: Sendable, Equatable {
        /// Rows of all files.
        public let rows: Int
        /// Rows that the last task parsed and tokenized; the others' tokens were on disk.
        public let tokenizedRows: Int
    }

    /// What is trained; `recipe.iterations` has the session's.
    public let parameters: AdapterTrainer.Parameters
    /// Where, and how often to report and save.
    public let sessionParameters: SessionParameters
    /// When the session was made.
    public let date: Date

    let directory: SessionDirectory
    let dataset: Dataset

    struct State: Sendable {
        var phase = Phase.initialized
        var iteration = 0
        var checkpoints: [Checkpoint] = []
        var features: ExtractedFeatures?
        /// The session whose tokens must do; nil: what is not there is tokenized.
        var reusedDirectory: String?
    }

    let state = Mutex(State())

    init(
        directory: SessionDirectory, parameters: AdapterTrainer.Parameters,
        sessionParameters: SessionParameters, dataset: Dataset, date: Date
    ) {
        var parameters = parameters
        parameters.machine.report(every: sessionParameters.reportInterval)
        parameters.machine.checkpointEvery = sessionParameters.checkpointInterval
        self.directory = directory
        self.parameters = parameters
        self.sessionParameters = sessionParameters
        self.dataset = dataset
        self.date = date
    }

    /// What the session is doing. It is `initialized` until a task begins; of a restored session it
    /// is that of the newest checkpoint.
    public var phase: Phase { state.withLock(\.phase) }

    /// How far the phase is: rows read, training iterations done, epochs evaluated, or sample
    /// prompts answered.
    public var iteration: Int { state.withLock(\.iteration) }

    /// The session directory. A temporary one is there as long as the session, its task or its
    /// result.
    public var url: URL { URL(fileURLWithPath: directory.path) }

    /// Where the rows of the last task came from; nil until they are read.
    public var extractedFeatures: ExtractedFeatures? { state.withLock(\.features) }

    /// The checkpoints on disk, oldest first: the newest `Machine.keepCheckpoints`, and that of the
    /// best validation.
    public var checkpoints: [Checkpoint] { state.withLock(\.checkpoints) }

    /// Removes checkpoints. The session then continues from the newest one that is left, or from the
    /// beginning, and ends with the same adapter.
    ///
    /// - Parameter predicate: True for a checkpoint to remove.
    /// - Throws: `SkeinError` while a task trains the session, or if a file cannot be removed.
    public func removeCheckpoints(_ predicate: (Checkpoint) throws -> Bool) throws {
        let removed = try checkpoints.filter(predicate)
        try SkeinError.wrapping {
            let place = try BusyDirectories.enter(directory.path)
            defer { BusyDirectories.leave(place) }
            // Holds the lock, so that no other process can begin meanwhile.
            let locked = try RunDirectory(path: directory.path, resuming: true)
            try withExtendedLifetime(locked) {
                for checkpoint in removed {
                    try DiskStore().remove(directory.checkpoints.path(ofStep: checkpoint.iteration))
                }
                try takeUp()
            }
        }
    }

    // MARK: What a task uses

    /// What a run in this directory is asked for.
    ///
    /// - Throws: `TrainingError.badOption`.
    func request() throws -> RunRequest {
        var machine = parameters.machine
        if machine.reusesFeatures, machine.featureDirectory == nil {
            machine.featureDirectory = directory.features
        }
        var request = try RunRequest(
            recipe: parameters.recipe, model: parameters.model, data: dataset,
            output: directory.path, machine: machine, cluster: nil,
            adapter: parameters.startingFrom)
        request.tokenCache =
            parameters.machine.keepsTokens ? TokenCache(directory: directory.tokens) : nil
        return request
    }

    func record() throws -> SessionRecord {
        var configuration = try request().configuration
        // The session's own directory is wherever the session is.
        configuration.featureDir = parameters.machine.featureDirectory
        var record = SessionRecord(
            date: date, workingDirectory: FileManager.default.currentDirectoryPath,
            model: parameters.model.path, data: dataset.path,
            keepsTokens: parameters.machine.keepsTokens, configuration: configuration)
        record.automatic = parameters.recipe.unnamed.intersection(MeasuredOption.automatic)
        return record
    }

    /// Takes them from the disk if a task of another object has changed the checkpoints. Those of this
    /// one's own tasks have metrics that the disk does not keep.
    func catchUp() throws {
        guard try Checkpoint.all(in: directory).map(\.iteration) != checkpoints.map(\.iteration)
        else { return }
        try takeUp()
    }

    /// Takes phase, iteration and checkpoints from the disk.
    func takeUp() throws {
        let found = try Checkpoint.all(in: directory)
        let hasRun = DiskStore().exists(directory.run)
        state.withLock { state in
            state.checkpoints = found
            state.phase = hasRun ? .training : .initialized
            state.iteration = found.last?.iteration ?? 0
        }
    }
}
