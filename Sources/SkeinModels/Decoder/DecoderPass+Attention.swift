import SkeinTensors

extension DecoderPass {
    /// H * N: numbers of a token's queries.
    var queryWidth: Int { model.headCount * model.headDimension }
    /// G * N: numbers of a token's keys.
    var keyWidth: Int { model.keyValueHeadCount * model.headDimension }

    /// Rotates q and k and attends, each sequence by itself.
    func attend(_ kept: BatchMemory.Block, _ layer: Int) {
        let rotary = decoder.weights.blocks[layer].rotary
        for (start, end) in zip(batch.offsets, batch.offsets.dropFirst()) {
            let count = end - start
            let q = kept.q + start * queryWidth
            let k = kept.k + start * keyWidth
            rotary.rotate(q, tokens: count, heads: model.headCount, firstPosition: 0)
            rotary.rotate(
                k, tokens: count, heads: model.keyValueHeadCount, firstPosition: 0)
            let v = kept.v + start * keyWidth
            let out = kept.attended + start * queryWidth
            let logSumExp = kept.logSumExp + start * model.headCount
            switch compute {
            case .fp32:
                attention.forward(
                    q: q, k: k, v: v, tokens: count, out: out, logSumExp: logSumExp,
                    scratch: memory.attention, matMul: matMul)
            case .bf16:
                tellOfAttention(tokens: count, products: 2)
                roundedAttention.forward(
                    q: q, k: k, v: v, tokens: count, out: out, logSumExp: logSumExp,
                    scratch: memory.attention)
            }
        }
    }

    /// From `attendedGradient` to the gradients of q, k and v before rotation.
    func attendBackward(_ kept: BatchMemory.Block, _ layer: Int) {
        let rotary = decoder.weights.blocks[layer].rotary
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
            case .fp32:
                attention.backward(
                    q: q, k: k, v: v, out: out, dOut: dOut, logSumExp: logSumExp, tokens: count,
                    dq: dq, dk: dk, dv: dv, scratch: memory.attention, matMul: matMul)
            case .bf16:
                tellOfAttention(tokens: count, products: 5)
                roundedAttention.backward(
                    q: q, k: k, v: v, out: out, dOut: dOut, logSumExp: logSumExp, tokens: count,
                    dq: dq, dk: dk, dv: dv, scratch: memory.attention)
            }
            rotary.rotate(
                dq, tokens: count, heads: model.headCount, firstPosition: 0, inverse: true)
            rotary.rotate(
                dk, tokens: count, heads: model.keyValueHeadCount, firstPosition: 0, inverse: true)
        }
    }

    /// Adds `products` causal products of each head to a benchmark's tally.
    private func tellOfAttention(tokens: Int, products: Int) {
        guard let tally = matMul.tally else { return }
        let shape = MatMulTally.Shape(
            kind: .packed, m: tokens, n: (tokens + 1) / 2, k: model.headDimension)
        for _ in 0..<products * model.headCount { tally.add(shape) }
    }
}
