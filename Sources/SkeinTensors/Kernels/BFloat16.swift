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

    /// Rounds numbers in place, as `round(_:rows:columns:into:)` does.
    package static func round(_ x: UnsafeMutablePointer<Float>, count: Int) {
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: chunk) { rounded in
            guard let rounded = rounded.baseAddress else { return }
            for first in stride(from: 0, to: count, by: chunk) {
                let part = min(chunk, count - first)
                skein_to_bf16(skein_level(), x + first, part, rounded)
                skein_from_bf16(skein_level(), rounded, part, x + first)
            }
        }
    }

    /// Numbers that are rounded in place at once: 2 KiB.
    private static let chunk = 1024

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
