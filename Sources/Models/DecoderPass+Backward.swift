import Formats
import Tensors

extension DecoderPass {
    /// Gradients of all LoRA matrices from the gradient in `memory.gradient`.
    ///
    /// Goes down to the lowest adapted layer and, in it, to the lowest adapted projection; nothing
    /// below is trained, so nothing below is multiplied.
    ///
    /// - Returns: false when the pass was abandoned on the way.
    func backward(into gradient: UnsafeMutablePointer<Float>) -> Bool {
        guard let shape = decoder.adapter, let lowest = shape.lowestLayer else { return true }
        for layer in stride(from: model.layerCount - 1, through: lowest, by: -1) {
            if progress?.isAbandoned == true { return false }
            if decoder.gradientCheckpointing { blockForward(layer, again: true) }
            let isLowest = layer == lowest
            let trainsAttention = TargetModule.allCases.contains { module in
                module < .gate && shape.has(module, in: layer)
            }
            feedForwardBackward(layer, gradient, needsInput: !isLowest || trainsAttention)
            if !isLowest || trainsAttention {
                attentionBackward(layer, gradient, isLowest: isLowest)
            }
            progress?.finishLayer()
        }
        return true
    }

    /// Adds to `memory.gradient` (that of the block's output) what flows back to its middle.
    private func feedForwardBackward(
        _ layer: Int, _ gradient: UnsafeMutablePointer<Float>, needsInput: Bool
    ) {
        let weights = decoder.weights.blocks[layer]
        let kept = block(layer)
        let count = tokens * model.feedForwardWidth
        let has = { (module: TargetModule) in decoder.adapter?.has(module, in: layer) ?? false }
        if has(.down) {
            SwiGLU.forward(gate: kept.gate, up: kept.up, count: count, into: memory.activated)
        }
        let needsGate = needsInput || has(.gate) || has(.up)
        back(
            .down, layer, memory.gradient, x: memory.activated,
            dx: needsGate ? memory.gateGradient : nil, beta: 0, gradient)
        guard needsGate else { return }
        SwiGLU.backward(
            da: memory.gateGradient, gate: kept.gate, up: kept.up, count: count,
            du: memory.upGradient)
        if has(.gate) || has(.up) {
            RMSNorm.again(
                kept.middle, weight: weights.middleNorm.base, inverse: kept.inverseMiddle,
                tokens: tokens, width: model.width, into: memory.normed)
        }
        let dx = needsInput ? memory.normedGradient : nil
        back(.gate, layer, memory.gateGradient, x: memory.normed, dx: dx, beta: 0, gradient)
        back(.up, layer, memory.upGradient, x: memory.normed, dx: dx, beta: 1, gradient)
        guard needsInput else { return }
        RMSNorm.backward(
            memory.normedGradient, x: kept.middle, weight: weights.middleNorm.base,
            inverse: kept.inverseMiddle, tokens: tokens, width: model.width,
            addingTo: memory.gradient)
    }

    /// Adds to `memory.gradient` (that of the block's middle) what flows back to its input.
    private func attentionBackward(
        _ layer: Int, _ gradient: UnsafeMutablePointer<Float>, isLowest: Bool
    ) {
        let weights = decoder.weights.blocks[layer]
        let kept = block(layer)
        let has = { (module: TargetModule) in decoder.adapter?.has(module, in: layer) ?? false }
        let adaptsInput = has(.query) || has(.key) || has(.value)
        let needsAttention = !isLowest || adaptsInput
        back(
            .output, layer, memory.gradient, x: kept.attended,
            dx: needsAttention ? memory.attendedGradient : nil, beta: 0, gradient)
        guard needsAttention else { return }
        attendBackward(kept)
        if adaptsInput {
            RMSNorm.again(
                residual(layer), weight: weights.inputNorm.base, inverse: kept.inverseInput,
                tokens: tokens, width: model.width, into: memory.normed)
        }
        let dx = isLowest ? nil : memory.normedGradient
        back(.query, layer, memory.q, x: memory.normed, dx: dx, beta: 0, gradient)
        back(.key, layer, memory.k, x: memory.normed, dx: dx, beta: 1, gradient)
        back(.value, layer, memory.v, x: memory.normed, dx: dx, beta: 1, gradient)
        guard !isLowest else { return }
        RMSNorm.backward(
            memory.normedGradient, x: residual(layer), weight: weights.inputNorm.base,
            inverse: kept.inverseInput, tokens: tokens, width: model.width,
            addingTo: memory.gradient)
    }

    /// From `attendedGradient` to the gradients of q, k and v before rotation.
    private func attendBackward(_ kept: BatchMemory.Block) {
        let queries = model.headCount * model.headDimension
        let keys = model.keyValueHeadCount * model.headDimension
        for (start, end) in zip(batch.offsets, batch.offsets.dropFirst()) {
            let count = end - start
            let dq = memory.q + start * queries
            let dk = memory.k + start * keys
            attention.backward(
                q: kept.q + start * queries, k: kept.k + start * keys, v: kept.v + start * keys,
                out: kept.attended + start * queries,
                dOut: memory.attendedGradient + start * queries,
                logSumExp: kept.logSumExp + start * model.headCount, tokens: count,
                dq: dq, dk: dk, dv: memory.v + start * keys, scratch: memory.attention,
                matMul: matMul)
            decoder.weights.rotary.rotate(
                dq, tokens: count, heads: model.headCount, firstPosition: 0, inverse: true)
            decoder.weights.rotary.rotate(
                dk, tokens: count, heads: model.keyValueHeadCount, firstPosition: 0, inverse: true)
        }
    }

    /// One projection's backward pass, its A and B gradients written to their place.
    private func back(
        _ module: TargetModule, _ layer: Int, _ dy: UnsafePointer<Float>,
        x: UnsafePointer<Float>, dx: UnsafeMutablePointer<Float>?, beta: Float,
        _ gradient: UnsafeMutablePointer<Float>
    ) {
        let pair = decoder.adapter?.pairs[layer][module.rawValue]
        linear(module, layer).backward(
            dy, x: x, dx: dx, beta: beta, reducedGradient: memory.reducedGradient,
            dA: pair.map { gradient + $0.a }, dB: pair.map { gradient + $0.b })
    }
}
