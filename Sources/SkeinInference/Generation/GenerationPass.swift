import SkeinBasics
import SkeinModels
import SkeinTensors

/// The way of tokens through the layers, for any number of sequences: weights, threads and memory
/// for activations.
///
/// `GenerationPass+Prompt` reads a block of one prompt, `GenerationPass+Rows` a token each of many
/// sequences, or several of one. Neither result depends on the number of threads, on how a prompt is
/// cut into blocks or on which rows are read together: every number of an output belongs to one piece
/// of work and to one token. Not Sendable: one thread at a time.
final class GenerationPass {
    let weights: GenerationWeights
    /// For a prompt's products with the weights; answers are multiplied in fp32.
    let compute: ComputeType
    /// How keys and values are held.
    let cacheType: CacheType
    let team: ComputeTeam
    let memory: GenerationMemory
    /// Tokens that were computed, of prompts and answers.
    private(set) var tokensComputed = 0

    /// Shapes and ranges:
    ///   - rows: of answers that are read together, at most; 1 to the tokens of a block.
    ///   - capacity: tokens of the longest sequence.
    init(
        weights: GenerationWeights, compute: ComputeType, cacheType: CacheType, team: ComputeTeam,
        rows: Int, capacity: Int, rank: Int
    ) {
        precondition(
            compute != .int8 || weights.hasCodes, "prompts in int8 need weights made for them")
        self.weights = weights
        self.compute = compute
        self.cacheType = cacheType
        self.team = team
        memory = GenerationMemory(
            weights.configuration, compute: compute,
            tokens: Self.blockTokens(compute, capacity: capacity),
            rows: Self.rows(rows, compute), rank: rank,
            attention: Self.attentionCount(
                weights.configuration, compute, cacheType, capacity: capacity),
            threads: team.threadCount)
    }

    /// Bytes of activations and scratch.
    static func byteCount(
        _ model: ModelConfiguration, compute: ComputeType, cacheType: CacheType, rows: Int,
        capacity: Int, rank: Int, threads: Int
    ) -> Int {
        let floats = GenerationMemory.count(
            model, compute: compute, tokens: blockTokens(compute, capacity: capacity),
            rows: Self.rows(rows, compute), rank: rank,
            attention: attentionCount(model, compute, cacheType, capacity: capacity),
            threads: threads)
        return floats.saturatingTimes(MemoryLayout<Float>.stride)
    }

    /// The nearest number of rows that can be read together. More than the tokens of a block would
    /// write over what the first of them still sees in a window's ring.
    static func rows(_ rows: Int, _ compute: ComputeType) -> Int {
        min(max(1, rows), blockTokens(compute))
    }

    /// Floats of scratch that a thread needs to attend in any layer.
    private static func attentionCount(
        _ model: ModelConfiguration, _ compute: ComputeType, _ cacheType: CacheType, capacity: Int
    ) -> Int {
        let attentions = CachedSequence.attentions(
            model, type: cacheType, capacity: capacity,
            appended: blockTokens(compute, capacity: capacity))
        return attentions.reduce(0) { max($0, $1.scratchCount(keys: capacity)) }
    }

    static func blockTokens(_ compute: ComputeType, capacity: Int) -> Int {
        max(1, min(blockTokens(compute), capacity))
    }

    /// Tokens of a prompt that are read at once: enough to make loading the weights cheap, few
    /// enough that a product's input stays in the second-level cache.
    static func blockTokens(_ compute: ComputeType) -> Int { compute == .fp32 ? 256 : 512 }

    var model: ModelConfiguration { weights.configuration }
    /// Rows that are read together, at most.
    var rows: Int { memory.rows }
    /// Tokens of a prompt that fit one block.
    var blockTokens: Int { memory.tokens }
    /// Tokens of the next block of a prompt, at most: it ends so that the whole blocks of a
    /// `PrefixCache` that it completes are still in every ring.
    func blockTokens(after count: Int) -> Int { blockTokens - count % PrefixCache.blockTokens }

