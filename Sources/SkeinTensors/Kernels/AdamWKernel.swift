import CSkeinKernels

/// The factors of one step of AdamW, and the step of each number.
///
///     m  = m + blend (g - m)
///     v  = v beta2 + squareBlend g g
///     p  = p keep + stepSize m / (sqrt(v) / divisor + epsilon)
///
/// Each operation is rounded to Float, from left to right, and none is fused: all processors give the
/// same bits, but for the bits in a NaN. `AdamWKernelTests` has the plain form.
package struct AdamWKernel: Sendable {
    private let factors: skein_adamw_factors

    /// `keep` is what weight decay leaves of a parameter, `stepSize` the negated and corrected
    /// learning rate, and `divisor` corrects sqrt(v).
    package init(
        keep: Float, stepSize: Float, blend: Float, beta2: Float, squareBlend: Float,
        divisor: Float, epsilon: Float
    ) {
        factors = skein_adamw_factors(
            keep: keep, step_size: stepSize, blend: blend, beta2: beta2,
            square_blend: squareBlend, divisor: divisor, epsilon: epsilon)
    }

    /// Moves numbers by one step; which numbers come in one call does not matter.
    ///
    /// Shapes:
    ///   - parameters: p, [count], in place.
    ///   - gradient: g, [count].
    ///   - averages: m, [count], in place.
    ///   - squareAverages: v, [count], in place.
    package func move(
        _ parameters: UnsafeMutableBufferPointer<Float>, gradient: UnsafeBufferPointer<Float>,
        averages: UnsafeMutableBufferPointer<Float>,
        squareAverages: UnsafeMutableBufferPointer<Float>
    ) {
        move(
            parameters, gradient: gradient, averages: averages, squareAverages: squareAverages,
            level: currentLevel())
    }

    func move(
        _ parameters: UnsafeMutableBufferPointer<Float>, gradient: UnsafeBufferPointer<Float>,
        averages: UnsafeMutableBufferPointer<Float>,
        squareAverages: UnsafeMutableBufferPointer<Float>, level: skein_level
    ) {
        let count = parameters.count
        precondition(
            gradient.count == count && averages.count == count && squareAverages.count == count)
        guard let p = parameters.baseAddress, let g = gradient.baseAddress,
            let m = averages.baseAddress, let v = squareAverages.baseAddress
        else { return }
        withUnsafePointer(to: factors) { skein_adamw(level, $0, g, count, m, v, p) }
    }
}
