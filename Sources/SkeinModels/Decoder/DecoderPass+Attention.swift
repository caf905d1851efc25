import SkeinTensors

extension DecoderPass {
    /// H * N: numbers of a token's queries.
    var queryWidth: Int { model.headCount * model.headDimension }
    /// G * N: numbers of a token's keys.
    var keyWidth: Int { model.keyValueHeadCount * model.headDimension }

    /// Norms and rotates q and k and attends, each sequence by itself.
    func attend(_ kept: BatchMemory.Block, _ layer: Int) {
        let weights = decoder.weights.blocks[layer]
        normHeads(kept, layer)
        let shape = model.attention(layer)
        for (start, end) in zip(batch.offsets, batch.offsets.dropFirst()) {
            // The row's last token is only ever a target, and belongs to its length all the same.
            let count = end - start
            let q = kept.q + start * queryWidth
            let k = kept.k + start * keyWidth
            weights.rotation.turnQueries(
                q, tokens: count, heads: model.headCount, headDimension: model.headDimension,
                first: 0, length: count + 1)
            weights.rotation.turnKeys(
                k, tokens: count, heads: model.keyValueHeadCount, first: 0, length: count + 1)
            let v = kept.v + start * keyWidth
            let out = kept.attended + start * queryWidth
            let logSumExp = kept.logSumExp + start * model.headCount
            switch compute {
            case .fp32, .int8:
                Attention(shape).forward(
                    q: q, k: k, v: v, tokens: count, out: out, logSumExp: logSumExp,
                    scratch: memory.attention, matMul: matMul)
            case .bf16:
                tellOfAttention(shape, tokens: count, products: 2)
                RoundedAttention(shape).forward(
                    q: q, k: k, v: v, tokens: count, out: out, logSumExp: logSumExp,
                    scratch: memory.attention)
            }
        }
    }

    /// From `attendedGradient` to the gradients of q, k and v as their projections gave them.
    func attendBackward(_ kept: BatchMemory.Block, _ layer: Int) {
        let rotation = decoder.weights.blocks[layer].rotation
        let shape = model.attention(layer)
        for (start, end) in zip(batch.offsets, batch.offsets.dropFirst()) {
            let count = end - start
            let dq = memory.q + start * queryWidth
            let dk = memory.k + start * keyWidth
            let (q, k) = (kept.q + start * queryWidth, kept.k + start * keyWidth)
            let (v, dv) = (kept.v + start * keyWidth, memory.v + start * keyWidth)
            let out = kept.attended + start * queryWidth
            let dOut = memory.attendedGradient + start * queryWidth
            let logSumExp = kept.logSumExp + start * model.headCount
            switch compute {
            case .fp32, .int8:
                Attention(shape).backward(
                    q: q, k: k, v: v, out: out, dOut: dOut, logSumExp: logSumExp, tokens: count,
                    dq: dq, dk: dk, dv: dv, scratch: memory.attention, matMul: matMul)
            case .bf16:
                tellOfAttention(shape, tokens: count, products: 5)
                RoundedAttention(shape).backward(
                    q: q, k: k, v: v, out: out, dOut: dOut, logSumExp: logSumExp, tokens: count,
                    dq: dq, dk: dk, dv: dv, scratch: memory.attention)
            }
            rotation.turnQueries(
                dq, tokens: count, heads: model.headCount, headDimension: model.headDimension,
                first: 0, length: count + 1, inverse: true)
            rotation.turnKeys(
                dk, tokens: count, heads: model.keyValueHeadCount, first: 0, length: count + 1,
                inverse: true)
        }
        normHeadsBackward(kept, layer)
    }

    /// A layer's norms of queries and of keys.
    private func headNorms(_ kept: BatchMemory.Block, _ layer: Int) -> [HeadNorm] {
        let vectors = decoder.weights.blocks[layer].vectors
        guard let query = vectors.query, let key = vectors.key, let raw = kept.raw else {
            return []
        }
        return [
            HeadNorm(
                query, tokens: tokens, columns: queryWidth, raw: raw.q, normed: kept.q,
                gradient: memory.q, inverse: raw.inverseQ),
            HeadNorm(
                key, tokens: tokens, columns: keyWidth, raw: raw.k, normed: kept.k,
                gradient: memory.k, inverse: raw.inverseK),
        ]
    }

    /// q and k from what their projections gave.
    private func normHeads(_ kept: BatchMemory.Block, _ layer: Int) {
        for norm in headNorms(kept, layer) {
            RMSNorm.forward(
                norm.raw, weight: norm.weight, epsilon: model.normEpsilon, tokens: norm.rows,
                width: norm.width, into: norm.normed, inverse: norm.inverse)
        }
    }

    /// From the gradients of the normed q and k to those of what their projections gave, in place.
    private func normHeadsBackward(_ kept: BatchMemory.Block, _ layer: Int) {
        for norm in headNorms(kept, layer) {
            RMSNorm.backward(
                norm.gradient, x: norm.raw, weight: norm.weight, inverse: norm.inverse,
                tokens: norm.rows, width: norm.width, into: norm.gradient)
        }
    }

    /// Adds `products` causal products of each head to a benchmark's tally.
    private func tellOfAttention(_ shape: AttentionShape, tokens: Int, products: Int) {
        guard let tally = matMul.tally else { return }
        let product = MatMulTally.Shape(
            kind: .packed, m: tokens, n: (shape.pairs(tokens: tokens) + tokens - 1) / tokens,
            k: model.headDimension)
        for _ in 0..<products * model.headCount { tally.add(product) }
    }
}

/// A norm of queries or keys: its rows are single heads, or all heads of a token.
private struct HeadNorm {
    let weight: UnsafePointer<Float>
    let rows: Int
    let width: Int
    let raw: UnsafeMutablePointer<Float>
    let normed: UnsafeMutablePointer<Float>
    let gradient: UnsafeMutablePointer<Float>
    let inverse: UnsafeMutablePointer<Float>

    /// `columns`: numbers of a token's queries or keys.
    init(
        _ weight: FloatBuffer, tokens: Int, columns: Int, raw: UnsafeMutablePointer<Float>,
        normed: UnsafeMutablePointer<Float>, gradient: UnsafeMutablePointer<Float>,
        inverse: UnsafeMutablePointer<Float>
    ) {
        self.weight = UnsafePointer(weight.base)
        rows = tokens * (columns / weight.count)
        width = weight.count
        self.raw = raw
        self.normed = normed
        self.gradient = gradient
        self.inverse = inverse
    }
}

extension ModelConfiguration {
    /// How a layer attends.
    package func attention(_ layer: Int) -> AttentionShape {
        let block = design.blocks[layer]
        return AttentionShape(
            heads: headCount, keyValueHeads: keyValueHeadCount, headDimension: headDimension,
            scale: block.attentionScale, window: block.window, softCap: block.attentionSoftCap)
    }
}
