import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels

/// The progress of a run beside its vectors: state.json.
///
/// It has no times, no paths and no byte offsets of logs: equal states give equal bytes, whichever
/// process computed them and however often the run was killed. Logs are cut by step on resume
/// (`LineFile`).
package struct TrainingState: Sendable, Equatable {
    /// Steps done.
    package var step: Int
    /// Epoch of the last step done, from 1.
    package var epoch: Int
    /// The loss of the best validation.
    package var bestValidationLoss: Double?
    /// Its accuracy, in a run that finds the best one by it; nil, and not written, in any other.
    package var bestValidationAccuracy: Double?
    /// Step of the best validation; 0 before the first.
    package var bestStep: Int
    package var validationsSinceBest: Int
    /// `TrainingConfiguration.digest`.
    package var configurationDigest: String
    /// SHA-256 of what the next step is computed with (`WorkInputs.parameters`); nil in a checkpoint
    /// that an older version wrote.
    package var parametersDigest: String?

    package init(
        step: Int, epoch: Int, bestValidationLoss: Double?,
        bestValidationAccuracy: Double? = nil, bestStep: Int, validationsSinceBest: Int,
        configurationDigest: String, parametersDigest: String? = nil
    ) {
        self.step = step
        self.epoch = epoch
        self.bestValidationLoss = bestValidationLoss
        self.bestValidationAccuracy = bestValidationAccuracy
        self.bestStep = bestStep
        self.validationsSinceBest = validationsSinceBest
        self.configurationDigest = configurationDigest
        self.parametersDigest = parametersDigest
    }
}

extension TrainingState: Decodable {
    enum CodingKeys: String, CodingKey {
        case step, epoch
        case bestValidationLoss = "best_validation_loss"
        case bestValidationAccuracy = "best_validation_accuracy"
        case bestStep = "best_step"
        case validationsSinceBest = "validations_since_best"
        case configurationDigest = "configuration_sha256"
        case parametersDigest = "parameters_sha256"
    }

    /// The step whose adapter the run keeps; nil before the first validation.
    var keptStep: Int? { bestValidationLoss == nil ? nil : bestStep }

    /// The text of state.json.
    var text: String {
        var fields: [(String, JSONValue)] = [
            ("step", .integer(step)), ("epoch", .integer(epoch)),
            ("best_validation_loss", bestValidationLoss.map { .decimal($0) } ?? .null),
        ]
        if let accuracy = bestValidationAccuracy {
            fields.append((CodingKeys.bestValidationAccuracy.rawValue, .decimal(accuracy)))
        }
        fields += [
            ("best_step", .integer(bestStep)),
            ("validations_since_best", .integer(validationsSinceBest)),
            ("configuration_sha256", .text(configurationDigest)),
        ]
        if let parametersDigest {
            fields.append((CodingKeys.parametersDigest.rawValue, .text(parametersDigest)))
        }
        return JSONValue.fields(fields).lines(levels: .max) + "\n"
    }
}

