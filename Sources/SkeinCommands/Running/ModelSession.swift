import Foundation
import SkeinBasics
import SkeinFormats
import SkeinModels
import SkeinText
import SkeinTraining

/// A model with or without an adapter, opened for use and not for training.
struct ModelSession: Sendable {
    let model: ModelDirectory
    /// nil: the base model.
    let adapter: AdapterParameters?
    let threads: Int
    private let weights: ResidenceChoice

    /// Opens and checks the files; no weight is loaded yet.
    init(
        model path: String, adapter directory: String?, threads: Int?, weights: ResidenceChoice
    ) throws {
        let model = try ModelDirectory.open(path)
        self.model = model
        self.threads = threads ?? ProcessInfo.processInfo.activeProcessorCount
        self.weights = weights
        adapter = try directory.map { directory in
            let files = try AdapterFiles.read(directory) {
                try $0.check(against: model.configuration)
            }
            return try AdapterParameters(files: files, model: model.configuration)
        }
    }

    /// Loads the weights: resident when the free memory holds them, unless told.
    ///
    /// `positions` is the length of the longest sequence that will be read.
    func decoder(positions: Int) throws -> Decoder {
        let residence: WeightResidence =
            switch weights {
            case .resident: .resident
            case .streamed: .streamed
            case .auto: fitsResident ? .resident : .streamed
            }
        let weights = try DecoderWeights(
            model: model, residence: residence, positions: positions, threads: threads)
        return Decoder(weights: weights, adapter: adapter?.shape)
    }

    /// Refuses a tokenizer with ids that the model has no embedding for.
    func check(_ tokenizer: Tokenizer) throws {
        try VocabularyError.check(tokenizer, against: model)
    }

    private var fitsResident: Bool {
        guard let usable = SystemMemory.usable else { return true }
        return 4 * model.configuration.parameterCount <= usable
    }
}
