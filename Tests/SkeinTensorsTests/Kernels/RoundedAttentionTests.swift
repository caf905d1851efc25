import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Attention with bf16 products against a loop in Double, `Attention` and central differences.
@Suite struct RoundedAttentionTests {
    static let seed: UInt64 = 20_261_122

    struct Shape: CustomTestStringConvertible, Sendable {
        let tokens, heads, groups, dimension: Int
        var window: Int?
        var cap: Float?
        var scale: Float?
        var testDescription: String {
            "\(tokens) tokens, \(heads) heads over \(groups), dimension \(dimension), "
                + "window \(window ?? 0), cap \(cap ?? 0), scale \(scale ?? 0)"
        }
        var attention: AttentionShape {
            AttentionShape(
                heads: heads, keyValueHeads: groups, headDimension: dimension, scale: scale,
                window: window, softCap: cap)
        }
    }

    static let plain: [Shape] = [1, 2, 63, 64, 65, 130].flatMap { tokens in
        [(3, 1, 16), (4, 2, 64), (2, 2, 80), (1, 1, 10)].map {
            Shape(tokens: tokens, heads: $0.0, groups: $0.1, dimension: $0.2)
        }
    }

    /// Segments of a window are 384 tokens or more: from one token on to three segments.
    static let limited: [Shape] = [
        Shape(tokens: 1, heads: 1, groups: 1, dimension: 10, window: 1, cap: 2),
        Shape(tokens: 65, heads: 3, groups: 1, dimension: 16, window: 1),
        Shape(tokens: 65, heads: 3, groups: 1, dimension: 16, cap: 0.5),
        Shape(tokens: 97, heads: 2, groups: 1, dimension: 18, window: 2, scale: 0.4),
        Shape(tokens: 130, heads: 4, groups: 2, dimension: 64, window: 17, cap: 3),
        Shape(tokens: 130, heads: 2, groups: 2, dimension: 10, window: 129),
        Shape(tokens: 130, heads: 2, groups: 1, dimension: 24, window: 500, cap: 1, scale: 0.7),
        Shape(tokens: 385, heads: 2, groups: 1, dimension: 16, window: 31),
        Shape(tokens: 447, heads: 2, groups: 1, dimension: 20, window: 384, cap: 2),
        Shape(tokens: 803, heads: 2, groups: 1, dimension: 16, window: 100),
        Shape(tokens: 805, heads: 1, groups: 1, dimension: 12, window: 391, cap: 2),
        Shape(tokens: 1201, heads: 1, groups: 1, dimension: 10, window: 385, scale: 1),
    ]

    static let shapes = plain + limited

