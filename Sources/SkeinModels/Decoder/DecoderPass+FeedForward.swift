import SkeinTensors

// Gate, up and their activation, forward and backward.
extension DecoderPass {
    /// Gate and up of a block from its normed middle, `single` as Float and `middle` as frozen
    /// weights take it.
    ///
    /// With bf16 they are kept rounded for the backward pass.
    func gateAndUp(
        _ kept: BatchMemory.Block, _ layer: Int, _ single: UnsafePointer<Float>,
        _ middle: Operand, rows: Int
    ) {
        let gate = linear(.gate, layer)
        let up = linear(.up, layer)
        if compute == .bf16 && !gate.addsToProduct && !up.addsToProduct {
            gate.forward(single, middle, into: kept.gate, rounded: kept.roundedGate)
            up.forward(single, middle, into: kept.up, rounded: kept.roundedUp)
            return
        }
        gate.forward(single, middle, into: kept.gate)
        up.forward(single, middle, into: kept.up)
        guard compute == .bf16 else { return }
        let columns = model.feedForwardWidth
        BFloat16.round(kept.gate, rows: rows, columns: columns, into: kept.roundedGate)
        BFloat16.round(kept.up, rows: rows, columns: columns, into: kept.roundedUp)
    }

    /// f(gate) * up of a block, as the down projection takes it.
    ///
    /// With bf16 it is computed from the rounded numbers. `wantsSingle`: also as Float, in
    /// `memory.activated`.
    func activate(
        _ kept: BatchMemory.Block, _ layer: Int, rows: Int, wantsSingle: Bool
    ) -> Operand {
        let columns = model.feedForwardWidth
        switch compute {
        case .fp32:
            activation(layer).forward(
                gate: kept.gate, up: kept.up, count: rows * columns, into: memory.activated)
            return .single(memory.activated)
        case .int8:
            let activation = activation(layer)
            let quantized = QuantizedRows(
                of: memory.activated, rows: rows, columns: columns, in: memory.rounded
            ) { range in
                let first = range.lowerBound * columns
                activation.forward(
                    gate: kept.gate + first, up: kept.up + first, count: range.count * columns,
                    into: memory.activated + first)
            }
            return .quantized(quantized)
        case .bf16:
            activation(layer).forward(
                gate: kept.roundedGate, up: kept.roundedUp, rows: rows, columns: columns,
                into: memory.rounded)
            if wantsSingle { widenActivations(kept, layer, rows: rows) }
            return activations(memory.rounded, rows: rows)
        }
    }

    /// From the gradient of f(gate) * up to those of gate and up.
    ///
    /// `isRounded`: the former is in `roundedActivationGradient` and the latter are made as bf16
    /// only; otherwise it is in `gateGradient`, and they are also left there and in `upGradient`.
    func activationBackward(
        _ kept: BatchMemory.Block, _ layer: Int, rows: Int, isRounded: Bool
    ) -> (gate: Operand, up: Operand) {
        let columns = model.feedForwardWidth
        let count = rows * columns
        let activation = activation(layer)
        switch compute {
        case .fp32, .int8:
            activation.backward(
                da: memory.gateGradient, gate: kept.gate, up: kept.up, count: count,
                du: memory.upGradient)
            return (.single(memory.gateGradient), .single(memory.upGradient))
        case .bf16 where isRounded:
            activation.backward(
                da: roundedActivationGradient, gate: kept.roundedGate, up: kept.roundedUp,
                rows: rows, columns: columns, dg: kept.roundedGate, du: kept.roundedUp)
        case .bf16:
            widenGateAndUp(kept, rows: rows)
            activation.backward(
                da: memory.gateGradient, gate: kept.gate, up: kept.up, count: count,
                du: memory.upGradient)
            BFloat16.round(
                memory.gateGradient, rows: rows, columns: columns, into: kept.roundedGate)
            BFloat16.round(memory.upGradient, rows: rows, columns: columns, into: kept.roundedUp)
        }
        // The gradients replace what they were computed from.
        return (
            activations(kept.roundedGate, rows: rows), activations(kept.roundedUp, rows: rows)
        )
    }

    /// [T, F] in the memory of `activated`, which is unused then.
    var roundedActivationGradient: UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(memory.activated).assumingMemoryBound(to: UInt16.self)
    }

    /// Gate and up as Float again, and `memory.activated` from them.
    func widenActivations(_ kept: BatchMemory.Block, _ layer: Int, rows: Int) {
        widenGateAndUp(kept, rows: rows)
        activation(layer).forward(
            gate: kept.gate, up: kept.up, count: rows * model.feedForwardWidth,
            into: memory.activated)
    }

    /// Gate and up as Float again.
    func widenGateAndUp(_ kept: BatchMemory.Block, rows: Int) {
        let columns = model.feedForwardWidth
        BFloat16.widen(kept.roundedGate, rows: rows, columns: columns, into: kept.gate)
        BFloat16.widen(kept.roundedUp, rows: rows, columns: columns, into: kept.up)
    }
}
