import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Caches in bf16 and 8 bits: attention over rounded keys and values, and copies of them.
@Suite struct RoundedCacheTests {
    private typealias Sample = CachedAttentionTests.Sample

    @Test(
        "attention is that over the numbers up to their rounding", arguments: CacheType.allCases,
        [(64, nil, nil), (20, 40, 2), (80, 17, nil), (24, nil, 3)] as [(Int, Int?, Float?)])
    func rounding(type: CacheType, shape: (n: Int, window: Int?, cap: Float?)) {
        // More than one piece of keys that become floats at once.
        let tokens = 300
        let sample = Sample(
            n: shape.n, tokens: tokens, window: shape.window, softCap: shape.cap, appended: 50,
            type: type)
        let limit = type == .fp32 ? 1e-5 : type == .bf16 ? 0.01 : 0.025
        for first in stride(from: 0, to: tokens, by: 50) {
            sample.append(first..<(first + 50))
            let out = sample.attend(first..<(first + 50)).map(Double.init)
            let last = first + 49
            let expected = sample.expectedRow(last)
            for row in [
                Array(out.suffix(4 * shape.n)), sample.attendAlone(last).map(Double.init),
            ] {
                let error = CentralDifference.relativeError(row, expected)
                #expect(error < limit, "token \(last): \(error)")
            }
        }
    }

    @Test(
        "a token's bits do not depend on what is appended and attends with it",
        arguments: CacheType.allCases, [nil, 40])
    func cuts(type: CacheType, window: Int?) {
        let (n, tokens) = (20, 300)
        let results = [1, 7, 50].map { appended in
            let sample = Sample(n: n, tokens: tokens, window: window, appended: 50, type: type)
            var rows: [Float] = []
            for first in stride(from: 0, to: tokens, by: appended) {
                let range = first..<min(first + appended, tokens)
                sample.append(range)
                rows += sample.attend(range)
            }
            return (rows: rows, last: sample.attendAlone(tokens - 1))
        }
        for result in results { #expect(result == results[0]) }
    }

    @Test(
        "a copy restored elsewhere is attended over with the same bits",
        arguments: CacheType.allCases, [nil, 40])
    func copies(type: CacheType, window: Int?) {
        let (n, tokens) = (24, 192)
        let sample = Sample(n: n, tokens: tokens, window: window, appended: 64, type: type)
        let other = Sample(n: n, tokens: tokens, window: window, appended: 64, type: type)
        let attention = sample.attention
        for first in stride(from: 0, to: tokens, by: 64) {
            sample.append(first..<(first + 64))
            #expect(attention.holds(first..<(first + 64), of: first + 64))
            var block = [UInt8](repeating: 0, count: attention.byteCount(tokens: 64))
            block.withUnsafeMutableBytes { block in
                guard let base = block.baseAddress else { return }
                attention.copy(
                    tokens: 64, position: first, of: sample.layer.base, into: base)
                attention.restore(
                    tokens: 64, position: first, from: base, into: other.layer.base)
            }
        }
        #expect(attention.holds(0..<64, of: tokens) == (window == nil))
        #expect(other.attendAlone(tokens - 1) == sample.attendAlone(tokens - 1))
        let range = (tokens - 20)..<tokens
        #expect(other.attend(range) == sample.attend(range))
    }

    @Test("numbers that are not finite stay visible", arguments: [Float.infinity, .nan])
    func notFinite(bad: Float) {
        for type in CacheType.allCases {
            let attention = CachedAttention(
                AttentionShape(heads: 1, keyValueHeads: 1, headDimension: 16), type: type,
                capacity: 16)
            let layer = FloatBuffer(count: attention.layerCount)
            var v = [Float](repeating: 1, count: 16)
            v[3] = bad
            attention.append(
                k: [Float](repeating: 1, count: 16), v: v, tokens: 1, position: 0, to: layer.base)
            var out = [Float](repeating: 0, count: 16)
            var scratch = [Float](repeating: 0, count: attention.scratchCount(keys: 1))
            attention.attend(
                heads: 0..<1, q: [Float](repeating: 1, count: 16), layer: layer.base, keys: 1,
                out: &out, scratch: &scratch)
            #expect(!out[3].isFinite, "\(type)")
        }
    }

    @Test("every level attends over rounded numbers alike")
    func levels() {
        let (n, keys) = (24, 45)
        let q = CentralDifference.numbers(n, seed: 9, stream: 1)
        for type in CacheType.allCases {
            let sample = Sample(n: n, tokens: keys, type: type)
            sample.append(0..<keys)
            let base = UnsafeRawPointer(sample.layer.base)
            let results = KernelLevel.all.map { level in
                var cached = skein_cached(
                    type: type.kernel, k: base,
                    v: sample.attention.values(sample.layer.base, 0),
                    value_scales: sample.attention.valueScales(sample.layer.base, 0), slots: 48,
                    first: 0, end: keys)
                var out = [Float](repeating: .nan, count: n)
                var scores = [Float](repeating: .nan, count: 48)
                skein_attend_cached(level, q, &cached, n, 0.125, 0, &scores, &out)
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
    }

    @Test("8 bits take about a quarter of the memory of fp32, bf16 half")
    func memory() {
        let shape = AttentionShape(heads: 9, keyValueHeads: 3, headDimension: 64)
        let counts = CacheType.allCases.map {
            CachedAttention(shape, type: $0, capacity: 512).layerCount
        }
        #expect(counts[1] * 2 == counts[0])
        // 64 codes and a scale.
        #expect(counts[2] * 256 == counts[0] * 68)
    }
}
