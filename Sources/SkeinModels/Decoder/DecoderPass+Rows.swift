import SkeinTensors

// The rows that matter: from the last block's attention on, only those that carry loss.
extension DecoderPass {
    /// Whether the upper half of a block has only the loss rows: nobody reads what the last block
    /// makes of any other row.
    func isTrimmed(_ layer: Int) -> Bool { layer == model.layerCount - 1 }

    /// Rows of a block from its middle on.
    func upperRows(_ layer: Int) -> Int { isTrimmed(layer) ? batch.lossRows.count : tokens }

    /// What the output projection of a block reads.
    func outputInput(_ layer: Int) -> UnsafeMutablePointer<Float> {
        isTrimmed(layer) ? memory.lossAttended : block(layer).attended
    }

    /// The loss rows of x, [T, columns], one after the other.
    func gather(
        _ x: UnsafePointer<Float>, columns: Int, into y: UnsafeMutablePointer<Float>
    ) {
        for (i, row) in batch.lossRows.enumerated() {
            (y + i * columns).update(from: x + row * columns, count: columns)
        }
    }

    /// Moves the rows that `gather` collected back to their tokens; all others become zero.
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

    /// x as the frozen weights take it: unchanged, or rounded in `memory.rounded`.
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

    /// Numbers that are already rounded, [rows, F].
    func activations(_ x: UnsafePointer<UInt16>, rows: Int) -> Operand {
        let columns = model.feedForwardWidth
        return .rounded(
            RoundedRows(
                base: x, rows: rows, columns: columns,
                stride: RoundedRows.stride(columns: columns)))
    }
}
