import CSkeinKernels

/// Rows of activations or gradients as 8-bit integers, each with a scale for every 8,192 numbers: the
/// left factor of a product with a `QuantizedWeight`. CSkeinKernels/include/int8_product.h has the
/// formula.
package struct QuantizedRows {
    /// How many integers stand for a number: two have 16 bits together, and cost twice as much.
    package enum Terms: Int, Sendable {
        case one = 1
        case two = 2
    }

    package let rows: Int
    package let columns: Int
    let kernel: skein_int8_rows

    /// Quantizes x [rows, columns], `stride` floats from one row to the next, into `scratch`, which
    /// holds `bytes` and must outlive the value.
    ///
    /// `factors`: [columns], by which x is multiplied first; nil: by nothing.
    package init(
        quantizing x: UnsafePointer<Float>, stride: Int, rows: Int, columns: Int,
        factors: UnsafePointer<Float>? = nil, terms: Terms = .one,
        in scratch: UnsafeMutableRawPointer
    ) {
        self.init(
            quantizing: x, stride: stride, rows: rows, columns: columns, factors: factors,
            terms: terms, in: scratch, level: currentLevel())
    }

    init(
        quantizing x: UnsafePointer<Float>, stride: Int, rows: Int, columns: Int,
        factors: UnsafePointer<Float>?, terms: Terms, in scratch: UnsafeMutableRawPointer,
        level: skein_level
    ) {
        precondition(stride >= columns && Int(bitPattern: scratch) % 64 == 0)
        let rowBytes = skein_int8_stride(columns)
        let numbers = rows * skein_int8_pieces(columns)
        let codes = scratch.bindMemory(to: Int8.self, capacity: terms.rawValue * rows * rowBytes)
        let after = scratch + terms.rawValue * rows * rowBytes
        let scales = after.bindMemory(to: Float.self, capacity: numbers)
        let sums = (after + 4 * numbers).bindMemory(to: Int32.self, capacity: 2 * numbers)
        var out = skein_int8_rows(
            q: codes, second: terms == .two ? codes + rows * rowBytes : nil, stride: rowBytes,
            scales: scales, sums: sums, second_sums: sums + numbers)
        skein_int8_quantize(level, x, stride, rows, columns, factors, &out)
        kernel = out
        self.rows = rows
        self.columns = columns
    }

    /// Bytes of scratch for rows of `columns` numbers, a multiple of 64.
    package static func bytes(rows: Int, columns: Int, terms: Terms = .two) -> Int {
        let numbers = rows * skein_int8_pieces(columns)
        return (terms.rawValue * rows * skein_int8_stride(columns) + 12 * numbers + 63) / 64 * 64
    }
}
