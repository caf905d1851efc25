import CSkeinKernels

/// bf16 numbers, each the upper half of a float in a `UInt16`: the inputs of bf16 products.
///
/// Rows of floats are contiguous, those of bf16 are `RoundedRows.stride(columns:)` apart.
package enum BFloat16 {
    /// Rounds to nearest, ties to even; NaN stays NaN, subnormal numbers stay.
    ///
    /// Shapes and ranges:
    ///   - x: [rows, columns].
    ///   - out: [rows, columns].
    package static func round(
        _ x: UnsafePointer<Float>, rows: Int, columns: Int,
        into out: UnsafeMutablePointer<UInt16>
    ) {
        let stride = RoundedRows.stride(columns: columns)
        for row in 0..<rows {
            skein_to_bf16(skein_level(), x + row * columns, columns, out + row * stride)
        }
    }

    /// Converts to floats, exactly.
    ///
    /// Shapes and ranges:
    ///   - x: [rows, columns].
    ///   - out: [rows, columns].
    package static func widen(
        _ x: UnsafePointer<UInt16>, rows: Int, columns: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        let stride = RoundedRows.stride(columns: columns)
        for row in 0..<rows {
            skein_from_bf16(skein_level(), x + row * stride, columns, out + row * columns)
        }
    }
}
