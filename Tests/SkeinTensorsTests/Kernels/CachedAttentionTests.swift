import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Attention over a cache against softmax(q k^T / sqrt(N)) v in double precision.
@Suite struct CachedAttentionTests {
    struct Sample {
        let heads = 4
        let keyValueHeads = 2
        let n: Int
        let tokens: Int
        let q: [Float]
        let k: [Float]
        let v: [Float]
        let attention: CachedAttention
        let layer: FloatBuffer

        init(
            n: Int, tokens: Int, scale: Float? = nil, window: Int? = nil, softCap: Float? = nil,
            appended: Int = CachedAttention.block, type: CacheType = .fp32
        ) {
            self.n = n
            self.tokens = tokens
            q = CentralDifference.numbers(tokens * 4 * n, seed: 2, stream: 1, spread: 2)
            k = CentralDifference.numbers(tokens * 2 * n, seed: 2, stream: 2)
            v = CentralDifference.numbers(tokens * 2 * n, seed: 2, stream: 3)
            attention = CachedAttention(
                AttentionShape(
                    heads: 4, keyValueHeads: 2, headDimension: n, scale: scale, window: window,
                    softCap: softCap),
                type: type, capacity: tokens + 3, appended: appended)
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
            let shape = attention.shape
            let first = max(0, token + 1 - (shape.window ?? token + 1))
            let scores = (first...token).map { (key: Int) -> Double in
                let (row, column) = ((token * 4 + head) * n, (key * 2 + own) * n)
                var score = 0.0
                for i in 0..<n { score += Double(q[row + i]) * Double(k[column + i]) }
                score *= Double(shape.scale)
                guard let cap = shape.softCap.map(Double.init) else { return score }
                return cap * tanh(score / cap)
            }
            let most = scores.max() ?? 0
            let weights = scores.map { exp($0 - most) }
            let sum = weights.reduce(0, +)
            return (0..<n).map { (i: Int) -> Double in
                var mixed = 0.0
                for (key, weight) in weights.enumerated() {
                    mixed += weight * Double(v[((first + key) * 2 + own) * n + i])
                }
                return mixed / sum
            }
        }

        /// All heads of `tokens`, blocks of at most `CachedAttention.block`, [tokens, H * N].
        func attend(_ tokens: Range<Int>) -> [Float] {
            var out = [Float](repeating: .nan, count: tokens.count * 4 * n)
            let count = attention.scratchCount(keys: tokens.upperBound)
            var scratch = [Float](repeating: .nan, count: count + 8)
            scratch.replaceSubrange(count..., with: repeatElement(17, count: 8))
            q.withUnsafeBufferPointer { q in
                out.withUnsafeMutableBufferPointer { out in
                    guard let q = q.baseAddress, let out = out.baseAddress else { return }
                    for head in 0..<4 {
                        for first in stride(
                            from: tokens.lowerBound, to: tokens.upperBound,
                            by: CachedAttention.block)
                        {
                            attention.attend(
                                block: min(CachedAttention.block, tokens.upperBound - first),
                                head: head, q: q + first * 4 * n, position: first,
                                layer: layer.base, out: out + (first - tokens.lowerBound) * 4 * n,
                                scratch: &scratch)
                        }
                    }
                }
            }
            #expect(scratch[count...].allSatisfy { $0 == 17 })
            return out
        }

        /// All heads of one token, [H * N].
        func attendAlone(_ token: Int) -> [Float] {
            let row = token * 4 * n..<(token + 1) * 4 * n
            var out = [Float](repeating: .nan, count: 4 * n)
            var scratch = [Float](
                repeating: .nan, count: attention.scratchCount(keys: token + 1))
            for head in 0..<4 {
                attention.attend(
                    heads: head..<(head + 1), q: Array(q[row]), layer: layer.base, keys: token + 1,
                    out: &out,
                    scratch: &scratch)
            }
            return out
        }

        func expectedRow(_ token: Int) -> [Double] {
            (0..<4).flatMap { expected(token: token, head: $0) }
        }
    }