/// Everything that a run needs to continue from a step as if it had never stopped.
package struct Checkpoint: Sendable, Equatable {
    package var state: TrainingState
    package var adapter: AdapterConfiguration
    /// The trained matrices, flat, in the order of `ParameterLayout`.
    package var parameters: [Float]
    /// AdamW's first moments; of a run with local steps, the outer momentum.
    package var averages: [Float]
    /// AdamW's second moments; of a run with local steps, what coding the averages has lost.
    package var squareAverages: [Float]
    /// The logical workers' states; none for a complete run, nil for one without local steps.
    package var local: [LocalState]?

    package init(
        state: TrainingState, adapter: AdapterConfiguration, parameters: [Float],
        averages: [Float], squareAverages: [Float], local: [LocalState]? = nil
    ) {
        self.state = state
        self.adapter = adapter
        self.parameters = parameters
        self.averages = averages
        self.squareAverages = squareAverages
        self.local = local
    }

    static let stateFile = "state.json"
    static let optimizerFile = "optimizer.safetensors"
    static let files = [
        "adapter_config.json", "adapter_model.safetensors", optimizerFile, stateFile,
    ]
    static let averageSuffix = ".exp_avg"
    static let squareAverageSuffix = ".exp_avg_sq"
    /// The same of a run with local steps.
    static let momentumSuffix = ".momentum"
    static let errorSuffix = ".coding_error"

    /// The file of a logical worker's state.
    static func workerFile(_ worker: Int) -> String {
        let digits = String(worker)
        return "worker-" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            + ".safetensors"
    }

    private static func optimizerSuffixes(isLocal: Bool) -> [String] {
        isLocal ? [momentumSuffix, errorSuffix] : [averageSuffix, squareAverageSuffix]
    }

    /// Writes the files of a checkpoint into an existing directory, the manifest last.
    func write(layout: ParameterLayout, to directory: String, in store: any Store) throws {
        try AdapterFiles.write(
            configuration: adapter, tensors: layout.tensors(parameters), to: directory, in: store)
        let suffixes = Self.optimizerSuffixes(isLocal: local != nil)
        try SafetensorsWriter.write(
            layout.tensors(averages, suffix: suffixes[0])
                + layout.tensors(squareAverages, suffix: suffixes[1]),
            metadata: ["format": "pt"], to: FilePath.join(directory, Self.optimizerFile),
            in: store)
        for (worker, state) in (local ?? []).enumerated() {
            try state.write(
                layout: layout, to: FilePath.join(directory, Self.workerFile(worker)), in: store)
        }
        try store.write(state.text, to: FilePath.join(directory, Self.stateFile))
        let workers = (local ?? []).indices.map { Self.workerFile($0) }
        let manifest = try Manifest(directory: directory, files: Self.files + workers, in: store)
        try store.write(manifest.text, to: FilePath.join(directory, Manifest.fileName))
    }

    /// Reads a checkpoint after checking every file against the manifest.
    ///
    /// - Parameters:
    ///   - directory: of the checkpoint.
    ///   - layout: of the run that it must belong to.
    ///   - plan: of a run with local steps.
    ///   - store: where it is.
    /// - Throws: `TrainingError.damagedCheckpoint`; a `FileError` that says nothing about the
    ///   checkpoint, such as too many open files: another try may well read it.
    package init(
        directory: String, layout: ParameterLayout, plan: StepPlan? = nil,
        in store: any Store = DiskStore()
    ) throws {
        do {
            let manifest = try Manifest(directory: directory, requiring: Self.files, in: store)
            try manifest.verify(directory: directory, in: store)
            try self.init(
                verified: directory, layout: layout, isLocal: plan?.local != nil, in: store)
            guard let plan, let shape = plan.local else { return }
            let names = (0..<shape.workers).map { Self.workerFile($0) }
            local =
                try names.allSatisfy { manifest.files[$0] == nil }
                ? []
                : names.enumerated().map { worker, name in
                    try Self.unfit(name) {
                        try LocalState(
                            file: FilePath.join(directory, name), layout: layout,
                            steps: plan.localStepsDone(by: worker, beforeRound: state.step + 1),
                            in: store)
                    }
                }
        } catch let problem as CheckpointProblem {
            throw TrainingError.damagedCheckpoint(path: directory, problem: problem)
        }
    }

    private init(
        verified directory: String, layout: ParameterLayout, isLocal: Bool, in store: any Store
    ) throws {
        let suffixes = Self.optimizerSuffixes(isLocal: isLocal)
        let statePath = FilePath.join(directory, Self.stateFile)
        state = try Self.unfit(Self.stateFile) {
            try RecordFile.decode(
                TrainingState.self, from: RecordFile.bytes(of: statePath, in: store),
                path: statePath)
        }
        (adapter, parameters) = try Self.adapter(directory, layout, in: store)
        let optimizer = try Self.unfit(Self.optimizerFile) {
            try SafetensorsFile(
                copying: FilePath.join(directory, Self.optimizerFile), in: store
            ) {
                if let name = $0.otherTensors.keys.min() {
                    throw LayoutProblem.unexpected(tensor: name)
                }
                try layout.check($0.tensors.mapValues(\.shape), suffixes: suffixes)
            }
        }
        averages = try Self.unfit(Self.optimizerFile) {
            try layout.flatten(optimizer.tensors, suffix: suffixes[0])
        }
        squareAverages = try Self.unfit(Self.optimizerFile) {
            try layout.flatten(optimizer.tensors, suffix: suffixes[1])
        }
    }

    private static func adapter(
        _ directory: String, _ layout: ParameterLayout, in store: any Store
    ) throws -> (AdapterConfiguration, [Float]) {
        try unfit(AdapterFiles.weightsName) {
            let files = try AdapterFiles.read(directory, in: store) { try layout.check($0.shapes) }
            return (files.configuration, try layout.flatten(files.tensors))
        }
    }

    /// Reads the adapter of a checkpoint after checking every file against the manifest; the state of the
    /// optimizer takes no memory.
    ///
    /// - Parameters:
    ///   - directory: of the checkpoint.
    ///   - layout: of the run that it must belong to.
    ///   - store: where it is.
    /// - Returns: its parameters, flat, in the layout's order.
    /// - Throws: as `init(directory:layout:plan:in:)` does.
    static func parameters(
        directory: String, layout: ParameterLayout, in store: any Store
    ) throws -> [Float] {
        do {
            try Manifest(directory: directory, requiring: files, in: store)
                .verify(directory: directory, in: store)
            return try adapter(directory, layout, in: store).1
        } catch let problem as CheckpointProblem {
            throw TrainingError.damagedCheckpoint(path: directory, problem: problem)
        }
    }

    /// Turns what `body` throws into `.unfit` of `file`, except errors that say nothing about it.
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
    /// Checks every file of a checkpoint of any run against its manifest.
    ///
    /// - Parameters:
    ///   - directory: of the checkpoint.
    ///   - store: where it is.
    /// - Returns: the progress of its run.
    /// - Throws: `TrainingError.damagedCheckpoint`; `.damagedRecord` or `FileError` for a state
    ///   that Skein did not write; a `FileError` that says nothing about the checkpoint.
    package static func verify(
        directory: String, in store: any Store = DiskStore()
    ) throws -> TrainingState {
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

// A logical worker's state as a file.
extension LocalState {
    private static let suffixes = [
        Checkpoint.averageSuffix, Checkpoint.squareAverageSuffix, Checkpoint.errorSuffix,
    ]

    fileprivate func write(
        layout: ParameterLayout, to path: String, in store: any Store
    ) throws {
        let parts = zip([averages, squareAverages, error], Self.suffixes)
        try SafetensorsWriter.write(
            parts.flatMap { layout.tensors($0, suffix: $1) }, metadata: ["format": "pt"],
            to: path, in: store)
    }

    fileprivate init(
        file path: String, layout: ParameterLayout, steps: Int, in store: any Store
    ) throws {
        let file = try SafetensorsFile(copying: path, in: store) {
            if let name = $0.otherTensors.keys.min() {
                throw LayoutProblem.unexpected(tensor: name)
            }
            try layout.check($0.tensors.mapValues(\.shape), suffixes: Self.suffixes)
        }
        let parts = try Self.suffixes.map { try layout.flatten(file.tensors, suffix: $0) }
        self.init(
            steps: steps, averages: parts[0], squareAverages: parts[1], error: parts[2])
    }
}
