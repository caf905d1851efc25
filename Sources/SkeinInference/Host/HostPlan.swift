import SkeinBasics
import SkeinModels
import SkeinTensors

/// Who hosts a model: what it takes where nothing is set, and what must fit before it begins.
package struct HostUse: Sendable {
    /// Adapters of the largest rank for which there is room; 0: there can be none.
    let adapters: Int
    /// Bytes that the program itself needs beside the model.
    let ownBytes: Int
    /// Whether all that may ever be held must fit, and not only one whole context.
    let mustFitAll: Bool
    /// By which the usual bytes of the prefix cache and of compiled schemas are divided: a program has
    /// more to do than to answer.
    let divisor: Int

    /// A server states all that it may ever take, and begins if it fits: adapters have what the rest
    /// leaves, and a context is as long as it was asked for.
    package static func server(adapters: Int, ownBytes: Int) -> HostUse {
        HostUse(adapters: adapters, ownBytes: ownBytes, mustFitAll: true, divisor: 1)
    }

    /// A program that has more to do begins if one whole context fits, with no more of what is free for
    /// adapters than a quarter, and with the model's context if that is shorter. Adapters are read when they
    /// are wanted, and find out then whether there is room.
    package static let program = HostUse(
        adapters: 4, ownBytes: 0, mustFitAll: false, divisor: 2)
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
        let weightBytes =
            (try? GenerationWeights.packedBytes(of: model, compute: options.compute))
            ?? model.weightBytes
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
        // A program's conversations grow to the whole context.
        let one =
            use.mustFitAll
            ? batch.sequenceBytes(min(batch.context, options.answerTokens), of: configuration)
            : whole
        guard batch.cacheBytes >= one else {
            throw .cacheTooSmall(bytes: batch.cacheBytes, needed: one)
        }
        func usual(_ mebibytes: Int) -> Int {
            min((mebibytes << 20) / use.divisor, free.map { $0 / 8 } ?? .max)
        }
        prefixBytes = options.prefixBytes ?? usual(HostOptions.usualPrefixMebibytes)
        grammarBytes = options.grammarBytes ?? usual(HostOptions.usualGrammarMebibytes)
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

    /// A line for the log of a server, whose own bytes are those of answers' JSON.
    package var statement: String {
        "memory: weights \(Figures.bytes(weightBytes)), activations and answers' JSON "
            + "\(Figures.bytes(otherBytes)), keys and values up to "
            + "\(Figures.bytes(batch.cacheBytes)) (\(batch.sequences) answers, \(batch.context) "
            + "tokens each, \(batch.cacheType.rawValue)), prefix cache up to "
            + "\(Figures.bytes(prefixBytes)), schemas up to \(Figures.bytes(grammarBytes)), "
            + "adapters up to \(Figures.bytes(adapterBytes))"
    }
}
