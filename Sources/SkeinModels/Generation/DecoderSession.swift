import SkeinTensors

/// Reads tokens one after the other with a cache and gives the logits of the last one.
///
/// A single token is multiplied straight with the packed weights (`DecoderSession+Token`), many
/// tokens in blocks (`DecoderSession+Prompt`); both on the threads of a team. Results do not depend
/// on the number of threads: every number of an output belongs to one piece of work. Not Sendable:
/// one generation owns it. No dropout; the adapter is applied as in training, up to rounding.
package final class DecoderSession {
    /// Tokens that are read at once: enough to make loading the weights cheap, few enough that a
    /// product's input stays in the second-level cache.
    static func blockTokens(_ compute: ComputeType) -> Int { compute == .fp32 ? 256 : 512 }

    let weights: GenerationWeights
    /// For a prompt's products with the weights; a single token is multiplied in fp32.
    let compute: ComputeType
    let projections: GenerationProjections
    let team: ComputeTeam
    let memory: GenerationMemory
    /// One for each layer.
    let rotations: [Rotation]
    /// One for each layer.
    let attentions: [CachedAttention]
    /// Where each layer's keys and values begin in `cache`.
    private let places: [Int]
    /// Keys and values.
    private let cache: FloatBuffer
    /// The tokens that the cache holds, if some would be turned differently in a longer row.
    private var history: [Int32] = []
    /// Tokens of the row as far as it was known when the cached keys were turned.
    private(set) var rowLength = 0
    /// Tokens that the row will have at least: the caller reads them one by one and wants them as
    /// if they were read at once.
    package var expectedLength = 0
    /// Tokens that fit.
    private let capacity: Int
    /// Tokens that the cache holds.
    private(set) var count = 0
    /// The same with those of a block that was not finished: where a window was written over.
    private var writtenCount = 0

    /// Bytes of keys and values for `tokens` tokens of prompt and answer.
    package static func cacheBytes(_ tokens: Int, of model: ModelConfiguration) -> Int {
        attentions(model, capacity: tokens, appended: blockTokens(.bf16)).reduce(0) {
            $0 + 4 * $1.layerCount
        }
    }

    /// How each layer attends; `appended`: tokens whose keys are cached before the first attends.
    static func attentions(
        _ model: ModelConfiguration, capacity: Int, appended: Int
    ) -> [CachedAttention] {
        (0..<model.layerCount).map {
            CachedAttention(model.attention($0), capacity: capacity, appended: appended)
        }
    }

    /// Shapes and ranges:
    ///   - adapter: nil for the base model.
    ///   - capacity: tokens of prompt and answer together.
    ///   - team: the threads that compute; nobody else may use them at the same time.
    ///   - compute: for a prompt's products with the weights.
    package convenience init(
        weights: GenerationWeights, adapter: AdapterParameters?, capacity: Int, team: ComputeTeam,
        compute: ComputeType = .fp32
    ) {
        self.init(
            weights: weights, shape: adapter?.shape, parameters: adapter?.values,
            capacity: capacity, team: team, compute: compute)
    }

    /// A session over a training decoder's weights, packed once more for it.
    ///
    /// Shapes and ranges:
    ///   - parameters: the flat vector of LoRA matrices; nil for the base model.
    ///   - capacity: tokens of prompt and answer together.
    package convenience init(
        decoder: Decoder, parameters: [Float]?, capacity: Int, threads: Int = 1
    ) {
        let team = ComputeTeam(threadCount: threads)
        self.init(
            weights: GenerationWeights(decoder: decoder, team: team), shape: decoder.adapter,
            parameters: parameters, capacity: capacity, team: team, compute: .fp32)
    }

    private init(
        weights: GenerationWeights, shape: AdapterShape?, parameters: [Float]?, capacity: Int,
        team: ComputeTeam, compute: ComputeType
    ) {
        let model = weights.configuration
        self.weights = weights
        self.team = team
        self.capacity = capacity
        self.compute = compute
        projections = GenerationProjections(weights, adapter: shape, parameters: parameters)
        let tokens = max(1, min(Self.blockTokens(compute), capacity))
        attentions = Self.attentions(model, capacity: capacity, appended: tokens)
        memory = GenerationMemory(
            model, compute: compute, tokens: tokens, rank: projections.rank,
            attention: attentions.reduce(0) { max($0, $1.scratchCount(keys: capacity)) },
            threads: team.threadCount)
        rotations = Rotation.ofLayers(model, positions: capacity)
        var count = 0
        places = attentions.map { attention in
            defer { count += attention.layerCount }
            return count
        }
        cache = FloatBuffer(count: count)
    }

    var model: ModelConfiguration { weights.configuration }

    /// Tokens that still fit.
    package var room: Int { capacity - count }

    /// Bytes of weights and cache read for a token that sees `keys` tokens, itself included.
    package func bytesOfToken(keys: Int) -> Int {
        attentions.reduce(weights.bytesPerToken) { $0 + $1.byteCount(keys: keys) }
    }

    /// Whether the cache still has what the token after the first `tokens` sees.
    package func canTruncate(to tokens: Int) -> Bool {
        guard tokens <= count else { return false }
        return tokens == 0
            || attentions.allSatisfy { $0.holds(whatIsSeenAt: tokens, of: writtenCount) }
    }

    /// Forgets the last tokens, to continue from an earlier place.
    package func truncate(to tokens: Int) {
        precondition(canTruncate(to: tokens), "a window has forgotten what came before")
        count = tokens
        if tokens == 0 { writtenCount = 0 }
        if history.count > tokens { history.removeLast(history.count - tokens) }
    }

    /// The `check` of a caller that wants what it asks for.
    package static func uninterrupted() {}

    /// Appends `tokens` (at least one, at most `room`) and returns the last one's logits, [V].
    package func logits(after tokens: [Int32]) -> [Float] {
        withLogits(after: tokens, check: Self.uninterrupted) { Array($0) }
    }

    /// Appends `tokens` and calls `body` with the last one's logits, [V], without a copy.
    ///
    /// `check` is called before each layer of each block; what it throws ends the reading, and the
    /// blocks that were not finished are not part of the session.
    package func withLogits<Result>(
        after tokens: [Int32], check: () throws -> Void,
        _ body: (UnsafeBufferPointer<Float>) throws -> Result
    ) rethrows -> Result {
        try append(tokens, check: check) { _ in }
        return try body(
            UnsafeBufferPointer(start: memory.logits, count: model.vocabularySize))
    }

    /// Appends `tokens`; the logits of the last one, and its residual stream after the embedding,
    /// after each block and after the final norm: `layerCount + 2` vectors of [D].
    package func read(_ tokens: [Int32]) -> (logits: [Float], hidden: [[Float]]) {
        var hidden: [[Float]] = []
        let width = model.width
        append(tokens, check: Self.uninterrupted) {
            hidden.append(Array(UnsafeBufferPointer(start: $0, count: width)))
        }
        let logits = UnsafeBufferPointer(start: memory.logits, count: model.vocabularySize)
        return (Array(logits), hidden)
    }

    /// `observe` gets the last token's residual stream at every stage.
    private func append(
        _ tokens: [Int32], check: () throws -> Void, observe: (UnsafePointer<Float>) -> Void
    ) rethrows {
        precondition(!tokens.isEmpty && tokens.count <= room, "tokens fit the cache")
        let tokens = turnAgain(before: tokens)
        var last = memory.residual
        let blockTokens = Self.blockTokens(compute)
        for first in stride(from: 0, to: tokens.count, by: blockTokens) {
            let block = tokens[first..<min(tokens.count, first + blockTokens)]
            let isLast = block.endIndex == tokens.count
            writtenCount = max(writtenCount, count + block.count)
            embed(block)
            last = memory.residual + (block.count - 1) * model.width
            for layer in 0..<model.layerCount {
                try check()
                if isLast { observe(last) }
                if block.count == 1 {
                    readToken(layer, last, position: count)
                } else {
                    readBlock(layer, tokens: block.count, isLast: isLast)
                }
            }
            count += block.count
            if rotations.contains(where: \.dependsOnLength) { history += block }
        }
        observe(last)
        RMSNorm.forward(
            last, weight: weights.finalNorm.base, epsilon: model.normEpsilon, tokens: 1,
            width: model.width, into: memory.normed, inverse: memory.inverse)
        observe(memory.normed)
        let design = model.design
        if design.logitsMultiplier != 1 {
            Rows.scale(memory.normed, count: model.width, by: design.logitsMultiplier)
        }
        predict(memory.normed)
        if let cap = design.logitsSoftCap {
            SoftCap.forward(memory.logits, count: model.vocabularySize, cap: cap)
        }
    }

    /// All that must be read for `tokens` to be: with what is cached already when a row of this
    /// length turns it differently.
    private func turnAgain(before tokens: [Int32]) -> [Int32] {
        let length = max(expectedLength, count + tokens.count)
        defer { rowLength = length }
        guard count > 0, rotations.contains(where: { $0.differs(rowLength, length) }) else {
            return tokens
        }
        let all = history + tokens
        history = []
        count = 0
        return all
    }

    private func embed(_ tokens: ArraySlice<Int32>) {
        for (i, token) in tokens.enumerated() {
            weights.embedding.copyRow(
                Int(token), into: memory.residual + i * model.width, scratch: memory.scratch[0])
        }
        let factor = model.design.embeddingMultiplier
        if factor != 1 {
            Rows.scale(memory.residual, count: tokens.count * model.width, by: factor)
        }
    }

    /// A layer's keys and values.
    func cached(_ layer: Int) -> UnsafeMutablePointer<Float> { cache.base + places[layer] }
}
