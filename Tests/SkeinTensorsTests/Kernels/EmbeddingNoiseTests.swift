import Testing

@testable import SkeinTensors

@Suite struct EmbeddingNoiseTests {
    private func noise(
        _ alpha: Float = 5, seed: UInt64 = 1, tokens: Int, width: Int, length: Int,
        step: UInt32 = 3, sequence: UInt32 = 7
    ) -> [Float] {
        var x = [Float](repeating: 0, count: tokens * width)
        EmbeddingNoise(alpha: alpha, seed: seed).add(
            to: &x, tokens: tokens, width: width, length: length, step: step, sequence: sequence)
        return x
    }

    @Test("noise is uniform within alpha / sqrt(L d), with mean 0")
    func bounds() {
        let (tokens, width) = (63, 96)
        let x = noise(tokens: tokens, width: width, length: tokens + 1)
        let bound = 5 / Float((tokens + 1) * width).squareRoot()
        #expect(x.allSatisfy { abs($0) <= bound })
        #expect(x.contains { $0 > 0.99 * bound } && x.contains { $0 < -0.99 * bound })
        let count = Double(x.count)
        let mean = x.reduce(0) { $0 + Double($1) } / count
        let variance = x.reduce(0) { $0 + Double($1) * Double($1) } / count
        // The variance of U(-b, b) is b^2 / 3; five standard deviations of each estimate.
        let spread = Double(bound) / 3.0.squareRoot()
        #expect(abs(mean) < 5 * spread / count.squareRoot())
        #expect(abs(variance / (spread * spread) - 1) < 5 * 0.9 / count.squareRoot())
    }

    @Test("seed, step and row are its address, and it is added to what is there")
    func address() {
        let base = noise(tokens: 5, width: 6, length: 6)
        #expect(noise(tokens: 5, width: 6, length: 6) == base)
        #expect(noise(seed: 2, tokens: 5, width: 6, length: 6) != base)
        #expect(noise(tokens: 5, width: 6, length: 6, step: 4) != base)
        #expect(noise(tokens: 5, width: 6, length: 6, sequence: 8) != base)
        // A row that is cut keeps the noise of its tokens.
        #expect(noise(tokens: 3, width: 6, length: 6) == Array(base[..<18]))
        #expect(noise(10, tokens: 5, width: 6, length: 6) == base.map { 2 * $0 })
        var x = [Float](repeating: 1, count: 30)
        EmbeddingNoise(alpha: 5, seed: 1).add(
            to: &x, tokens: 5, width: 6, length: 6, step: 3, sequence: 7)
        #expect(x == base.map { 1 + $0 })
    }
}
