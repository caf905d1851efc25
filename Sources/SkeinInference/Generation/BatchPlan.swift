import SkeinBasics
import SkeinModels
import SkeinTensors

/// What a `BatchDecoder` may hold; its memory follows from it, before anything is loaded.
package struct BatchPlan: Sendable, Equatable {
    /// Sequences at once, at least 1.
    package var sequences: Int
    /// Tokens of one sequence, prompt and answer together; 1 to `mostContext`.
    package var context: Int
    /// Tokens of answers that are multiplied together and that a step reads, at most: 1 to the
    /// tokens of a prompt's block (256 in fp32, 512 in bf16 and int8).
    package var rows: Int
    /// The largest rank of an adapter; 0 to `mostRank`.
    package var rank: Int
    /// For prompts' products with the weights; answers are multiplied in fp32.
    package var compute: ComputeType
    package var cacheType: CacheType
    /// Bytes of keys, values and tokens of all sequences together.
    package var cacheBytes: Int
    /// Tokens of prompts that a step reads while others decode, at least 1; nil: as many as
    /// `PromptPace` says.
    package var promptTokens: Int?

    /// Beyond it no angle of a rotation is exact (`RotaryEmbedding`).
    package static let mostContext = 1 << 24
    package static let mostRank = 1 << 20
    /// Bytes that a token takes besides keys and values: four in the row, in the prompt and in what
    /// was fed, and its share of its block's name.
    static let tokenBytes = 16
    /// Bytes of a sequence's own tables, and of those for each layer.
    private static let sequenceOverhead = 2048
    private static let layerOverhead = 256
    /// Bytes of lists that a step makes for each row and each sequence.
    private static let stepOverhead = 512

    /// Numbers out of their range become the nearest in it.
    ///
    /// `cacheBytes`: nil means all `sequences` with a whole `context`.
    package init(
        model: ModelConfiguration, sequences: Int, context: Int, rows: Int = 16, rank: Int = 0,
        compute: ComputeType = .fp32, cacheType: CacheType = .fp32, cacheBytes: Int? = nil,
        promptTokens: Int? = nil
    ) {
        self.sequences = sequences
        self.context = context
        self.rows = rows
        self.rank = rank
        self.compute = compute
        self.cacheType = cacheType
        self.promptTokens = promptTokens
        self.cacheBytes = cacheBytes ?? 0
        self = bounded
        if cacheBytes == nil {
            self.cacheBytes = sequenceBytes(self.context, of: model)
                .saturatingTimes(self.sequences)
        }
    }

    /// This plan with all numbers in their ranges.
    package var bounded: BatchPlan {
        var plan = self
        plan.sequences = max(1, sequences)
        plan.context = min(max(1, context), Self.mostContext)
        plan.rows = GenerationPass.rows(rows, compute)
        plan.rank = min(max(0, rank), Self.mostRank)
        plan.cacheBytes = max(0, cacheBytes)
        plan.promptTokens = promptTokens.map { max(1, $0) }
        return plan
    }

    /// Bytes of one sequence with room for `tokens`: its keys and values, and what is kept of its
    /// tokens. `Int.max` for more than `mostContext` tokens.
    package func sequenceBytes(_ tokens: Int, of model: ModelConfiguration) -> Int {
        if tokens > Self.mostContext { return .max }
        let tokens = max(0, tokens)
        let cached = CachedSequence.byteCount(
            model, type: cacheType, capacity: tokens,
            appended: GenerationPass.blockTokens(compute, capacity: bounded.context))
        return cached.saturatingPlus(
            tokens * Self.tokenBytes + Self.sequenceOverhead
                + model.layerCount * Self.layerOverhead)
    }

    /// Bytes besides weights, adapters and the prefix cache.
    package func memoryBytes(of model: ModelConfiguration, threads: Int) -> Int {
        memory(of: model, threads: threads).total
    }

    /// What is held at most, by kind; before anything is loaded weights are 0.
    ///
    /// - Parameters:
    ///   - model: which is read.
    ///   - threads: of the team.
    ///   - weights: the one copy; nil: not counted.
    ///   - prefixBytes: the prefix cache's limit.
    /// - Returns: a bound for each kind; `Int.max` where it would be more.
    package func memory(
        of model: ModelConfiguration, threads: Int, weights: GenerationWeights? = nil,
        prefixBytes: Int = 0
    ) -> MemoryStatement {
        let plan = bounded
        let activations = GenerationPass.byteCount(
            model, compute: plan.compute, cacheType: plan.cacheType, rows: plan.rows,
            capacity: plan.context, rank: plan.rank, threads: max(1, threads))
        let lists = plan.sequences.saturatingPlus(plan.rows).saturatingTimes(Self.stepOverhead)
        return MemoryStatement(
            weightBytes: weights?.byteCount ?? 0,
            activationBytes: activations.saturatingPlus(lists),
            tableBytes: Rotation.byteCount(model, positions: plan.context),
            cacheBytes: plan.cacheBytes, prefixBytes: max(0, prefixBytes))
    }
}
