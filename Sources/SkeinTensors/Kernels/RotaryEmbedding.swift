import CSkeinKernels

/// Rotary position embedding (Su et al. 2021), halves rotated as Hugging Face does it.
///
/// Element i of the first half and of the second half of a head are rotated together by
/// position * theta^(-2i/R) / divisor[i]. Letters: `T` tokens, `N` head dimension, `R` the part of it
/// that is rotated, its first elements; R = N in most models.
package struct RotaryEmbedding: Sendable {
    /// The smallest divisor of a frequency.
    package static let leastDivisor: Float = 0.25

    package let cosines: [Float]
    package let sines: [Float]
    private let half: Int
    private let headDimension: Int
    /// Positions 0 ..< `positions` have a table entry.
    package let positions: Int

    /// Shapes and ranges:
    ///   - theta: at least 1.
    ///   - divisors: [R/2], divides each frequency (Llama-3 scaling, longrope, YaRN), at least 1/4,
    ///     infinity for one that does not turn; nil for none.
    ///   - positions: below 2^24, so that no angle is beyond 2^26.
    ///   - dimension: R, even, at most N; nil for N.
    ///   - factor: of cosines and sines, so also of rotated elements (longrope, YaRN).
    package init(
        headDimension: Int, theta: Double, divisors: [Float]?, positions: Int,
        dimension: Int? = nil, factor: Float = 1
    ) {
        let dimension = dimension ?? headDimension
        precondition(
            theta >= 1 && divisors?.allSatisfy { $0 >= Self.leastDivisor } ?? true
                && positions <= 1 << 24 && dimension >= 0 && dimension <= headDimension
                && divisors?.count ?? dimension / 2 == dimension / 2,
            "readers of models check their rotation")
        self.headDimension = headDimension
        half = dimension / 2
        self.positions = positions
        var cosines = [Float](repeating: 0, count: positions * half)
        var sines = cosines
        for i in 0..<half {
            let frequency = ElementaryFunctions.power(
                theta, -2 * Double(i) / Double(dimension))
            // PyTorch keeps the frequency and the angle in fp32; so do we, to give its numbers.
            let inverse = Float(frequency) / (divisors?[i] ?? 1)
            for p in 0..<positions {
                let angle = Float(p) * inverse
                let (cosine, sine) = ElementaryFunctions.cosineAndSine(Double(angle))
                cosines[p * half + i] = Float(cosine) * factor
                sines[p * half + i] = Float(sine) * factor
            }
        }
        self.cosines = cosines
        self.sines = sines
    }

    /// The table's numbers, to compare machines: cosines, then sines, each [positions, R/2].
    package var table: [Float] { cosines + sines }

    /// Rotates every head of every token in place; elements from R on stay.
    ///
    /// Shapes and ranges:
    ///   - x: [T, heads * N].
    ///   - firstPosition: position of the first token; the others follow.
    ///   - inverse: rotate the other way, which is the backward pass: the rotation is orthogonal, and
    ///     the factor stays.
    package func rotate(
        _ x: UnsafeMutablePointer<Float>, tokens: Int, heads: Int, firstPosition: Int,
        inverse: Bool = false
    ) {
        cosines.withUnsafeBufferPointer { cosines in
            sines.withUnsafeBufferPointer { sines in
                guard let cosines = cosines.baseAddress, let sines = sines.baseAddress else {
                    return
                }
                let first = firstPosition * half
                skein_rotate(
                    skein_level(), x, tokens, heads, headDimension, half, cosines + first,
                    sines + first, inverse ? 1 : 0)
            }
        }
    }
}
