import SkeinTensors

extension DecoderPass {
    /// Gradients of all LoRA matrices from the gradient in `memory.gradient`.
    ///
    /// Goes down to the lowest adapted layer and, in it, to the lowest adapted projection; nothing
    /// below is trained, so nothing below is multiplied. With an adapted embedding it goes through all.
    ///
    /// - Returns: false when the pass was abandoned on the way.
    func backward(into gradient: UnsafeMutablePointer<Float>) -> Bool {
        guard let shape = decoder.adapter, let lowest = shape.lowestLayer else { return true }
        for layer in stride(from: model.layerCount - 1, through: lowest, by: -1) {
            if progress?.isAbandoned == true { return false }
            if decoder.gradientCheckpointing { blockForward(layer, again: true) }
            let isLowest = layer == lowest && !shape.hasEmbedding
            let trainsAttention = shape.pairs[layer].contains { pair in
                pair.map { $0.module < .gate } ?? false
            }
            feedForwardBackward(layer, gradient, needsInput: !isLowest || trainsAttention)
            if !isLowest || trainsAttention {
                attentionBackward(layer, gradient, isLowest: isLowest)
            }
            progress?.finishLayer()
        }
        embeddingBackward(into: gradient)
        return true
    }

    /// Adds to `memory.gradient` (that of the block's output) what flows back to its middle.
    private func feedForwardBackward(
        _ layer: Int, _ gradient: UnsafeMutablePointer<Float>, needsInput: Bool
    ) {
        let vectors = decoder.weights.blocks[layer].vectors
        let kept = block(layer)
        let rows = upperRows(layer)
        if has(.down, layer) {
            switch compute {
            case .fp32, .int8:
                activation(layer).forward(
                    gate: kept.gate, up: kept.up, count: rows * model.feedForwardWidth,
                    into: memory.activated)
            case .bf16: widenActivations(kept, layer, rows: rows)
            }
        }
        let dy = branchGradient(
            layer, vectors.afterFeedForward, kept.feedForwardBranch, rows: rows)
        let adapts = has(.gate, layer) || has(.up, layer)
        let needsGate = needsInput || adapts
        // Without adapters, the gradients in between are not needed as Float.
        let isRounded = compute == .bf16 && !adapts && !has(.down, layer)
        back(
            .down, layer, dy,
            needsGate ? gradientOperand(dy, rows: rows, columns: model.width) : nil,
            x: memory.activated, dx: memory.gateGradient, accumulating: false,
            rounded: isRounded ? roundedActivationGradient : nil, gradient)
        guard needsGate else { return }
        let (gate, up) = activationBackward(kept, layer, rows: rows, isRounded: isRounded)
        let input = Normed(
            x: kept.middle, weight: vectors.beforeFeedForward, inverse: kept.inverseMiddle,
            rows: rows)
        let x = again(input, isRead: adapts)
        back(
            .gate, layer, memory.gateGradient, needsInput ? gate : nil, x: x,
            dx: memory.normedGradient, accumulating: false, gradient)
        back(
            .up, layer, memory.upGradient, needsInput ? up : nil, x: x,
            dx: memory.normedGradient, accumulating: true, gradient)
        if needsInput { addGradient(of: input) }
    }

    /// What a half of a block reads: x, [rows, D], or its norm.
    private struct Normed {
        let x: UnsafeMutablePointer<Float>
        /// nil: x itself.
        let weight: FloatBuffer?
        let inverse: UnsafeMutablePointer<Float>
        let rows: Int
    }

    /// The input as Float once more; not computed when it is not read.
    private func again(_ input: Normed, isRead: Bool) -> UnsafePointer<Float> {
        guard let weight = input.weight else { return UnsafePointer(input.x) }
        if isRead {
            RMSNorm.again(
                input.x, weight: weight.base, inverse: input.inverse, tokens: input.rows,
                width: model.width, into: memory.normed)
        }
        return UnsafePointer(memory.normed)
    }

    /// Adds what flows through the input, in `normedGradient`, to `memory.gradient`.
    private func addGradient(of input: Normed) {
        guard let weight = input.weight else {
            Rows.add(
                memory.normedGradient, times: 1, count: input.rows * model.width,
                to: memory.gradient)
            return
        }
        RMSNorm.backward(
            memory.normedGradient, x: input.x, weight: weight.base, inverse: input.inverse,
            tokens: input.rows, width: model.width, addingTo: memory.gradient)
    }

    /// The gradient of a half's last product from that of the residual stream, which stays:
    /// through the norm after it and times m.
    private func branchGradient(
        _ layer: Int, _ norm: FloatBuffer?, _ branch: BatchMemory.Branch?, rows: Int
    ) -> UnsafeMutablePointer<Float> {
        let factor = model.design.blocks[layer].residualMultiplier
        let count = rows * model.width
        let out = memory.normedGradient
        if let norm, let branch {
            RMSNorm.backward(
                memory.gradient, x: branch.output, weight: norm.base, inverse: branch.inverse,
                tokens: rows, width: model.width, into: out)
        } else if factor == 1 {
            return memory.gradient
        } else {
            out.update(from: memory.gradient, count: count)
        }
        if factor != 1 { Rows.scale(out, count: count, by: factor) }
        return out
    }

    /// Adds to `memory.gradient` (that of the block's middle) what flows back to its input.
    private func attentionBackward(
        _ layer: Int, _ gradient: UnsafeMutablePointer<Float>, isLowest: Bool
    ) {
        let vectors = decoder.weights.blocks[layer].vectors
        let kept = block(layer)
        let adaptsInput = has(.query, layer) || has(.key, layer) || has(.value, layer)
        let needsAttention = !isLowest || adaptsInput
        let rows = upperRows(layer)
        let dy = branchGradient(layer, vectors.afterAttention, kept.attentionBranch, rows: rows)
        back(
            .output, layer, dy,
            needsAttention ? gradientOperand(dy, rows: rows, columns: model.width) : nil,
            x: outputInput(layer), dx: memory.attendedGradient, accumulating: false, gradient)
        guard needsAttention else { return }
        if isTrimmed(layer) {
            scatter(memory.attendedGradient, columns: queryWidth)
            scatter(memory.gradient, columns: model.width)
        }
        attendBackward(kept, layer)
        let input = Normed(
            x: residual(layer), weight: vectors.beforeAttention, inverse: kept.inverseInput,
            rows: tokens)
        let x = again(input, isRead: adaptsInput)
        let inputs: [(TargetModule, UnsafeMutablePointer<Float>, Int)] = [
            (.query, memory.q, queryWidth), (.key, memory.k, keyWidth),
            (.value, memory.v, keyWidth),
        ]
        for (module, dy, columns) in inputs {
            back(
                module, layer, dy,
                isLowest ? nil : gradientOperand(dy, rows: tokens, columns: columns), x: x,
                dx: memory.normedGradient, accumulating: module != .query, gradient)
        }
        if !isLowest { addGradient(of: input) }
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
        let projection = linear(module, layer)
        var (dy, operand) = (dy, operand)
        if let offset = pair?.magnitude, let magnitude = projection.adapter?.magnitude {
            dy = projection.unscaled(dy, magnitude, dm: gradient + offset)
            // What was rounded is the gradient before it was scaled.
            operand = operand.map { _ in
                gradientOperand(dy, rows: projection.rows, columns: projection.weight.rows)
            }
        }
        projection.backward(
            dy, operand, x: x, dx: dx, accumulating: accumulating, rounded: rounded,
            dA: pair.map { gradient + $0.a }, addingToA: pair?.sharesA ?? false,
            dB: pair.map { gradient + $0.b })
    }
}
