import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTensors

/// What a model's sessions will hold, stated before anything is loaded.
struct SessionPlan: Sendable {
    var batch: BatchPlan
    var threads: Int
    var weightBytes: Int
    var prefixBytes: Int
    var grammarBytes: Int
    var adapterBytes: Int
    /// Activations and rotary tables.
    var otherBytes: Int

    /// Of the cache of prefixes, and of compiled schemas, where nobody says how many.
    private static let usualPrefixBytes = 512 << 20
    private static let usualGrammarBytes = 256 << 20
    private static let usualAdapters = 4

    /// - Throws: `ModelFlaw.memory`, with the numbers.
    init(
        _ model: ModelDirectory, _ resources: SystemLanguageModel.Resources,
        usable: Int? = SystemMemory.usable
    ) throws(ModelFlaw) {
        let configuration = model.configuration
        threads = resources.threads ?? SystemProcessors.usable
        // Without a tensor nothing is loaded: loading says so.
        weightBytes = (try? GenerationWeights.packedBytes(of: model)) ?? model.weightBytes
        let free = usable.map { [weightBytes] in max(0, $0 - weightBytes) }
        batch = BatchPlan(
            model: configuration, sequences: resources.parallelReplies,
            context: min(resources.contextSize, configuration.contextLength),
            rows: max(16, resources.parallelReplies), rank: resources.maximumRank)
        let one = batch.sequenceBytes(batch.context, of: configuration)
        if let free { batch.cacheBytes = max(min(batch.cacheBytes, free / 4), one) }
        prefixBytes =
            resources.prefixCacheBytes ?? min(Self.usualPrefixBytes, free.map { $0 / 8 } ?? .max)
        grammarBytes =
            resources.schemaBytes ?? min(Self.usualGrammarBytes, free.map { $0 / 8 } ?? .max)
        let largest = AdapterShape(
            LoRAConfiguration(
                rank: resources.maximumRank, scale: 1, dropout: 0, targets: TargetModule.allCases,
                layers: 0..<configuration.layerCount), model: configuration)
        adapterBytes =
            resources.adapterBytes
            ?? min(
                GenerationProjections.byteCount(of: largest) * Self.usualAdapters,
                free.map { $0 / 4 } ?? .max)
        otherBytes =
            batch.memoryBytes(of: configuration, threads: threads) - batch.cacheBytes
        // Adapters are read when they are wanted, and find out then whether there is room.
        let needed = weightBytes + otherBytes + one
        if let usable, needed > usable {
            throw .memory(path: model.path, needed: needed, available: usable)
        }
    }
}
