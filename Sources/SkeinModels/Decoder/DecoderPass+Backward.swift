import SkeinTensors

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
            let trainsAttention = shape.pairs[layer].contains { pair in
                pair.map { $0.module < .gate } ?? false
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
        let rows = upperRows(layer)
        if has(.down, layer) {
            switch compute {
            case .fp32:
                SwiGLU.forward(
                    gate: kept.gate, up: kept.up, count: rows * model.feedForwardWidth,
                    into: memory.activated)
            case .bf16: widenActivations(kept, rows: rows)
            }
        }
        let adapts = has(.gate, layer) || has(.up, layer)
        let needsGate = needsInput || adapts
        // Without adapters, the gradients in between are not needed as Float.
        let isRounded = compute == .bf16 && !adapts && !has(.down, layer)
        back(
            .down, layer, memory.gradient,
            needsGate ? operand(memory.gradient, rows: rows, columns: model.width) : nil,
            x: memory.activated, dx: memory.gateGradient, accumulating: false,
            rounded: isRounded ? roundedActivationGradient : nil, gradient)
        guard needsGate else { return }
        let (gate, up) = activationBackward(kept, rows: rows, isRounded: isRounded)
        if adapts {
            RMSNorm.again(
                kept.middle, weight: weights.middleNorm.base, inverse: kept.inverseMiddle,
                tokens: rows, width: model.width, into: memory.normed)
        }
        back(
            .gate, layer, memory.gateGradient, needsInput ? gate : nil, x: memory.normed,
            dx: memory.normedGradient, accumulating: false, gradient)
        back(
            .up, layer, memory.upGradient, needsInput ? up : nil, x: memory.normed,
            dx: memory.normedGradient, accumulating: true, gradient)
        guard needsInput else { return }
        RMSNorm.backward(
            memory.normedGradient, x: kept.middle, weight: weights.middleNorm.base,
            inverse: kept.inverseMiddle, tokens: rows, width: model.width,
            addingTo: memory.gradient)
    }

    /// Adds to `memory.gradient` (that of the block's middle) what flows back to its input.
    private func attentionBackward(
        _ layer: Int, _ gradient: UnsafeMutablePointer<Float>, isLowest: Bool
    ) {
        let weights = decoder.weights.blocks[layer]
        let kept = block(layer)
        let adaptsInput = has(.query, layer) || has(.key, layer) || has(.value, layer)
        let needsAttention = !isLowest || adaptsInput
        let rows = upperRows(layer)
        back(
            .output, layer, memory.gradient,
            needsAttention ? operand(memory.gradient, rows: rows, columns: model.width) : nil,
            x: outputInput(layer), dx: memory.attendedGradient, accumulating: false, gradient)
        guard needsAttention else { return }
        if isTrimmed(layer) {
            scatter(memory.attendedGradient, columns: queryWidth)
            scatter(memory.gradient, columns: model.width)
        }
        attendBackward(kept, layer)
        if adaptsInput {
            RMSNorm.again(
                residual(layer), weight: weights.inputNorm.base, inverse: kept.inverseInput,
                tokens: tokens, width: model.width, into: memory.normed)
        }
        let inputs: [(TargetModule, UnsafeMutablePointer<Float>, Int)] = [
            (.query, memory.q, queryWidth), (.key, memory.k, keyWidth),
            (.value, memory.v, keyWidth),
        ]
        for (module, dy, columns) in inputs {
            back(
                module, layer, dy,
                isLowest ? nil : operand(dy, rows: tokens, columns: columns), x: memory.normed,
                dx: memory.normedGradient, accumulating: module != .query, gradient)
        }
        guard !isLowest else { return }
        RMSNorm.backward(
            memory.normedGradient, x: residual(layer), weight: weights.inputNorm.base,
            inverse: kept.inverseInput, tokens: tokens, width: model.width,
            addingTo: memory.gradient)
    }

    /// One projection's backward pass; the gradients of A and B are written to their places.
    ///
    /// `operand`: dy as the frozen weight takes it; nil when the input needs no gradient, dx is then
    /// left alone. `rounded`: receives dx as bf16 instead.
    private func back(
        _ module: TargetModule, _ layer: Int, _ dy: UnsafePointer<Float>, _ operand: Operand?,
        x: UnsafePointer<Float>, dx: UnsafeMutablePointer<Float>, accumulating: Bool,
        rounded: UnsafeMutablePointer<UInt16>? = nil, _ gradient: UnsafeMutablePointer<Float>
    ) {
        let pair = decoder.adapter?.pair(module, in: layer)
        linear(module, layer).backward(
            dy, operand, x: x, dx: dx, accumulating: accumulating, rounded: rounded,
            dA: pair.map { gradient + $0.a }, dB: pair.map { gradient + $0.b })
    }
}
