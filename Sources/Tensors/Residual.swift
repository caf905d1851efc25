import CKernels

/// The residual stream: what a block adds to its input.
public enum Residual {
    /// out = a + b.
    ///
    /// Shapes and ranges:
    ///   - a: [count].
    ///   - b: [count].
    ///   - out: [count], may be a or b.
    public static func add(
        _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, count: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        skein_add(skein_level(), a, b, count, out)
    }
}
