import SkeinTensors

// What an adapter adds to the product with the frozen weight.
extension LoRALinear {
    /// Columns of y that are finished together, while they are in the second-level cache; all of them
    /// with a bias, which is added to whole rows, where idle threads take parts of the product, and where
    /// a library multiplies, whose bits depend on how much it is given.
    var parts: [Range<Int>] {
        let isLibrarys = weight.input == .single && !MatMul.isOwn
        if bias != nil || isLibrarys || tools.matMul.place?.hasHelpers == true {
            return [0..<weight.rows]
        }
        let most = max(256, (128 << 10) / max(1, rows) / 64 * 64)
        let count = (weight.rows + most - 1) / most
        // All have about one width, because a narrow one pays as much around its products.
        let step = ((weight.rows + count - 1) / count + 63) / 64 * 64
        return stride(from: 0, to: weight.rows, by: step).map { $0..<min($0 + step, weight.rows) }
    }

    /// y += scale * B (A dropout(x)).
    func add(
        _ adapter: Adapter, _ x: UnsafePointer<Float>, to y: UnsafeMutablePointer<Float>
    ) {
        reduce(adapter, x)
        expand(adapter, to: y, 0..<weight.rows)
    }

    /// Draws the mask, makes scale * A dropout(x) and transposes B.
    func reduce(_ adapter: Adapter, _ x: UnsafePointer<Float>) {
        let (outputs, inputs) = (weight.rows, weight.columns)
        adapter.dropout?.draw(into: adapter.memory.mask, columns: inputs)
        let rank = adapter.rank
        LowRank.reduce(
            x, tokens: rows, columns: inputs, by: adapter.a, rank: rank, scale: adapter.scale,
            mask: adapter.mask, into: adapter.memory.reduced)
        LowRank.transpose(adapter.b, rows: outputs, columns: rank, into: transposed)
        count(inputs, rank)
        count(outputs, rank)
    }

    /// Columns `range` of y += B times what `reduce` has made.
    func expand(
        _ adapter: Adapter, to y: UnsafeMutablePointer<Float>, _ range: Range<Int>
    ) {
        LowRank.expand(
            adapter.memory.reduced, tokens: rows, rank: adapter.rank, by: transposed,
            columns: weight.rows, addingTo: y, range: range)
    }
}