    /// Reads one block of a prompt.
    ///
    /// - Parameters:
    ///   - tokens: at least one, at most `blockTokens`, with room in the sequence.
    ///   - sequence: which they continue.
    ///   - wantsLogits: whether the last token's go to `memory.logits`.
    ///   - check: called before each layer; what it throws ends the reading, and the sequence is as
    ///     it was.
    ///   - observe: gets the last token's residual stream at every stage.
    func readPrompt(
        _ tokens: ArraySlice<Int32>, of sequence: CachedSequence, wantsLogits: Bool,
        check: () throws -> Void, observe: (UnsafePointer<Float>) -> Void = { _ in }
    ) rethrows {
        sequence.willRead(tokens.count)
        // A prompt's inputs should stay in the caches.
        team.announce(nil)
        for (i, token) in tokens.enumerated() { embed(token, row: i, sequence.projections) }
        let last = memory.residual + (tokens.count - 1) * model.width
        for layer in 0..<model.layerCount {
            try check()
            if wantsLogits { observe(last) }
            readBlock(layer, of: sequence, tokens: tokens.count, wantsLast: wantsLogits)
        }
        // A value that is not finite reaches tokens before it: what they depend on has no name.
        let residual = UnsafeBufferPointer(
            start: memory.residual, count: tokens.count * model.width)
        sequence.didRead(tokens, asPrompt: Sampler.areFinite(residual))
        tokensComputed += tokens.count
        guard wantsLogits else { return }
        observe(last)
        let run = RowBatch.Run(projections: sequence.projections, rows: 0..<1)
        predict(last, rows: 1, [run], observe: observe)
    }

    /// Reads a part of a prompt and gives the logits of each of its tokens: those that the token gets
    /// as the last one of a prompt.
    ///
    /// - Parameters:
    ///   - tokens: at least one, at most `blockTokens`, with room in the sequence.
    ///   - sequence: which they continue.
    ///   - check: called before each layer; what it throws ends the reading, and the sequence is as
    ///     it was.
    ///   - each: gets a token's position and its logits, in `memory.logits`, when all of the block
    ///     has been read.
    func readPrompt(
        _ tokens: ArraySlice<Int32>, of sequence: CachedSequence, check: () throws -> Void,
        each: (Int, UnsafeBufferPointer<Float>) throws -> Void
    ) rethrows {
        let first = sequence.count
        try readPrompt(tokens, of: sequence, wantsLogits: false, check: check)
        // The residual stream is still that before the last layer, whose keys and values are there.
        for start in stride(from: 0, to: tokens.count, by: rows) {
            let count = min(rows, tokens.count - start)
            let x = memory.residual + start * model.width
            let positions = first + start..<first + start + count
            let batch = RowBatch(cached: sequence, positions: positions)
            readRows(model.layerCount - 1, batch, x, areCached: true)
            predict(x, rows: count, batch.runs, observe: { _ in })
            for row in 0..<count { try each(positions.lowerBound + row, logits(row)) }
        }
    }

    /// Reads the next tokens of answers, each after those before it of the same sequence.
    ///
    /// - Parameters:
    ///   - batch: at most `rows`.
    ///   - wanted: the rows whose logits are wanted, in the order in which `memory.logits` gets them.
    ///   - check: called before each layer; what it throws ends the reading, and the sequences are as
    ///     they were.
    ///   - observe: gets the last row's residual stream at every stage.
    func readRows(
        _ batch: RowBatch, wanted: [Int], check: () throws -> Void,
        observe: (UnsafePointer<Float>) -> Void = { _ in }
    ) rethrows {
        for (sequence, count) in batch.counts { sequence.willRead(count) }
        for (i, row) in batch.rows.enumerated() {
            embed(row.token, row: i, row.sequence.projections)
        }
        let width = model.width
        let last = memory.residual + (batch.rows.count - 1) * width
        for layer in 0..<model.layerCount {
            try check()
            observe(last)
            readRows(layer, batch, memory.residual)
        }
        for row in batch.rows {
            row.sequence.didRead(CollectionOfOne(row.token), asPrompt: false)
        }
        tokensComputed += batch.rows.count
        observe(last)
        for (i, row) in wanted.enumerated() where i != row {
            (memory.residual + i * width).update(from: memory.residual + row * width, count: width)
        }
        if wanted.isEmpty { return }
        predict(
            memory.residual, rows: wanted.count, batch.runs(of: wanted), observe: observe)
    }

    /// logits = head(norm(residual)) for some rows.
    private func predict(
        _ residual: UnsafePointer<Float>, rows: Int, _ runs: [RowBatch.Run],
        observe: (UnsafePointer<Float>) -> Void
    ) {
        let (design, width) = (model.design, model.width)
        RMSNorm.forward(
            residual, weight: weights.finalNorm.base, epsilon: model.normEpsilon, tokens: rows,
            width: width, into: memory.normed, inverse: memory.inverse)
        observe(memory.normed + (rows - 1) * width)
        if design.logitsMultiplier != 1 {
            Rows.scale(memory.normed, count: rows * width, by: design.logitsMultiplier)
        }
        predict(memory.normed, rows: rows, runs)
        if let cap = design.logitsSoftCap {
            SoftCap.forward(memory.logits, count: rows * model.vocabularySize, cap: cap)
        }
    }

    /// The logits of a row that `readRows` or `readPrompt` was asked for, [V].
    func logits(_ row: Int) -> UnsafeBufferPointer<Float> {
        UnsafeBufferPointer(
            start: memory.logits + row * model.vocabularySize, count: model.vocabularySize)
    }
}
