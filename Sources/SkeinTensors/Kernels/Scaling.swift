import CSkeinKernels

/// Multiplication of activations by a constant of the model.
package enum Scaling {
    /// x *= factor in place.
    ///
    /// Shapes and ranges:
    ///   - x: [count].
    package static func scale(_ x: UnsafeMutablePointer<Float>, count: Int, by factor: Float) {
        skein_scale(skein_level(), x, count, factor)
    }
}
