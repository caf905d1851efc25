import CSkeinKernels

/// Row kernels of softmax, shared by attention and cross-entropy.
enum Softmax {
    /// The largest of `count` >= 1 numbers.
    static func maximum(_ x: UnsafePointer<Float>, _ count: Int) -> Float {
        skein_maximum(skein_level(), x, count)
    }

    /// Whether one of `count` numbers equals `value`.
    static func contains(_ x: UnsafePointer<Float>, _ count: Int, _ value: Float) -> Bool {
        skein_contains(skein_level(), x, count, value) != 0
    }

    /// x = e^(x - shift) in place; returns the sum.
    static func exponentiate(
        _ x: UnsafeMutablePointer<Float>, _ count: Int, shift: Float
    ) -> Float {
        skein_exponentiate(skein_level(), x, count, shift)
    }

    /// The same for a row of which no number exceeds `shift`, and in the same pass the largest number of
    /// the row that is computed after it.
    ///
    /// Shapes:
    ///   - x: [count], overwritten.
    ///   - next: [count].
    static func exponentiate(
        _ x: UnsafeMutablePointer<Float>, _ count: Int, shift: Float,
        before next: UnsafePointer<Float>
    ) -> (sum: Float, nextLargest: Float) {
        var largest: Float = 0
        let sum = skein_exponentiate_row(skein_level(), x, count, shift, next, &largest)
        return (sum, largest)
    }

    /// x *= factor in place.
    static func scale(_ x: UnsafeMutablePointer<Float>, _ count: Int, by factor: Float) {
        skein_scale(skein_level(), x, count, factor)
    }

    /// The first `seen` >= 1 of `count` numbers become the softmax of scale * x, scale > 0, the others
    /// 0. Returns the largest scale * x and the sum of e^(scale * x - largest).
    ///
    /// With a cap c, c tanh(scale * x / c) takes the place of scale * x.
    static func row(
        _ x: UnsafeMutablePointer<Float>, seen: Int, count: Int, scale: Float, cap: Float? = nil
    ) -> (largest: Float, sum: Float) {
        let level = skein_level()
        var largest: Float = 0
        if let cap { skein_softcap(level, x, seen, scale / cap, cap) }
        let sum = skein_softmax(level, x, seen, count, cap == nil ? scale : 1, &largest)
        return (largest, sum)
    }

    /// Turns the first `seen` of `count` scores p into probabilities, p = e^(scale * p -
    /// logSumExp), and dP in ds into dS, ds = p * (ds - delta) * scale; the others become 0. With a
    /// cap as in `row`, and ds times the tangent's derivative.
    static func backward(
        p: UnsafeMutablePointer<Float>, ds: UnsafeMutablePointer<Float>, seen: Int, count: Int,
        logSumExp: Float, delta: Float, scale: Float, cap: Float? = nil
    ) {
        skein_softmax_backward(
            skein_level(), p, ds, seen, count, logSumExp, delta, scale, cap ?? 0)
    }

    /// x = 0.
    static func clear(_ x: UnsafeMutablePointer<Float>, _ count: Int) {
        if count > 0 { x.update(repeating: 0, count: count) }
    }
}