    @Test(
        "with a window, a cap or a scale they attend as a plain loop does, in a ring of slots",
        arguments: [
            (16, 1, nil), (20, 5, 2), (64, 16, nil), (80, 17, 0.5), (24, 31, nil), (16, 70, 3),
            (20, nil, 2), (64, 1000, nil),
        ] as [(Int, Int?, Float?)])
    func windows(n: Int, window: Int?, cap: Float?) {
        for appended in [1, 7, 32, 50] {
            let tokens = 230
            let sample = Sample(
                n: n, tokens: tokens, scale: 0.3, window: window, softCap: cap, appended: appended)
            if let window, window < 100 {
                let slots = sample.attention.layerCount / (2 * (n + (n + 15) / 16 * 16))
                #expect(slots < window + appended + 16 && slots >= window + appended - 1)
            }
            for first in stride(from: 0, to: tokens, by: appended) {
                let range = first..<min(first + appended, tokens)
                sample.append(range)
                let out = sample.attend(range).map(Double.init)
                for (i, token) in range.enumerated() {
                    let expected = sample.expectedRow(token)
                    let row = Array(out[i * 4 * n..<(i + 1) * 4 * n])
                    #expect(
                        CentralDifference.relativeError(row, expected) < 5e-6,
                        "token \(token), \(appended) appended")
                }
                let last = range.upperBound - 1
                #expect(
                    CentralDifference.relativeError(
                        sample.attendAlone(last).map(Double.init), sample.expectedRow(last)) < 5e-6,
                    "token \(last) alone, \(appended) appended")
            }
        }
    }

    @Test("a ring knows which earlier places it can return to")
    func earlier() {
        let shape = AttentionShape(heads: 1, keyValueHeads: 1, headDimension: 8, window: 20)
        let ring = CachedAttention(shape, capacity: 500, appended: 28)
        // 48 slots: of 100 tokens those from 52 on, which tokens from 71 on see.
        #expect(!ring.holds(whatIsSeenAt: 70, of: 100) && ring.holds(whatIsSeenAt: 71, of: 100))
        #expect(ring.holds(whatIsSeenAt: 100, of: 100) && ring.holds(whatIsSeenAt: 0, of: 48))
        #expect(!ring.holds(whatIsSeenAt: 0, of: 49))
        let all = CachedAttention(heads: 1, keyValueHeads: 1, headDimension: 8, capacity: 500)
        #expect(all.holds(whatIsSeenAt: 0, of: 500))
    }

    @Test("every level attends in a ring alike, those with fused multiply-add with the same bits")
    func levelsOfRings() {
        let n = 72
        let q = CentralDifference.numbers(n, seed: 9, stream: 1)
        let k = CentralDifference.numbers(48 * n, seed: 9, stream: 2)
        let v = CentralDifference.numbers(48 * 80, seed: 9, stream: 3)
        let results = KernelLevel.all.map { level in
            var out = [Float](repeating: .nan, count: n)
            k.withUnsafeBufferPointer { k in
                v.withUnsafeBufferPointer { v in
                    var cached = skein_cached(
                        type: SKEIN_CACHE_F32, k: k.baseAddress, v: v.baseAddress,
                        value_scales: nil, slots: 48, first: 133, end: 170)
                    var scores = [Float](repeating: .nan, count: 48)
                    skein_attend_cached(level, q, &cached, n, 0.125, 1.5, &scores, &out)
                }
            }
            return out
        }
        for (level, out) in zip(KernelLevel.all, results) {
            for i in 0..<n { #expect(abs(out[i] - results[0][i]) < 2e-6, "\(level)") }
        }
        let fused = zip(KernelLevel.all, results).filter {
            KernelLevel.fusedByProcessor.contains($0.0)
        }
        for (level, out) in fused { #expect(out == fused[0].1, "\(level)") }
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
                    heads: head..<(head + 1), q: Array(sample.q.suffix(4 * n)),
                    layer: sample.layer.base,
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
        let results = KernelLevel.all.map { level in
            var scores = [Float](repeating: .nan, count: 48)
            var out = [Float](repeating: .nan, count: n)
            skein_attend(level, q, k, v, keys, n, 0.125, &scores, &out)
            return out
        }
        for (level, out) in zip(KernelLevel.all, results) {
            for i in 0..<n { #expect(abs(out[i] - results[0][i]) < 2e-6, "\(level)") }
        }
        let fused = zip(KernelLevel.all, results).filter {
            KernelLevel.fusedByProcessor.contains($0.0)
        }
        for (level, out) in fused { #expect(out == fused[0].1, "\(level)") }
    }

    @Test("heads that attend together have the bits that each has alone, at every level")
    func together() {
        for (n, keys) in [(64, 45), (20, 1), (80, 33), (72, 48)] {
            let room = (keys + 15) / 16 * 16
            let padded = (n + 15) / 16 * 16
            let q = CentralDifference.numbers(7 * n, seed: 9, stream: 1)
            let k = CentralDifference.numbers(room * n, seed: 9, stream: 2)
            let v = CentralDifference.numbers(keys * padded, seed: 9, stream: 3)
            for level in KernelLevel.all {
                var scores = [Float](
                    repeating: .nan, count: Int(SKEIN_ATTEND_TOGETHER) * room)
                let alone = (0..<7).flatMap { head in
                    var out = [Float](repeating: .nan, count: n)
                    skein_attend(
                        level, Array(q[(head * n)...]), k, v, keys, n, 0.125, &scores, &out)
                    return out
                }
                for heads in 1...7 {
                    var out = [Float](repeating: .nan, count: heads * n)
                    skein_attend_heads(level, q, heads, k, v, keys, n, 0.125, &scores, &out)
                    #expect(out == Array(alone[..<(heads * n)]), "\(level) \(heads) heads of \(n)")
                }
            }
        }
    }
}