    @Test(
        "forward and backward are a loop in Double up to bf16's rounding, at every level",
        arguments: shapes)
    func againstLoop(shape: Shape) {
        let inputs = RoundedAttentionCase(shape, seed: Self.seed)
        let exact = inputs.inDouble()
        for level in KernelLevel.all {
            let own = inputs.rounded(level: level)
            for (name, a, b) in own.pairs(with: exact) {
                // What remains of a sum that cancels, as with one token, is bf16's rounding, too.
                let bound = name == "logSumExp" ? 1e-6 : 4e-3
                #expect(
                    Self.difference(a, b) < bound, "\(name) at level \(level), seed \(Self.seed)")
            }
        }
    }

    @Test("it agrees with attention in fp32 on numbers that are bf16 already", arguments: shapes)
    func againstAttention(shape: Shape) {
        let inputs = RoundedAttentionCase(shape, seed: Self.seed + 1)
        let exact = inputs.inSingle()
        for (name, a, b) in inputs.rounded().pairs(with: exact) {
            let bound = name == "logSumExp" ? 1e-6 : 4e-3
            #expect(Self.difference(a, b) < bound, "\(name), seed \(Self.seed + 1)")
        }
    }

    @Test("attention in fp32 is a loop in Double", arguments: shapes)
    func singleAgainstLoop(shape: Shape) {
        let inputs = RoundedAttentionCase(shape, seed: Self.seed + 9)
        let own = inputs.inSingle()
        let exact = inputs.inDouble()
        let pairs = [
            (own.out, exact.out), (own.logSumExp, exact.logSumExp), (own.dq, exact.dq),
            (own.dk, exact.dk), (own.dv, exact.dv),
        ]
        for (part, (a, b)) in pairs.enumerated() {
            let difference = Self.difference(a.map { Float($0) }, b)
            #expect(difference < 3e-6, "part \(part), seed \(Self.seed + 9)")
        }
    }

    @Test(
        "levels with fused multiply-add give the same bits",
        .enabled(if: KernelLevel.fusedByProcessor.count > 1), arguments: shapes)
    func levels(shape: Shape) {
        let inputs = RoundedAttentionCase(shape, seed: Self.seed + 2)
        let results = KernelLevel.fusedByProcessor.map { inputs.rounded(level: $0).bits }
        for other in results.dropFirst() { #expect(other == results[0], "\(Self.seed + 2)") }
    }

    @Test("the old contents of scratch and results do not matter", arguments: shapes)
    func poisonedScratch(shape: Shape) {
        let inputs = RoundedAttentionCase(shape, seed: Self.seed + 3)
        for level in KernelLevel.all {
            let clean = inputs.rounded(level: level, poison: 0).bits
            #expect(inputs.rounded(level: level, poison: .nan).bits == clean)
            #expect(inputs.rounded(level: level, poison: -3e38).bits == clean)
        }
    }

    @Test("scratch for a longer sequence is enough, and nothing after it is written")
    func scratchEnd() {
        for window in [nil, 1, 100, 400] {
            var last = 0
            let shape = Shape(tokens: 0, heads: 2, groups: 1, dimension: 34, window: window)
            let attention = RoundedAttention(shape.attention)
            for tokens in 0..<1300 {
                let count = attention.scratchCount(tokens: tokens)
                #expect(count >= last)
                last = count
            }
            if window != nil { #expect(attention.scratchCount(tokens: 1 << 20) == last) }
        }
        let limited = Self.limited.filter { $0.tokens < 400 || $0.tokens % 2 == 1 }
        let plain = [1, 31, 33, 65, 97].map {
            Shape(tokens: $0, heads: 2, groups: 1, dimension: 34)
        }
        for shape in plain + limited {
            let inputs = RoundedAttentionCase(shape, seed: Self.seed + 4)
            for level in KernelLevel.all {
                #expect(inputs.staysInScratch(level: level), "\(shape.testDescription)")
            }
        }
    }

    @Test("a window of all tokens has the bits of none, and a token outside changes nothing")
    func windows() {
        let shape = Shape(tokens: 500, heads: 2, groups: 1, dimension: 16)
        var wide = shape
        wide.window = 500
        let seed = Self.seed + 8
        let plain = RoundedAttentionCase(shape, seed: seed)
        #expect(plain.rounded().bits == RoundedAttentionCase(wide, seed: seed).rounded().bits)
        var narrow = shape
        narrow.window = 45
        let inputs = RoundedAttentionCase(narrow, seed: seed)
        let before = inputs.rounded()
        for changed in [0, 31, 383, 384, 430] {
            var other = inputs
            other.k[changed * 16] += 8
            other.v[changed * 16 + 1] -= 4
            let after = other.rounded()
            for token in 0..<500 where token < changed || token >= changed + 45 {
                let row = token * 32..<token * 32 + 32
                #expect(after.out[row] == before.out[row], "\(changed) \(token)")
                #expect(after.dq[row] == before.dq[row], "\(changed) \(token)")
            }
            let last = (changed + 44) * 32..<(changed + 45) * 32
            #expect(after.out[last] != before.out[last])
        }
    }

    @Test("a later token changes nothing before it, and the first token sees only itself")
    func causal() {
        let shape = Shape(tokens: 130, heads: 4, groups: 2, dimension: 16)
        let inputs = RoundedAttentionCase(shape, seed: Self.seed + 5)
        let before = inputs.rounded()
        let width = shape.heads * shape.dimension
        for changed in [1, 63, 64, 100, 129] {
            var other = inputs
            let (key, query) = (changed * shape.groups * shape.dimension, changed * width)
            other.k[key] += 8
            other.v[key + 1] -= 4
            other.q[query] += 2
            let after = other.rounded()
            #expect(Array(after.out[..<query]) == Array(before.out[..<query]))
            #expect(after.out[query...] != before.out[query...])
        }
        for h in 0..<shape.heads {
            for d in 0..<shape.dimension {
                let value = inputs.v[h / 2 * shape.dimension + d]
                #expect(abs(before.out[h * shape.dimension + d] - value) <= abs(value) * 1e-6)
            }
        }
    }

    @Test(
        "dq, dk and dv are the derivatives of the forward pass",
        arguments: [
            Shape(tokens: 7, heads: 4, groups: 2, dimension: 8),
            Shape(tokens: 70, heads: 3, groups: 1, dimension: 16),
            Shape(tokens: 70, heads: 3, groups: 1, dimension: 16, window: 21, cap: 3),
        ])
    func centralDifferences(shape: Shape) {
        var inputs = RoundedAttentionCase(shape, seed: Self.seed + 6)
        // Multiples of 1/64 below 4 are bf16 numbers before and after a step of 1/8. What remains
        // is the rounding of P, which a smaller step would make more of; it hardly changes with v.
        let grid = { (x: Float) in max(-3.5, min(3.5, (x * 64).rounded() / 64)) }
        inputs.q = inputs.q.map(grid)
        inputs.k = inputs.k.map(grid)
        inputs.v = inputs.v.map(grid)
        let own = inputs.rounded()
        typealias Path = WritableKeyPath<RoundedAttentionCase, [Float]>
        let parts: [(name: String, own: [Float], path: Path, bound: Double)] = [
            ("dq", own.dq, \.q, 0.08), ("dk", own.dk, \.k, 0.08), ("dv", own.dv, \.v, 0.005),
        ]
        for part in parts {
            let at = inputs[keyPath: part.path]
            let indices = Array(stride(from: 0, to: at.count, by: max(1, at.count / 90)))
            let numeric = CentralDifference.gradient(at: at, indices: indices, step: 0.125) {
                var other = inputs
                other[keyPath: part.path] = $0
                return zip(other.rounded().out, inputs.dOut)
                    .reduce(0) { $0 + Double($1.0) * Double($1.1) }
            }
            let found = indices.map { Double(part.own[$0]) }
            #expect(
                CentralDifference.relativeError(found, numeric) < part.bound,
                "\(part.name), seed \(Self.seed + 6)")
        }
    }

    @Test("scores of any size give finite numbers, and NaN in a query stays in its row")
    func extremes() {
        let shape = Shape(tokens: 40, heads: 2, groups: 1, dimension: 16)
        var inputs = RoundedAttentionCase(shape, seed: Self.seed + 7)
        inputs.q = inputs.q.map { $0 * 1e4 }
        inputs.k = inputs.k.map { $0 * 1e4 }
        for level in KernelLevel.all {
            let finite = inputs.rounded(level: level).out.allSatisfy { $0.isFinite }
            #expect(finite)
            var other = inputs
            other.q[5 * 32] = .nan
            let own = other.rounded(level: level)
            let places = own.out.indices.filter { own.out[$0].isNaN }
            #expect(places == Array(5 * 32..<5 * 32 + 16))
            #expect(own.logSumExp.indices.filter { own.logSumExp[$0].isNaN } == [5])
        }
    }

    /// |a - b| / max(|b|, 1), Euclidean: a gradient that is zero may be wrong by bf16's rounding.
    static func difference(_ a: [Float], _ b: [Double]) -> Double {
        let norm = b.reduce(0) { $0 + $1 * $1 }.squareRoot()
        let error = zip(a, b).reduce(0) {
            $0 + (Double($1.0) - $1.1) * (Double($1.0) - $1.1)
        }
        return error.squareRoot() / max(norm, 1)
    }
}
