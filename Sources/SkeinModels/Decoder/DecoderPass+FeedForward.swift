import SkeinTensors

// Gate, up and their activation, forward and backward.
extension DecoderPass {
    /// Gate and up of a block from its normed middle.
    ///
    /// With bf16 they are kept rounded for the backward pass.
    func gateAndUp(_ kept: BatchMemory.Block, _ layer: Int, _ middle: Operand, rows: Int) {
        let gate = linear(.gate, layer)
        let up = linear(.up, layer)
        let adapts = has(.gate, layer) || has(.up, layer)
        if compute == .bf16 && !adapts {
            gate.forward(memory.normed, middle, into: kept.gate, rounded: kept.roundedGate)
            up.forward(memory.normed, middle, into: kept.up, rounded: kept.roundedUp)
            return
        }
        gate.forward(memory.normed, middle, into: kept.gate)
        up.forward(memory.normed, middle, into: kept.up)
        guard compute == .bf16 else { return }
        let columns = model.feedForwardWidth
        BFloat16.round(kept.gate, rows: rows, columns: columns, into: kept.roundedGate)
        BFloat16.round(kept.up, rows: rows, columns: columns, into: kept.roundedUp)
    }

    /// silu(gate) * up of a block, as the down projection takes it.
    ///
    /// With bf16 it is computed from the rounded numbers. `wantsSingle`: also as Float, in
    /// `memory.activated`.
    func activate(_ kept: BatchMemory.Block, rows: Int, wantsSingle: Bool) -> Operand {
        let columns = model.feedForwardWidth
        switch compute {
        case .fp32:
            SwiGLU.forward(
                gate: kept.gate, up: kept.up, count: rows * columns, into: memory.activated)
            return .single(memory.activated)
        case .bf16:
            SwiGLU.forward(
                gate: kept.roundedGate, up: kept.roundedUp, rows: rows, columns: columns,
                into: memory.rounded)
            if wantsSingle { widenActivations(kept, rows: rows) }
            return activations(memory.rounded, rows: rows)
        }
    }

    /// From the gradient of silu(gate) * up to those of gate and up.
    ///
    /// `isRounded`: the former is in `roundedActivationGradient` and the latter are made as bf16
    /// only; otherwise it is in `gateGradient`, and they are also left there and in `upGradient`.
    func activationBackward(
        _ kept: BatchMemory.Block, rows: Int, isRounded: Bool
    ) -> (gate: Operand, up: Operand) {
        let columns = model.feedForwardWidth
        let count = rows * columns
        switch compute {
        case .fp32:
            SwiGLU.backward(
                da: memory.gateGradient, gate: kept.gate, up: kept.up, count: count,
                du: memory.upGradient)
            return (.single(memory.gateGradient), .single(memory.upGradient))
        case .bf16 where isRounded:
            SwiGLU.backward(
                da: roundedActivationGradient, gate: kept.roundedGate, up: kept.roundedUp,
                rows: rows, columns: columns, dg: kept.roundedGate, du: kept.roundedUp)
        case .bf16:
            widenGateAndUp(kept, rows: rows)
            SwiGLU.backward(
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
    func widenActivations(_ kept: BatchMemory.Block, rows: Int) {
        widenGateAndUp(kept, rows: rows)
        SwiGLU.forward(
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
