import CSkeinKernels

/// Root mean square normalization (Zhang and Sennrich 2019).
///
/// Letters: `T` rows, `D` width: tokens of the model's width or, for norms of q and k, T * H heads of
/// their dimension. Results are written as floats, as bf16 for the products that
/// take it, or as both.
package enum RMSNorm {
    /// y = x * r * w, r = 1 / sqrt(mean(x^2) + epsilon), per token.
    ///
    /// Shapes and ranges:
    ///   - x: [T, D].
    ///   - weight: [D], frozen.
    ///   - y: [T, D]; may be x but not overlap it otherwise; nil if not needed.
    ///   - bf16: [T, D], rows `RoundedRows.stride(columns: width)` apart, receives y rounded to
    ///     bf16; nil if not needed.
    ///   - inverse: [T], receives r for the backward pass.
    package static func forward(
        _ x: UnsafePointer<Float>, weight: UnsafePointer<Float>, epsilon: Float,
        tokens: Int, width: Int,
        into y: UnsafeMutablePointer<Float>?, bf16: UnsafeMutablePointer<UInt16>? = nil,
        inverse: UnsafeMutablePointer<Float>
    ) {
        skein_rmsnorm_forward(
            skein_level(), x, weight, epsilon, tokens, width, y, bf16,
            RoundedRows.stride(columns: width), inverse)
    }

    /// y = x * r * w for tokens whose r is known: cheaper than keeping y until the backward pass.
    ///
    /// Shapes and ranges as in `forward`.
    package static func again(
        _ x: UnsafePointer<Float>, weight: UnsafePointer<Float>, inverse: UnsafePointer<Float>,
        tokens: Int, width: Int,
        into y: UnsafeMutablePointer<Float>?, bf16: UnsafeMutablePointer<UInt16>? = nil
    ) {
        skein_rmsnorm_again(
            skein_level(), x, weight, inverse, tokens, width, y, bf16,
            RoundedRows.stride(columns: width))
    }

    /// Adds the gradient of x: dx += r * (w dy) - x * r^3 / D * sum(w dy x).
    ///
    /// The weight is frozen and gets no gradient.
    package static func backward(
        _ dy: UnsafePointer<Float>, x: UnsafePointer<Float>, weight: UnsafePointer<Float>,
        inverse: UnsafePointer<Float>, tokens: Int, width: Int,
        addingTo dx: UnsafeMutablePointer<Float>
    ) {
        skein_rmsnorm_backward(skein_level(), dy, x, weight, inverse, tokens, width, dx)
    }

    /// The same into dx, for norms whose input has no other use: dx = r * (w dy) - ...
    ///
    /// Shapes and ranges:
    ///   - x: [T, D], what was normalized.
    ///   - dx: [T, D]; may be dy or x.
    package static func backward(
        _ dy: UnsafePointer<Float>, x: UnsafePointer<Float>, weight: UnsafePointer<Float>,
        inverse: UnsafePointer<Float>, tokens: Int, width: Int,
        into dx: UnsafeMutablePointer<Float>
    ) {
        skein_rmsnorm_backward_into(skein_level(), dy, x, weight, inverse, tokens, width, dx)
    }
}
