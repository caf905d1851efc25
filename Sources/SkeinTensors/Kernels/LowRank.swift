import CSkeinKernels

/// The thin products of LoRA (Hu et al. 2021): one side is the rank, and dropout happens inside.
///
/// As calls of sgemm they reach half of its speed, and dropped inputs need a copy of the
/// activations. Letters: `T` tokens, `R` rank, 1...1024, fast at multiples of 8. Rows are
/// contiguous. Bits depend on operands and shape (and on fused multiply-add), never on the rows of
/// a call. Checked against a loop in Double by `LowRankTests`.
package enum LowRank {
    /// Which elements dropout keeps, as `Dropout.draw` writes them.
    ///
    /// A dropped element counts as 0, even if it is NaN or infinite: it is not multiplied at all.
    package struct Mask {
        let bits: UnsafePointer<UInt8>
        let keptScale: Float

        /// Shapes and ranges:
        ///   - bits: [T, `Dropout.maskBytes(columns)`], 1 = kept.
        ///   - keptScale: what kept elements are multiplied by.
        package init(_ bits: UnsafePointer<UInt8>, keptScale: Float) {
            self.bits = bits
            self.keptScale = keptScale
        }
    }

    /// reduced = scale * dropout(x) a^T.
    ///
    /// Shapes and ranges:
    ///   - x: [T, columns].
    ///   - a: [R, columns].
    ///   - reduced: [T, R], overwritten.
    package static func reduce(
        _ x: UnsafePointer<Float>, tokens: Int, columns: Int,
        by a: UnsafePointer<Float>, rank: Int, scale: Float = 1, mask: Mask? = nil,
        into reduced: UnsafeMutablePointer<Float>
    ) {
        spread(a, rank: rank, columns: columns, 0..<columns) { a, stride in
            skein_lowrank_reduce(
                skein_level(), x, tokens, columns, a, stride, rank, scale, mask?.bits,
                mask?.keptScale ?? 1, reduced)
        }
    }

    /// y += dropout'(reduced a): with a mask each sum is multiplied by the factor that its element
    /// of the input had.
    ///
    /// Shapes and ranges:
    ///   - reduced: [T, R].
    ///   - a: [R, columns].
    ///   - y: [T, columns], added to.
    ///   - range: the only columns that are read and added to; nil, and with a mask: all.
    package static func expand(
        _ reduced: UnsafePointer<Float>, tokens: Int, rank: Int,
        by a: UnsafePointer<Float>, columns: Int, mask: Mask? = nil,
        addingTo y: UnsafeMutablePointer<Float>, range: Range<Int>? = nil
    ) {
        precondition(mask == nil || range == nil)
        let range = range ?? 0..<columns
        let first = range.lowerBound
        spread(a, rank: rank, columns: columns, range) { a, stride in
            skein_lowrank_expand(
                skein_level(), reduced, tokens, rank, a, stride, range.count, mask?.bits,
                mask?.keptScale ?? 1, y + first, columns)
        }
    }

    /// d = reduced^T dropout(x), the gradient of `a` in `reduce`.
    ///
    /// Shapes and ranges:
    ///   - reduced: [T, R].
    ///   - x: [T, columns].
    ///   - d: [R, columns], overwritten; zeros if there are no tokens.
    package static func outer(
        _ reduced: UnsafePointer<Float>, tokens: Int, rank: Int,
        with x: UnsafePointer<Float>, columns: Int, mask: Mask? = nil,
        into d: UnsafeMutablePointer<Float>
    ) {
        skein_lowrank_outer(
            skein_level(), reduced, tokens, rank, x, columns, mask?.bits, mask?.keptScale ?? 1, d)
    }

    /// Floats from one row of `a` to the next in a product: never a multiple of 4 KiB.
    static func stride(columns: Int) -> Int { skein_lowrank_stride(columns) }

    /// Calls `body` with columns `range` of `a` [R, columns] and the stride of its rows: in place or,
    /// when they would share one set of the first-level cache, a copy. A copy costs as much as a token
    /// of the product.
    private static func spread(
        _ a: UnsafePointer<Float>, rank: Int, columns: Int, _ range: Range<Int>,
        _ body: (_ a: UnsafePointer<Float>, _ stride: Int) -> Void
    ) {
        let from = a + range.lowerBound
        guard stride(columns: columns) != columns else { return body(from, columns) }
        let stride = stride(columns: range.count)
        let bytes = rank * stride * MemoryLayout<Float>.stride
        withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 64) { memory in
            let copy = memory.bindMemory(to: Float.self)
            guard let base = copy.baseAddress else { return }
            for r in 0..<rank {
                (base + r * stride).update(from: from + r * columns, count: range.count)
            }
            body(base, stride)
        }
    }

    /// out = x^T: B of an adapter, [out, R], in the form of these products, and its gradient back.
    ///
    /// Shapes and ranges:
    ///   - x: [rows, columns].
    ///   - out: [columns, rows], overwritten; may not overlap x.
    package static func transpose(
        _ x: UnsafePointer<Float>, rows: Int, columns: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        skein_transpose(x, rows, columns, out)
    }
}
