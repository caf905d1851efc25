import Formats
import Tensors

extension DecoderPass {
    /// H * N: numbers of a token's queries.
    var queryWidth: Int { model.headCount * model.headDimension }
    /// G * N: numbers of a token's keys.
    var keyWidth: Int { model.keyValueHeadCount * model.headDimension }

    /// Rotates q and k and attends, each sequence by itself.
    func attend(_ kept: BatchMemory.Block) {
        for (start, end) in zip(batch.offsets, batch.offsets.dropFirst()) {
            let count = end - start
            let q = kept.q + start * queryWidth
            let k = kept.k + start * keyWidth
            decoder.weights.rotary.rotate(
                q, tokens: count, heads: model.headCount, firstPosition: 0)
            decoder.weights.rotary.rotate(
                k, tokens: count, heads: model.keyValueHeadCount, firstPosition: 0)
            attention.forward(
                q: q, k: k, v: kept.v + start * keyWidth, tokens: count,
                out: kept.attended + start * queryWidth,
                logSumExp: kept.logSumExp + start * model.headCount,
                scratch: memory.attention, matMul: matMul)
        }
    }

    /// From `attendedGradient` to the gradients of q, k and v before rotation.
    func attendBackward(_ kept: BatchMemory.Block) {
        for (start, end) in zip(batch.offsets, batch.offsets.dropFirst()) {
            let count = end - start
            let dq = memory.q + start * queryWidth
            let dk = memory.k + start * keyWidth
            attention.backward(
                q: kept.q + start * queryWidth, k: kept.k + start * keyWidth,
                v: kept.v + start * keyWidth, out: kept.attended + start * queryWidth,
                dOut: memory.attendedGradient + start * queryWidth,
                logSumExp: kept.logSumExp + start * model.headCount, tokens: count,
                dq: dq, dk: dk, dv: memory.v + start * keyWidth, scratch: memory.attention,
                matMul: matMul)
            decoder.weights.rotary.rotate(
                dq, tokens: count, heads: model.headCount, firstPosition: 0, inverse: true)
            decoder.weights.rotary.rotate(
                dk, tokens: count, heads: model.keyValueHeadCount, firstPosition: 0, inverse: true)
        }
    }
}
