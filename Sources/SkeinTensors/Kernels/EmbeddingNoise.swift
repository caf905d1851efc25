import SkeinBasics

/// Uniform noise on the embeddings of training rows: NEFTune (Jain et al. 2023), as in TRL.
///
/// A row of L tokens of width d gets noise from U(-1, 1) * alpha / sqrt(L d), a function of
/// (seed, step, row, place in the row): the same in any micro-batch.
package struct EmbeddingNoise: Sendable {
    private let alpha: Float
    private let random: AddressedRandom

    /// `alpha`: above 0; 5 to 15 in the paper.
    package init(alpha: Float, seed: UInt64) {
        self.alpha = alpha
        random = AddressedRandom(seed: seed, purpose: .embeddingNoise)
    }

    /// x += noise.
    ///
    /// Shapes and ranges:
    ///   - x: [tokens, width], the embeddings of a row.
    ///   - length: the row's tokens, with the last one, which is only predicted.
    ///   - sequence: the row's number.
    package func add(
        to x: UnsafeMutablePointer<Float>, tokens: Int, width: Int, length: Int, step: UInt32,
        sequence: UInt32
    ) {
        let bound = alpha / Float(length * width).squareRoot()
        let count = tokens * width
        for start in stride(from: 0, to: count, by: 4) {
            let words = random.block(
                UInt32(truncatingIfNeeded: start / 4), step, sequence,
                UInt32(truncatingIfNeeded: start >> 34))
            for i in 0..<min(4, count - start) {
                let unit = AddressedRandom.unitFloat(words[i])
                x[start + i] += (2 * unit - 1) * bound
            }
        }
    }
}
