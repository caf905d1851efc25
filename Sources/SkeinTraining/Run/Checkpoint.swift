import SkeinBasics
import SkeinFormats
import SkeinModels

/// The progress of a run beside its vectors: state.json.
///
/// No times, no paths and no byte offsets of logs: equal states give equal bytes, whoever computed
/// them and however often the run was killed. Logs are cut by step on resume (`LineFile`).
package struct TrainingState: Sendable, Equatable {
    /// Steps done.
    package var step: Int
    /// Epoch of the last step done, from 1.
    package var epoch: Int
    package var bestValidationLoss: Double?
    /// Step of the best validation; 0 before the first.
    package var bestStep: Int
    package var validationsSinceBest: Int
    /// `TrainingConfiguration.digest`.
    package var configurationDigest: String

    package init(
        step: Int, epoch: Int, bestValidationLoss: Double?, bestStep: Int,
        validationsSinceBest: Int, configurationDigest: String
    ) {
        self.step = step
        self.epoch = epoch
        self.bestValidationLoss = bestValidationLoss
        self.bestStep = bestStep
        self.validationsSinceBest = validationsSinceBest
        self.configurationDigest = configurationDigest
    }
}

extension TrainingState: Decodable {
    enum CodingKeys: String, CodingKey {
        case step, epoch
        case bestValidationLoss = "best_validation_loss"
        case bestStep = "best_step"
        case validationsSinceBest = "validations_since_best"
        case configurationDigest = "configuration_sha256"
    }

    /// The step whose adapter the run keeps; nil before the first validation, and without any.
    var keptStep: Int? { bestValidationLoss == nil ? nil : bestStep }

    /// The text of state.json.
    var text: String {
        RecordFile.text([
            ("step", .integer(step)), ("epoch", .integer(epoch)),
            ("best_validation_loss", bestValidationLoss.map { .number($0) } ?? .null),
            ("best_step", .integer(bestStep)),
            ("validations_since_best", .integer(validationsSinceBest)),
            ("configuration_sha256", .string(configurationDigest)),
        ]) + "\n"
    }
}

/// All that a run needs to go on from a step as if it had never stopped.
package struct Checkpoint: Sendable, Equatable {
    package var state: TrainingState
    package var adapter: AdapterConfiguration
    /// The trained matrices, flat, in the order of `ParameterLayout`.
    package var parameters: [Float]
    /// AdamW's first moments.
    package var averages: [Float]
    /// AdamW's second moments.
    package var squareAverages: [Float]

    package init(
        state: TrainingState, adapter: AdapterConfiguration, parameters: [Float],
        averages: [Float], squareAverages: [Float]
    ) {
        self.state = state
        self.adapter = adapter
        self.parameters = parameters
        self.averages = averages
        self.squareAverages = squareAverages
    }

    static let stateFile = "state.json"
    static let optimizerFile = "optimizer.safetensors"
    static let files = [
        "adapter_config.json", "adapter_model.safetensors", optimizerFile, stateFile,
    ]
    static let averageSuffix = ".exp_avg"
    static let squareAverageSuffix = ".exp_avg_sq"

    /// Writes the files of a checkpoint into an existing directory, the manifest last.
    func write(layout: ParameterLayout, to directory: String, in store: any Store) throws {
        try AdapterFiles.write(
            configuration: adapter, tensors: layout.tensors(parameters), to: directory, in: store)
        try SafetensorsWriter.write(
            layout.tensors(averages, suffix: Self.averageSuffix)
                + layout.tensors(squareAverages, suffix: Self.squareAverageSuffix),
            metadata: ["format": "pt"], to: FilePath.join(directory, Self.optimizerFile),
            in: store)
        try store.write(state.text, to: FilePath.join(directory, Self.stateFile))
        let manifest = try Manifest(directory: directory, files: Self.files, in: store)
        try store.write(manifest.text, to: FilePath.join(directory, Manifest.fileName))
    }

    /// Reads a checkpoint after checking every file against the manifest.
    ///
    /// - Parameters:
    ///   - directory: of the checkpoint.
    ///   - layout: of the run that it has to belong to.
    ///   - store: where it is.
    /// - Throws: `TrainingError.damagedCheckpoint`; a `FileError` that says nothing of the checkpoint,
    ///   such as of too many open files: another try may well read it.
    package init(
        directory: String, layout: ParameterLayout, in store: any Store = DiskStore()
    ) throws {
        do {
            let manifest = try Manifest(directory: directory, requiring: Self.files, in: store)
            try manifest.verify(directory: directory, in: store)
            try self.init(verified: directory, layout: layout, in: store)
        } catch let problem as CheckpointProblem {
            throw TrainingError.damagedCheckpoint(path: directory, problem: problem)
        }
    }

    private init(
        verified directory: String, layout: ParameterLayout, in store: any Store
    ) throws {
        let statePath = FilePath.join(directory, Self.stateFile)
        state = try Self.unfit(Self.stateFile) {
            try RecordFile.decode(
                TrainingState.self, from: RecordFile.bytes(of: statePath, in: store),
                path: statePath)
        }
        let adapterFiles = try Self.unfit("adapter_model.safetensors") {
            try AdapterFiles.read(directory, in: store) { try layout.check($0.shapes) }
        }
        let optimizer = try Self.unfit(Self.optimizerFile) {
            try SafetensorsFile(
                copying: FilePath.join(directory, Self.optimizerFile), in: store
            ) {
                if let name = $0.otherTensors.keys.min() {
                    throw LayoutProblem.unexpected(tensor: name)
                }
                try layout.check(
                    $0.tensors.mapValues(\.shape),
                    suffixes: [Self.averageSuffix, Self.squareAverageSuffix])
            }
        }
        adapter = adapterFiles.configuration
        parameters = try Self.unfit("adapter_model.safetensors") {
            try layout.flatten(adapterFiles.tensors)
        }
        averages = try Self.unfit(Self.optimizerFile) {
            try layout.flatten(optimizer.tensors, suffix: Self.averageSuffix)
        }
        squareAverages = try Self.unfit(Self.optimizerFile) {
            try layout.flatten(optimizer.tensors, suffix: Self.squareAverageSuffix)
        }
    }

    /// Turns whatever `body` throws into `.unfit` of `file`, but for what says nothing of the file.
    private static func unfit<Value>(_ file: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as FileError where error.isPassing {
            throw error
        } catch let problem as LayoutProblem {
            throw CheckpointProblem.unfit(file: file, detail: problem.what)
        } catch let error as any Explained {
            throw CheckpointProblem.unfit(file: file, detail: error.explanation.what)
        } catch {
            throw CheckpointProblem.unfit(file: file, detail: "\(error)")
        }
    }
}

extension Checkpoint {
    /// Checks every file of a checkpoint against its manifest, of whatever run it is.
    ///
    /// - Parameter directory: of the checkpoint.
    /// - Returns: the progress that it holds.
    /// - Throws: `TrainingError.damagedCheckpoint`; `TrainingError.damagedRecord` or `FileError` for
    ///   a state that was not written by Skein; a `FileError` that says nothing of the checkpoint.
    package static func verify(directory: String) throws -> TrainingState {
        let store = DiskStore()
        do {
            try Manifest(directory: directory, requiring: files, in: store)
                .verify(directory: directory, in: store)
        } catch let problem as CheckpointProblem {
            throw TrainingError.damagedCheckpoint(path: directory, problem: problem)
        }
        let path = FilePath.join(directory, stateFile)
        return try RecordFile.decode(
            TrainingState.self, from: RecordFile.bytes(of: path, in: store), path: path)
    }
}
