import CSkeinKernels

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
