import CSkeinKernels

/// A soft cap: y = c tanh(x / c) never leaves +-c, and hardly changes a small x (Gemma 2's logits).
///
/// Attention caps its scores itself (`AttentionShape.softCap`).
package enum SoftCap {
    /// In place.
    ///
    /// Shapes and ranges:
    ///   - x: [count], receives y.
    ///   - cap: above 0, finite.
    package static func forward(
        _ x: UnsafeMutablePointer<Float>, count: Int, cap: Float
    ) {
        skein_softcap(skein_level(), x, count, 1 / cap, cap)
    }

    /// dy becomes dx = dy * (1 - (y / c)^2).
    ///
    /// Shapes and ranges:
    ///   - dy: [count], receives dx.
    ///   - y: [count], what `forward` gave.
    package static func backward(
        _ dy: UnsafeMutablePointer<Float>, y: UnsafePointer<Float>, count: Int, cap: Float
    ) {
        skein_softcap_backward(skein_level(), y, count, cap, dy)
    }
}
