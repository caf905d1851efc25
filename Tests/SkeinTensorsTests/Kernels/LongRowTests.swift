import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Rows of 32,768 tokens: memory grows with their length, never with its square.
@Suite struct LongRowTests {
    private static let tokens = 32_768
    private static let megabyte = 1 << 20

    @Test("scratch of 32,768 tokens is some times what a head reads, of a window what it sees")
    func scratch() {
        func bytes(_ window: Int?, _ dimension: Int) -> Int {
            let shape = AttentionShape(
                heads: 8, keyValueHeads: 2, headDimension: dimension, window: window)
            return 4
                * max(
                    RoundedAttention(shape).scratchCount(tokens: Self.tokens),
                    Attention(shape).scratchCount(tokens: Self.tokens))
        }
        // 18 bytes for each of a token's N elements, and 250 for the token.
        #expect(bytes(nil, 64) < 50 * Self.megabyte)
        #expect(bytes(nil, 256) < 165 * Self.megabyte)
        #expect(bytes(512, 64) < 2 * Self.megabyte)
        #expect(bytes(1024, 256) < 12 * Self.megabyte)
        let ring = CachedAttention(
            AttentionShape(heads: 8, keyValueHeads: 2, headDimension: 64, window: 512),
            capacity: Self.tokens, appended: 256)
        #expect(ring.layerCount * 4 == 2 * 768 * 128 * 4)
        #expect(ring.scratchCount(keys: Self.tokens) <= CachedAttention.block * 560)
    }

    @Test(
        "the last tokens of 32,768 attend as a loop does, with a window backward, too",
        arguments: [nil, 300])
    func attention(window: Int?) {
        let (n, tokens) = (8, Self.tokens)
        let shape = AttentionShape(
            heads: 1, keyValueHeads: 1, headDimension: n, window: window)
        let numbers = { (stream: UInt32) in
            CentralDifference.numbers(tokens * n, seed: 20_261_230, stream: stream)
                .map(RoundedAttentionCase.rounded)
        }
        let (q, k, v, dOut) = (numbers(1), numbers(2), numbers(3), numbers(4))
        var out = [Float](repeating: .nan, count: tokens * n)
        var (dq, dk, dv) = (out, out, out)
        var logSumExp = [Float](repeating: .nan, count: tokens)
        let attention = RoundedAttention(shape)
        let scratch = FloatBuffer(count: attention.scratchCount(tokens: tokens))
        attention.forward(
            q: q, k: k, v: v, tokens: tokens, out: &out, logSumExp: &logSumExp,
            scratch: scratch.base)
        // Without a window the backward pass takes seconds, and is the same code.
        if window != nil {
            attention.backward(
                q: q, k: k, v: v, out: out, dOut: dOut, logSumExp: logSumExp, tokens: tokens,
                dq: &dq, dk: &dk, dv: &dv, scratch: scratch.base)
        }
        withExtendedLifetime(scratch) {}
        let scale = Double(shape.scale)
        // Numbers are means of as many as a token sees, rounded to bf16.
        let bound = window == nil ? 3e-4 : 3e-3
        func product(_ a: [Float], _ i: Int, _ b: [Float], _ j: Int) -> Double {
            (0..<n).reduce(0) { $0 + Double(a[i * n + $1]) * Double(b[j * n + $1]) }
        }
        for token in [tokens - 1, tokens - 2, tokens - 97, 20_000] {
            let seen = shape.firstSeen(from: token)...token
            let scores = seen.map { product(q, token, k, $0) * scale }
            let sum = scores.reduce(0) { $0 + exp($1) }
            #expect(abs(Double(logSumExp[token]) - log(sum)) < 2e-5)
            let p = scores.map { exp($0) / sum }
            let dp = seen.map { product(dOut, token, v, $0) }
            let delta = zip(p, dp).reduce(0) { $0 + $1.0 * $1.1 }
            for d in 0..<n {
                let value = zip(p, seen).reduce(0) { $0 + $1.0 * Double(v[$1.1 * n + d]) }
                #expect(abs(Double(out[token * n + d]) - value) < bound, "\(token)")
                if window == nil { continue }
                let pull = p.indices.reduce(0) {
                    let ds = p[$1] * (dp[$1] - delta) * scale
                    return $0 + ds * Double(k[(seen.lowerBound + $1) * n + d])
                }
                #expect(abs(Double(dq[token * n + d]) - pull) < bound, "\(token)")
            }
        }
        guard window != nil else { return }
        // Nothing but the last token sees the last key.
        let last = tokens - 1
        let weight = exp(product(q, last, k, last) * scale - Double(logSumExp[last]))
        for d in 0..<n {
            #expect(abs(Double(dv[last * n + d]) - weight * Double(dOut[last * n + d])) < bound)
            #expect(dk[last * n + d].isFinite)
        }
    }
}
