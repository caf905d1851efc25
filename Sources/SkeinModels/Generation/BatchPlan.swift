import SkeinTensors

/// What a `BatchDecoder` may hold; its memory follows from it, before anything is loaded.
package struct BatchPlan: Sendable, Equatable {
    /// Sequences at once.
    package var sequences: Int
    /// Tokens of one sequence, prompt and answer together.
    package var context: Int
    /// Tokens of answers that are multiplied together, at least 1; more are read in several passes.
    package var rows: Int
    /// The largest rank of an adapter.
    package var rank: Int
    /// For prompts' products with the weights; answers are multiplied in fp32.
    package var compute: ComputeType
    package var cacheType: CacheType
    /// Bytes of keys and values of all sequences together.
    package var cacheBytes: Int
    /// Tokens of prompts that a step reads while others decode; nil: as many as `PromptPace` says.
    package var promptTokens: Int?

    /// `cacheBytes`: nil means all `sequences` with a whole `context`.
    package init(
        model: ModelConfiguration, sequences: Int, context: Int, rows: Int = 16, rank: Int = 0,
        compute: ComputeType = .fp32, cacheType: CacheType = .fp32, cacheBytes: Int? = nil,
        promptTokens: Int? = nil
    ) {
        self.sequences = max(1, sequences)
        self.context = max(1, context)
        self.rows = max(1, rows)
        self.rank = rank
        self.compute = compute
        self.cacheType = cacheType
        self.promptTokens = promptTokens.map { max(1, $0) }
        self.cacheBytes = 0
        self.cacheBytes = cacheBytes ?? self.sequences * sequenceBytes(self.context, of: model)
    }

    /// Bytes of keys and values of one sequence with room for `tokens`.
    package func sequenceBytes(_ tokens: Int, of model: ModelConfiguration) -> Int {
        CachedSequence.byteCount(
            model, type: cacheType, capacity: tokens,
            appended: GenerationPass.blockTokens(compute, capacity: context))
    }

    /// Bytes besides the weights and adapters: keys and values, activations, rotary tables.
    package func memoryBytes(of model: ModelConfiguration, threads: Int) -> Int {
        cacheBytes
            + GenerationPass.byteCount(
                model, compute: compute, cacheType: cacheType, rows: rows, capacity: context,
                rank: rank, threads: threads)
            + Rotation.byteCount(model, positions: context)
    }
}
