import CSkeinKernels

/// Rows of activations or gradients as 8-bit integers, each with a scale for every 128 numbers: the left
/// factor of a product with a `QuantizedWeight`. CSkeinKernels/include/int8_product.h has the formula.
package struct QuantizedRows {
    package let rows: Int
    package let columns: Int
    let kernel: skein_int8_rows

    /// Quantizes x [rows, columns], `stride` floats from one row to the next, into `scratch`, which
    /// holds `bytes` and must outlive the value.
    ///
    /// `factors`: [columns], by which x is multiplied first; nil: by nothing.
    package init(
        quantizing x: UnsafePointer<Float>, stride: Int, rows: Int, columns: Int,
        factors: UnsafePointer<Float>? = nil, in scratch: UnsafeMutableRawPointer
    ) {
        self.init(
            quantizing: x, stride: stride, rows: rows, columns: columns, factors: factors,
            in: scratch, level: currentLevel())
    }

    init(
        quantizing x: UnsafePointer<Float>, stride: Int, rows: Int, columns: Int,
        factors: UnsafePointer<Float>?, in scratch: UnsafeMutableRawPointer, level: skein_level
    ) {
        precondition(stride >= columns)
        self.init(rows: rows, columns: columns, in: scratch)
        var out = kernel
        skein_int8_quantize(level, x, stride, rows, columns, factors, &out)
    }

    /// Quantizes rows x [rows, columns], contiguous, which `produce` makes some at a time, in order, so
    /// that they are still in the cache.
    package init(
        of x: UnsafePointer<Float>, rows: Int, columns: Int, in scratch: UnsafeMutableRawPointer,
        produce: (Range<Int>) -> Void
    ) {
        self.init(rows: rows, columns: columns, in: scratch)
        // With what they are made of, in the second-level cache.
        let some = max(1, (16 << 10) / max(1, columns))
        for first in Swift.stride(from: 0, to: rows, by: some) {
            let range = first..<min(first + some, rows)
            produce(range)
            quantize(range, of: x)
        }
    }

    /// Quantizes some of the rows x [rows, columns], contiguous; several threads may each do their own.
    package func quantize(_ range: Range<Int>, of x: UnsafePointer<Float>) {
        var out = self[range].kernel
        skein_int8_quantize(
            currentLevel(), x + range.lowerBound * columns, columns, range.count, columns, nil, &out
        )
    }

    /// Some of the rows, in place.
    package subscript(range: Range<Int>) -> QuantizedRows {
        precondition(range.lowerBound >= 0 && range.upperBound <= rows)
        let first = range.lowerBound
        let blocks = skein_int8_blocks(columns)
        var part = kernel
        part.q += first * kernel.stride
        part.scales += first * blocks
        part.sums += first * blocks
        return QuantizedRows(rows: range.count, columns: columns, kernel: part)
    }

    private init(rows: Int, columns: Int, kernel: skein_int8_rows) {
        (self.rows, self.columns, self.kernel) = (rows, columns, kernel)
    }

    /// Places in `scratch`, which `quantize(_:of:)` fills; it holds `bytes` and must outlive the value.
    package init(rows: Int, columns: Int, in scratch: UnsafeMutableRawPointer) {
        precondition(Int(bitPattern: scratch) % 64 == 0)
        let rowBytes = skein_int8_stride(columns)
        let blocks = rows * skein_int8_blocks(columns)
        let after = scratch + rows * rowBytes
        kernel = skein_int8_rows(
            q: scratch.bindMemory(to: Int8.self, capacity: rows * rowBytes), stride: rowBytes,
            scales: after.bindMemory(to: Float.self, capacity: blocks),
            sums: (after + 4 * blocks).bindMemory(to: Int32.self, capacity: blocks))
        self.rows = rows
        self.columns = columns
    }

    /// Bytes of scratch for rows of `columns` numbers, a multiple of 64.
    package static func bytes(rows: Int, columns: Int) -> Int {
        let blocks = rows * skein_int8_blocks(columns)
        return (rows * skein_int8_stride(columns) + 8 * blocks + 63) / 64 * 64
    }
}
