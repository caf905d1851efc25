import SkeinTensors

/// The dropout of one projection of one layer in one micro-batch: the address of its masks.
struct DropoutDraw {
    let dropout: Dropout
    let step: UInt32
    /// layer * 8 + the projection's address; the head is in a layer after the last.
    let place: UInt32
    let offsets: [Int]
    let sequenceNumbers: [UInt32]
    /// The tokens that the projection sees, ascending; nil: all.
    let rows: [Int]?

    /// Draws each sequence's mask at its own address, so that it is the same in any micro-batch.
    ///
    /// `mask` has room for all tokens, whichever rows are seen; theirs come first.
    func draw(into mask: UnsafeMutablePointer<UInt8>, columns: Int) {
        let rowBytes = Dropout.maskBytes(columns)
        for (index, number) in sequenceNumbers.enumerated() {
            let rows = offsets[index + 1] - offsets[index]
            dropout.draw(
                into: mask + offsets[index] * rowBytes, count: rows * rowBytes * 8,
                step: step, sequence: number, place: place)
        }
        guard let rows else { return }
        for (i, row) in rows.enumerated() where row > i {
            (mask + i * rowBytes).update(from: mask + row * rowBytes, count: rowBytes)
        }
    }
}
