import CSkeinKernels

/// A factor on queries that grows with the position, for rows longer than those of pretraining:
/// 1 + beta ln(1 + floor(p / original)), so 1 below `original` (Ministral 3).
///
/// It is its own backward pass.
package struct PositionScale: Sendable {
    /// [positions].
    package let factors: [Float]

    /// Shapes and ranges:
    ///   - original: tokens of pretraining's rows, at least 1.
    package init(beta: Float, original: Int, positions: Int) {
        precondition(original > 0, "readers of models check their positions")
        factors = (0..<max(0, positions)).map { position in
            // As PyTorch does, the logarithm is rounded before it is multiplied.
            1 + beta * Float(logarithm(Double(1 + position / original)))
        }
    }

    /// Multiplies each token's row by its position's factor, in place.
    ///
    /// Shapes and ranges:
    ///   - x: [tokens, width].
    ///   - firstPosition: position of the first token; the others follow.
    package func apply(
        _ x: UnsafeMutablePointer<Float>, tokens: Int, width: Int, firstPosition: Int
    ) {
        for t in 0..<tokens where factors[firstPosition + t] != 1 {
            skein_scale(skein_level(), x + t * width, width, factors[firstPosition + t])
        }
    }
}
