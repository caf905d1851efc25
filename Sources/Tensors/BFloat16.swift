import CKernels

/// bf16 numbers, each the upper half of a float in a `UInt16`: what bf16 products take.
public enum BFloat16 {
    /// Rounds to nearest, ties to even; NaN stays NaN, subnormal numbers stay.
    ///
    /// Shapes and ranges:
    ///   - x: [count].
    ///   - out: [count].
    public static func round(
        _ x: UnsafePointer<Float>, count: Int, into out: UnsafeMutablePointer<UInt16>
    ) {
        skein_to_bf16(skein_level(), x, count, out)
    }

    /// Exact.
    ///
    /// Shapes and ranges:
    ///   - x: [count].
    ///   - out: [count].
    public static func widen(
        _ x: UnsafePointer<UInt16>, count: Int, into out: UnsafeMutablePointer<Float>
    ) {
        skein_from_bf16(skein_level(), x, count, out)
    }
}
