import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Bits that runs of released versions have: no change of a kernel may change them.
@Suite struct KernelBitsTests {
    private static let isFused = skein_level().rawValue >= SKEIN_FUSED.rawValue

    /// FNV-1a over the bits of all numbers.
    private static func hash(_ parts: [[Float]]) -> UInt64 {
        parts.joined().reduce(0xcbf2_9ce4_8422_2325) {
            ($0 ^ UInt64($1.bitPattern)) &* 0x100_0000_01b3
        }
    }

    @Test("causal attention has the bits of version 1", .enabled(if: isFused))
    func attention() {
        let shape = RoundedAttentionTests.Shape(tokens: 203, heads: 4, groups: 2, dimension: 40)
        let inputs = RoundedAttentionCase(shape, seed: 20_261_201)
        let rounded = inputs.rounded()
        #expect(
            Self.hash([rounded.out, rounded.logSumExp, rounded.dq, rounded.dk, rounded.dv])
                == 11_147_530_272_849_185_683)
        let single = inputs.inSingle()
        #expect(
            Self.hash(
                [single.out, single.logSumExp, single.dq, single.dk, single.dv]
                    .map { $0.map { Float($0) } }) == 14_075_351_666_997_288_610)
    }

    @Test("cached attention has the bits of version 1", .enabled(if: isFused))
    func cachedAttention() {
        let (n, tokens) = (40, 75)
        let attention = CachedAttention(
            heads: 4, keyValueHeads: 2, headDimension: n, capacity: tokens)
        let q = CentralDifference.numbers(tokens * 4 * n, seed: 20_261_202, stream: 1)
        let k = CentralDifference.numbers(tokens * 2 * n, seed: 20_261_202, stream: 2)
        let v = CentralDifference.numbers(tokens * 2 * n, seed: 20_261_202, stream: 3)
        let layer = FloatBuffer(count: attention.layerCount)
        attention.append(k: k, v: v, tokens: tokens, position: 0, to: layer.base)
        var scratch = [Float](repeating: 0, count: CachedAttention.scratchCount(keys: tokens))
        var alone = [Float](repeating: 0, count: 4 * n)
        var block = [Float](repeating: 0, count: 17 * 4 * n)
        for head in 0..<4 {
            attention.attend(
                heads: head..<(head + 1), q: Array(q.suffix(4 * n)), layer: layer.base,
                keys: tokens,
                out: &alone, scratch: &scratch)
            attention.attend(
                block: 17, head: head, q: Array(q.suffix(17 * 4 * n)), position: tokens - 17,
                layer: layer.base, out: &block, scratch: &scratch)
        }
        #expect(Self.hash([alone]) == 7_573_288_779_936_204_927)
        #expect(Self.hash([block]) == 18_286_542_403_950_023_860)
    }

    @Test("rows of activations have the bits of version 1", .enabled(if: isFused))
    func rows() {
        let (tokens, width) = (5, 133)
        let count = tokens * width
        let numbers = (0..<4).map {
            CentralDifference.numbers(count, seed: 20_261_203, stream: UInt32($0), spread: 2)
        }
        var a = [Float](repeating: 0, count: count)
        GatedActivation.swiGLU.forward(gate: numbers[0], up: numbers[1], count: count, into: &a)
        var dg = numbers[2]
        var du = a
        GatedActivation.swiGLU.backward(
            da: &dg, gate: numbers[0], up: numbers[1], count: count, du: &du)
        #expect(Self.hash([a, dg, du]) == 4_739_591_259_755_238_931)
        var inverse = [Float](repeating: 0, count: tokens)
        RMSNorm.forward(
            numbers[0], weight: numbers[1], epsilon: 1e-5, tokens: tokens, width: width, into: &a,
            inverse: &inverse)
        RMSNorm.backward(
            numbers[2], x: numbers[0], weight: numbers[1], inverse: inverse, tokens: tokens,
            width: width, addingTo: &du)
        #expect(Self.hash([a, inverse, du]) == 14_911_644_909_294_672_685)
        let rotary = RotaryEmbedding(headDimension: 26, theta: 1e4, divisors: nil, positions: 40)
        var x = Array(numbers[3][..<(5 * 5 * 26)])
        rotary.rotate(&x, tokens: 5, heads: 5, firstPosition: 34)
        #expect(Self.hash([x]) == 11_471_408_065_936_628_980)
    }
}
