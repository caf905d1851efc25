import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Attention over a cache against softmax(q k^T / sqrt(N)) v in double precision.
@Suite struct CachedAttentionTests {
    private struct Sample {
        let heads = 4
        let keyValueHeads = 2
        let n: Int
        let tokens: Int
        let q: [Float]
        let k: [Float]
        let v: [Float]
        let attention: CachedAttention
        let layer: FloatBuffer

        init(n: Int, tokens: Int) {
            self.n = n
            self.tokens = tokens
            q = CentralDifference.numbers(tokens * 4 * n, seed: 2, stream: 1, spread: 2)
            k = CentralDifference.numbers(tokens * 2 * n, seed: 2, stream: 2)
            v = CentralDifference.numbers(tokens * 2 * n, seed: 2, stream: 3)
            attention = CachedAttention(
                heads: 4, keyValueHeads: 2, headDimension: n, capacity: tokens + 3)
            layer = FloatBuffer(count: attention.layerCount)
            // What was never written must not be seen.
            layer.base.update(repeating: .nan, count: layer.count)
        }

        func append(_ range: Range<Int>) {
            let width = keyValueHeads * n
            k.withUnsafeBufferPointer { k in
                v.withUnsafeBufferPointer { v in
                    guard let k = k.baseAddress, let v = v.baseAddress else { return }
                    attention.append(
                        k: k + range.lowerBound * width, v: v + range.lowerBound * width,
                        tokens: range.count, position: range.lowerBound, to: layer.base)
                }
            }
        }

        func expected(token: Int, head: Int) -> [Double] {
            let own = head / 2
            let scores = (0...token).map { key in
                (0..<n).reduce(0.0) { sum, i in
                    sum + Double(q[(token * 4 + head) * n + i]) * Double(k[(key * 2 + own) * n + i])
                } / Double(n).squareRoot()
            }
            let most = scores.max() ?? 0
            let weights = scores.map { exp($0 - most) }
            let sum = weights.reduce(0, +)
            return (0..<n).map { i in
                (0...token).reduce(0.0) { $0 + weights[$1] * Double(v[($1 * 2 + own) * n + i]) }
                    / sum
            }
        }
    }

    @Test(
        "one token and blocks of tokens attend as a plain loop does", arguments: [16, 20, 64, 80])
    func plain(n: Int) {
        for tokens in [1, 2, 16, 33, 70] {
            let sample = Sample(n: n, tokens: tokens)
            var out = [Float](repeating: .nan, count: tokens * 4 * n)
            var scratch = [Float](
                repeating: .nan, count: CachedAttention.scratchCount(keys: tokens))
            // Two appends, so that one begins inside a group of 16.
            let cut = tokens / 3
            sample.append(0..<cut)
            sample.append(cut..<tokens)
            for head in 0..<4 {
                for first in stride(from: 0, to: tokens, by: CachedAttention.block) {
                    let rows = min(CachedAttention.block, tokens - first)
                    let place = first * 4 * n
                    sample.q.withUnsafeBufferPointer { q in
                        out.withUnsafeMutableBufferPointer { out in
                            guard let q = q.baseAddress, let out = out.baseAddress else { return }
                            sample.attention.attend(
                                block: rows, head: head, q: q + place, position: first,
                                layer: sample.layer.base, out: out + place, scratch: &scratch)
                        }
                    }
                }
                var alone = [Float](repeating: .nan, count: 4 * n)
                sample.attention.attend(
                    head: head, q: Array(sample.q.suffix(4 * n)), layer: sample.layer.base,
                    keys: tokens, out: &alone, scratch: &scratch)
                let last = sample.expected(token: tokens - 1, head: head)
                for i in 0..<n {
                    #expect(abs(Double(alone[head * n + i]) - last[i]) < 5e-6)
                }
                for token in 0..<tokens {
                    let expected = sample.expected(token: token, head: head)
                    for i in 0..<n {
                        let found = Double(out[(token * 4 + head) * n + i])
                        #expect(abs(found - expected[i]) < 5e-6, "token \(token) of \(tokens)")
                    }
                }
            }
        }
    }

    @Test("every level attends alike, those with fused multiply-add with the same bits")
    func levels() {
        let (n, keys) = (64, 45)
        let q = CentralDifference.numbers(n, seed: 9, stream: 1)
        let k = CentralDifference.numbers(48 * n, seed: 9, stream: 2)
        let v = CentralDifference.numbers(keys * n, seed: 9, stream: 3)
        let results = Levels.all.map { level in
            var scores = [Float](repeating: .nan, count: 48)
            var out = [Float](repeating: .nan, count: n)
            skein_attend(level, q, k, v, keys, n, 0.125, &scores, &out)
            return out
        }
        for (level, out) in zip(Levels.all, results) {
            for i in 0..<n { #expect(abs(out[i] - results[0][i]) < 2e-6, "\(level)") }
            if level.rawValue >= SKEIN_AVX2.rawValue { #expect(out == results[1]) }
        }
    }
}
