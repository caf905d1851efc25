import CSkeinKernels

/// Rows of activations or gradients in bf16, the left factor of a `PackedMatrix` product.
///
/// Rounded once, they serve several products. Subnormal numbers become zero; infinity and NaN stay.
package struct RoundedRows {
    /// [rows, columns padded to even], the pad zero.
    package let base: UnsafePointer<UInt16>
    package let rows: Int
    package let columns: Int
    /// Elements from one row to the next; even, and never a multiple of 4 KiB: the 12 rows that a
    /// product reads together would share one set of the first-level cache.
    package let stride: Int

    /// For rows that are already rounded: when `columns` is odd, a zero follows each row.
    package init(base: UnsafePointer<UInt16>, rows: Int, columns: Int, stride: Int) {
        precondition(rows >= 0 && columns >= 0 && stride % 2 == 0 && stride >= columns)
        precondition(rows <= 1 || stride == 0 || stride % 2048 != 0, "rows 4 KiB apart")
        self.base = base
        self.rows = rows
        self.columns = columns
        self.stride = stride
    }

    /// Rounds x [rows, columns], `stride` floats from one row to the next, into `scratch`, which
    /// holds `bytes(rows:columns:)` and must outlive the value.
    package init(
        rounding x: UnsafePointer<Float>, stride: Int, rows: Int, columns: Int,
        in scratch: UnsafeMutableRawPointer
    ) {
        self.init(
            rounding: x, stride: stride, rows: rows, columns: columns, in: scratch,
            level: currentLevel())
    }

    init(
        rounding x: UnsafePointer<Float>, stride: Int, rows: Int, columns: Int,
        in scratch: UnsafeMutableRawPointer, level: skein_level
    ) {
        precondition(stride >= columns)
        let strideOut = Self.stride(columns: columns)
        let out = scratch.bindMemory(to: UInt16.self, capacity: rows * strideOut)
        skein_bf16_round_rows(level, x, stride, rows, columns, out, strideOut)
        self.init(base: out, rows: rows, columns: columns, stride: strideOut)
    }

    /// Elements from one row of `columns` to the next: whole cache lines that spread rows over the
    /// sets of the first-level cache.
    package static func stride(columns: Int) -> Int { skein_bf16_stride(columns) }

    /// Bytes of scratch for rounding [rows, columns].
    package static func bytes(rows: Int, columns: Int) -> Int {
        rows * stride(columns: columns) * 2
    }

    /// The columns in `range` of all rows; it starts and (but at the end) ends at even numbers.
    package subscript(columns range: Range<Int>) -> RoundedRows {
        precondition(range.lowerBound >= 0 && range.upperBound <= columns)
        precondition(range.lowerBound % 2 == 0)
        precondition(range.upperBound % 2 == 0 || range.upperBound == columns)
        return RoundedRows(
            base: base + range.lowerBound, rows: rows, columns: range.count, stride: stride)
    }
}

extension RoundedRows {
    /// Rounds x [rows, columns] in place: the result takes the first half of its memory.
    ///
    /// A row is written only to memory of rows that have been read, its own included.
    package init(replacing x: UnsafeMutablePointer<Float>, rows: Int, columns: Int) {
        // Rows that do not share one set of the cache, if there is room for the gap.
        let wide = Self.stride(columns: columns)
        let stride = wide <= 2 * columns ? wide : columns + columns % 2
        let raw = UnsafeMutableRawPointer(x)
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: stride) { buffer in
            guard let rounded = buffer.baseAddress else { return }
            for row in 0..<rows {
                skein_bf16_round_rows(
                    currentLevel(), x + row * columns, columns, 1, columns, rounded, stride)
                (raw + 2 * row * stride).copyMemory(
                    from: rounded, byteCount: 2 * (columns + columns % 2))
            }
        }
        self.init(
            base: raw.assumingMemoryBound(to: UInt16.self), rows: rows, columns: columns,
            stride: stride)
    }
}
