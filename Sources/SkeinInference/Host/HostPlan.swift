import SkeinBasics
import SkeinModels

/// Who hosts a model: what it takes where nothing is set, and what must fit before it begins.
package struct HostUse: Sendable {
    /// Bytes of the prefix cache, and of compiled schemas; an eighth of what is free if that is less.
    package var prefixBytes: Int
    package var grammarBytes: Int
    /// Adapters of the largest rank for which there is room; 0: there can be none.
    package var adapters: Int
    /// Bytes that the program itself needs beside the model.
    package var ownBytes = 0
    /// Tokens of an answer whose keys and values must have room.
    package var answerTokens = Int.max
    /// A server states all that it may ever take, and begins if it fits: adapters have what the rest
    /// leaves, and a context is as long as it was asked for. A program that has more to do begins if one
    /// answer fits, with no more of what is free for adapters than a quarter, and with the model's context
    /// if that is shorter.
    package var mustFitAll: Bool

    package init(
        prefixBytes: Int, grammarBytes: Int, adapters: Int, mustFitAll: Bool
    ) {
        self.prefixBytes = prefixBytes
        self.grammarBytes = grammarBytes
        self.adapters = adapters
        self.mustFitAll = mustFitAll
    }
}

/// What a host will hold, stated before anything is loaded.
package struct HostPlan: Sendable {
    package private(set) var batch: BatchPlan
    package let threads: Int
    package let weightBytes: Int
    /// Activations and rotary tables, and the program's own bytes.
    package let otherBytes: Int
    package let prefixBytes: Int
    /// The limit of compiled schemas and their states.
    package let grammarBytes: Int
    /// The limit of all adapters that are loaded or held by requests; 0: there can be none.
    package private(set) var adapterBytes = 0

    /// - Parameters:
    ///   - model: the base, whose sizes count.
    ///   - options: what was set.
    ///   - use: who hosts.
    ///   - usable: bytes that may be taken; nil: it is not known.
    /// - Throws: `HostError.contextTooLong`, `.cacheTooSmall`, `.memory`.
    package init(
        _ model: ModelDirectory, _ options: OptionValues<HostOptions>, for use: HostUse,
        usable: Int? = SystemMemory.usable
    ) throws(HostError) {
        let configuration = model.configuration
        let limit = configuration.contextLength
        if use.mustFitAll, let context = options.context, context > limit {
            throw .contextTooLong(tokens: context, limit: limit)
        }
        threads = options.threads ?? SystemProcessors.usable
        // Without a tensor nothing is hosted: loading says so.
        let weightBytes = (try? GenerationWeights.packedBytes(of: model)) ?? model.weightBytes
        self.weightBytes = weightBytes
        let free = usable.map { max(0, $0 - weightBytes - use.ownBytes) }
        batch = BatchPlan(
            model: configuration, sequences: options.parallel,
            context: min(limit, options.context ?? HostOptions.usualContext),
            rows: max(16, options.parallel), rank: options.maximumRank, compute: options.compute,
            cacheType: options.cacheType)
        let whole = batch.sequenceBytes(batch.context, of: configuration)
        if let given = options.cacheBytes {
            batch.cacheBytes = given
        } else if let free {
            batch.cacheBytes = max(min(batch.cacheBytes, free / 4), whole)
        }
        let one = batch.sequenceBytes(min(batch.context, use.answerTokens), of: configuration)
        guard batch.cacheBytes >= one else {
            throw .cacheTooSmall(bytes: batch.cacheBytes, needed: one)
        }
        let share = free.map { $0 / 8 } ?? .max
        prefixBytes = options.prefixBytes ?? min(use.prefixBytes, share)
        grammarBytes = options.grammarBytes ?? min(use.grammarBytes, share)
        otherBytes =
            batch.memoryBytes(of: configuration, threads: threads) - batch.cacheBytes
            + use.ownBytes
        if use.adapters > 0 {
            let (total, most) = (
                totalBytes, Self.largestAdapter(batch.rank, configuration) * use.adapters
            )
            let left = use.mustFitAll ? usable.map { max(0, $0 - total) } : free.map { $0 / 4 }
            adapterBytes = options.adapterBytes ?? min(most, left ?? .max)
        }
        let needed = use.mustFitAll ? totalBytes : weightBytes + otherBytes + whole
        if let usable, needed > usable { throw .memory(needed: needed, available: usable) }
    }

    /// Bytes of an adapter of all modules.
    private static func largestAdapter(_ rank: Int, _ model: ModelConfiguration) -> Int {
        GenerationProjections.byteCount(
            of: AdapterShape(
                LoRAConfiguration(
                    rank: rank, scale: 1, dropout: 0, targets: TargetModule.allCases,
                    layers: 0..<model.layerCount), model: model))
    }

    package var totalBytes: Int {
        [batch.cacheBytes, prefixBytes, grammarBytes, adapterBytes]
            .reduce(weightBytes + otherBytes) { $0.saturatingPlus($1) }
    }
}
