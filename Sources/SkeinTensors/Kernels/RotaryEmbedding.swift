import CSkeinKernels

/// Rotary position embedding (Su et al. 2021), halves rotated as Hugging Face does it.
///
/// Element i of the first half and of the second half of a head are rotated together by
/// position * theta^(-2i/N) / divisor[i]. Letters: `T` tokens, `N` head dimension.
package struct RotaryEmbedding: Sendable {
    /// The smallest divisor of a frequency.
    package static let leastDivisor: Float = 0.25

    private let cosines: [Float]
    private let sines: [Float]
    private let half: Int
    /// Positions 0 ..< `positions` have a table entry.
    package let positions: Int

    /// Shapes and ranges:
    ///   - theta: at least 1.
    ///   - divisors: [N/2], divides each frequency (Llama-3 scaling), at least 1/4; nil for none.
    ///   - positions: below 2^24, so that no angle is beyond 2^26.
    package init(headDimension: Int, theta: Double, divisors: [Float]?, positions: Int) {
        precondition(
            theta >= 1 && divisors?.allSatisfy { $0 >= Self.leastDivisor } ?? true
                && positions <= 1 << 24, "readers of models check their rotation")
        half = headDimension / 2
        self.positions = positions
        var cosines = [Float](repeating: 0, count: positions * half)
        var sines = cosines
        for i in 0..<half {
            let frequency = ElementaryFunctions.power(
                theta, -2 * Double(i) / Double(headDimension))
            // PyTorch keeps the frequency and the angle in fp32; so do we, to give its numbers.
            let inverse = Float(frequency) / (divisors?[i] ?? 1)
            for p in 0..<positions {
                let angle = Float(p) * inverse
                let (cosine, sine) = ElementaryFunctions.cosineAndSine(Double(angle))
                cosines[p * half + i] = Float(cosine)
                sines[p * half + i] = Float(sine)
            }
        }
        self.cosines = cosines
        self.sines = sines
    }

    /// The table's numbers, to compare machines: cosines, then sines, each [positions, N/2].
    package var table: [Float] { cosines + sines }

    /// Rotates every head of every token in place.
    ///
    /// Shapes and ranges:
    ///   - x: [T, heads * N].
    ///   - firstPosition: position of the first token; the others follow.
    ///   - inverse: rotate back, which is the backward pass: the rotation is orthogonal.
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
                    skein_level(), x, tokens, heads, half, cosines + first, sines + first,
                    inverse ? 1 : 0)
            }
        }
    }
}
