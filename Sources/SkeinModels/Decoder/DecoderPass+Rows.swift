import SkeinFormats
import SkeinTensors

// The rows that matter: from the last block's attention on, only those that carry loss.
extension DecoderPass {
    /// Whether the upper half of a block has the loss rows only. No other token reads what the last
    /// block makes of its own row.
    func isTrimmed(_ layer: Int) -> Bool { layer == model.layerCount - 1 }

    /// Rows of a block from its middle on.
    func upperRows(_ layer: Int) -> Int { isTrimmed(layer) ? batch.lossRows.count : tokens }

    /// What the output projection of a block reads.
    func outputInput(_ layer: Int) -> UnsafeMutablePointer<Float> {
        isTrimmed(layer) ? memory.lossAttended : block(layer).attended
    }

    /// The loss rows of x, [T, columns], one behind the other.
    func gather(
        _ x: UnsafePointer<Float>, columns: Int, into y: UnsafeMutablePointer<Float>
    ) {
        for (i, row) in batch.lossRows.enumerated() {
            (y + i * columns).update(from: x + row * columns, count: columns)
        }
    }

    /// Moves the rows that `gather` brought together back to their tokens; all others become zero.
    ///
    /// In place, last row first: a row only ever moves down.
    func scatter(_ x: UnsafeMutablePointer<Float>, columns: Int) {
        var end = tokens
        for (i, row) in batch.lossRows.enumerated().reversed() {
            (x + (row + 1) * columns).update(repeating: 0, count: (end - row - 1) * columns)
            if row > i { (x + row * columns).update(from: x + i * columns, count: columns) }
            end = row
        }
        x.update(repeating: 0, count: end * columns)
    }

    /// x as the frozen weights take it: as it is, or rounded in `memory.rounded`.
    func operand(_ x: UnsafePointer<Float>, rows: Int, columns: Int) -> Operand {
        switch compute {
        case .fp32: return .single(x)
        case .bf16:
            return .rounded(
                RoundedRows(
                    rounding: x, stride: columns, rows: rows, columns: columns,
                    in: memory.rounded))
        }
    }

    /// Numbers that are rounded already, [rows, F].
    func activations(_ x: UnsafePointer<UInt16>, rows: Int) -> Operand {
        let columns = model.feedForwardWidth
        return .rounded(
            RoundedRows(
                base: x, rows: rows, columns: columns,
                stride: RoundedRows.stride(columns: columns)))
    }

    /// Whether a projection of a layer has an adapter.
    func has(_ module: TargetModule, _ layer: Int) -> Bool {
        decoder.adapter?.has(module, in: layer) ?? false
    }

    /// The norm of x, [rows, D], as frozen weights take it.
    ///
    /// `wantsSingle`: also as Float, in `memory.normed`; with fp32 it always is.
    func norm(
        _ x: UnsafePointer<Float>, weight: FloatBuffer, inverse: UnsafeMutablePointer<Float>,
        rows: Int, wantsSingle: Bool
    ) -> Operand {
        let width = model.width
        // The zero behind an odd row is the other way's to write.
        let direct = compute == .bf16 && width.isMultiple(of: 2)
        RMSNorm.forward(
            x, weight: weight.base, epsilon: model.normEpsilon, tokens: rows, width: width,
            into: wantsSingle || !direct ? memory.normed : nil,
            bf16: direct ? memory.rounded : nil, inverse: inverse)
        guard direct else { return operand(memory.normed, rows: rows, columns: width) }
        return .rounded(
            RoundedRows(
                base: memory.rounded, rows: rows, columns: width,
                stride: RoundedRows.stride(columns: width)))
    }

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
    /// With bf16 it is that of the rounded numbers. `wantsSingle`: also as Float, in
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

    /// Gate and up as Float again, and `memory.activated` of them.
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
