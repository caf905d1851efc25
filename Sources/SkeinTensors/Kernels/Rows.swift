import CSkeinKernels

/// Sums and multiples of rows of activations.
package enum Rows {
    /// x *= factor in place.
    ///
    /// Shapes and ranges:
    ///   - x: [count].
    package static func scale(
        _ x: UnsafeMutablePointer<Float>, count: Int, by factor: Float
    ) {
        skein_scale(skein_level(), x, count, factor)
    }

    /// y += factor * x, rounded once where multiply-add is fused.
    ///
    /// Shapes and ranges:
    ///   - x: [count].
    ///   - y: [count].
    package static func add(
        _ x: UnsafePointer<Float>, times factor: Float, count: Int,
        to y: UnsafeMutablePointer<Float>
    ) {
        skein_add_scaled(skein_level(), x, factor, count, y)
    }

    /// Adds the bias of a projection to each token's row.
    ///
    /// Shapes and ranges:
    ///   - bias: [width].
    ///   - y: [tokens, width].
    package static func add(
        bias: UnsafePointer<Float>, tokens: Int, width: Int, to y: UnsafeMutablePointer<Float>
    ) {
        skein_add_bias(skein_level(), bias, tokens, width, y)
    }
}
