import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTensors

/// What a server will hold, stated before anything is loaded.
struct ServePlan: Sendable {
    var batch: BatchPlan
    var prefixBytes: Int
    /// Of compiled schemas and their states.
    var grammarBytes: Int
    /// Of all adapters that are loaded or held by requests; 0: there can be none.
    var adapterBytes: Int
    var threads: Int
    var weightBytes: Int
    /// Activations and rotary tables, and `writingBytes`.
    var otherBytes: Int

    /// Without `--context`: what people talk about at once, and not the memory of the longest rows.
    static let usualContext = 4096
    static let usualPrefixBytes = 1 << 30
    /// Room for four grammars that are used in all their states.
    static let usualGrammarBytes = 512 << 20
    /// The JSON of one answer with as many log-probabilities as a request may have, before it is bytes.
    /// One is written at a time.
    static let writingBytes = Limits.logprobEntries * logprobEntryBytes
    /// Of one of them in a chat's answer: some 300 bytes for its fields and 40 for each byte of the
    /// token, of which there are seldom more than 40.
    private static let logprobEntryBytes = 2 << 10

    /// - Throws: `ServeError.contextTooLong`, `.memory`.
    init(_ model: ModelDirectory, _ options: OpenAIServer.Options) throws(ServeError) {
        let configuration = model.configuration
        threads = options.threads ?? SystemProcessors.usable
        let limit = configuration.contextLength
        if let context = options.context, context > limit {
            throw .contextTooLong(tokens: context, limit: limit)
        }
        // Without a tensor nothing is served: loading says so.
        let weightBytes = (try? GenerationWeights.packedBytes(of: model)) ?? model.weightBytes
        self.weightBytes = weightBytes
        let usable = SystemMemory.usable
        let free = usable.map { max(0, $0 - weightBytes - Self.writingBytes) }
        batch = BatchPlan(
            model: configuration, sequences: options.parallel,
            context: options.context ?? min(limit, Self.usualContext),
            rows: max(16, options.parallel), rank: options.maximumRank, compute: options.compute,
            cacheType: options.cacheType)
        if let given = options.cacheBytes {
            batch.cacheBytes = given
        } else if let free {
            // At least one row must fit.
            batch.cacheBytes = max(
                min(batch.cacheBytes, free / 4),
                batch.sequenceBytes(batch.context, of: configuration))
        }
        let usual = batch.sequenceBytes(
            min(batch.context, options.defaultTokens), of: configuration)
        guard batch.cacheBytes >= usual else {
            throw .cacheTooSmall(bytes: batch.cacheBytes, needed: usual)
        }
        prefixBytes =
            options.prefixBytes ?? min(Self.usualPrefixBytes, free.map { $0 / 8 } ?? .max)
        grammarBytes =
            options.grammarBytes ?? min(Self.usualGrammarBytes, free.map { $0 / 8 } ?? .max)
        otherBytes =
            batch.memoryBytes(of: configuration, threads: threads) - batch.cacheBytes
            + Self.writingBytes
        adapterBytes = 0
        adapterBytes = Self.adapterBytes(
            configuration, options, rank: batch.rank,
            left: usable.map { max(0, $0 - totalBytes) })
        if let usable, totalBytes > usable {
            throw .memory(needed: totalBytes, available: usable)
        }
    }

    /// Without `--adapter-memory`: all that may be loaded in their largest size, a followed run's and a
    /// checkpoint that a request names among them, but no more than everything else leaves.
    private static func adapterBytes(
        _ model: ModelConfiguration, _ options: OpenAIServer.Options, rank: Int, left: Int?
    ) -> Int {
        if options.adapters.isEmpty, options.adapterRoot == nil, options.follow == nil { return 0 }
        if let given = options.adapterBytes { return given }
        let largest = AdapterShape(
            LoRAConfiguration(
                rank: rank, scale: 1, dropout: 0, targets: TargetModule.allCases,
                layers: 0..<model.layerCount), model: model)
        let count = max(options.maximumAdapters, options.adapters.count) + 2
        return min(
            GenerationProjections.byteCount(of: largest) * count, left ?? .max)
    }

    var totalBytes: Int {
        weightBytes + otherBytes + batch.cacheBytes + prefixBytes + grammarBytes + adapterBytes
    }

    func log(_ log: Log) {
        log.info(
            "memory: weights \(Figures.bytes(weightBytes)), activations and answers' JSON "
                + "\(Figures.bytes(otherBytes)), keys and values up to "
                + "\(Figures.bytes(batch.cacheBytes)) (\(batch.sequences) answers, \(batch.context) "
                + "tokens each, \(batch.cacheType.rawValue)), prefix cache up to "
                + "\(Figures.bytes(prefixBytes)), schemas up to \(Figures.bytes(grammarBytes)), "
                + "adapters up to \(Figures.bytes(adapterBytes))")
    }
}
