import Formats
import Tensors

extension DecoderPass {
    /// Fills the residual stream up to the last block's output.
    ///
    /// - Returns: false when the pass was abandoned on the way.
    func forward() -> Bool {
        embed()
        for layer in 0..<model.layerCount {
            if progress?.isAbandoned == true { return false }
            blockForward(layer)
            progress?.finishLayer()
        }
        return true
    }

    /// The tokens' rows of the embedding.
    func embed() {
        let width = model.width
        for (t, token) in batch.tokens.enumerated() {
            decoder.weights.embedding.copyRow(Int(token), into: residual(0) + t * width)
        }
    }

    /// x' = x + attention(norm(x)); x'' = x' + feedForward(norm(x')).
    ///
    /// Shapes and ranges:
    ///   - again: called by the backward pass to fill the shared activations; the block's output is
    ///     already known then and the last product is left out.
    ///   - cache: receives the batch's keys and values behind what it holds; queries see all of it.
    func blockForward(_ layer: Int, again: Bool = false, cache: KVCache? = nil) {
        let weights = decoder.weights.blocks[layer]
        let kept = block(layer)
        let x = residual(layer)
        RMSNorm.forward(
            x, weight: weights.inputNorm.base, epsilon: model.normEpsilon, tokens: tokens,
            width: model.width, into: memory.normed, inverse: kept.inverseInput)
        linear(.query, layer).forward(memory.normed, into: kept.q)
        linear(.key, layer).forward(memory.normed, into: kept.k)
        linear(.value, layer).forward(memory.normed, into: kept.v)
        if let cache {
            attend(kept, layer, cache)
        } else {
            attend(kept)
        }
        kept.middle.update(from: x, count: tokens * model.width)
        linear(.output, layer).forward(kept.attended, into: kept.middle, beta: 1)
        RMSNorm.forward(
            kept.middle, weight: weights.middleNorm.base, epsilon: model.normEpsilon,
            tokens: tokens, width: model.width, into: memory.normed, inverse: kept.inverseMiddle)
        linear(.gate, layer).forward(memory.normed, into: kept.gate)
        linear(.up, layer).forward(memory.normed, into: kept.up)
        if again && decoder.adapter?.has(.down, in: layer) != true { return }
        SwiGLU.forward(
            gate: kept.gate, up: kept.up, count: tokens * model.feedForwardWidth,
            into: memory.activated)
        let y = residual(layer + 1)
        y.update(from: kept.middle, count: tokens * model.width)
        linear(.down, layer).forward(memory.activated, into: y, beta: 1)
    }

    /// Rotates q and k and attends, each sequence by itself.
    private func attend(_ kept: BatchMemory.Block) {
        let queries = model.headCount * model.headDimension
        let keys = model.keyValueHeadCount * model.headDimension
        for (start, end) in zip(batch.offsets, batch.offsets.dropFirst()) {
            let count = end - start
            let q = kept.q + start * queries
            let k = kept.k + start * keys
            decoder.weights.rotary.rotate(
                q, tokens: count, heads: model.headCount, firstPosition: 0)
            decoder.weights.rotary.rotate(
                k, tokens: count, heads: model.keyValueHeadCount, firstPosition: 0)
            attention.forward(
                q: q, k: k, v: kept.v + start * keys, tokens: count,
                out: kept.attended + start * queries,
                logSumExp: kept.logSumExp + start * model.headCount,
                scratch: memory.attention, matMul: matMul)
        }
    }

    /// Rotates q and k, appends k and v to the cache and attends over all of it.
    private func attend(_ kept: BatchMemory.Block, _ layer: Int, _ cache: KVCache) {
        let keys = model.keyValueHeadCount * model.headDimension
        let rotary = decoder.weights.rotary
        rotary.rotate(kept.q, tokens: tokens, heads: model.headCount, firstPosition: past)
        rotary.rotate(kept.k, tokens: tokens, heads: model.keyValueHeadCount, firstPosition: past)
        (cache.keys(layer) + past * keys).update(from: kept.k, count: tokens * keys)
        (cache.values(layer) + past * keys).update(from: kept.v, count: tokens * keys)
        attention.forward(
            q: kept.q, k: cache.keys(layer), v: cache.values(layer), tokens: tokens, past: past,
            out: kept.attended, logSumExp: nil, scratch: memory.attention, matMul: matMul)
    }
}
