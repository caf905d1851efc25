import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Attention with bf16 products against a loop in Double, `Attention` and central differences.
@Suite struct RoundedAttentionTests {
    static let seed: UInt64 = 20_261_122

    struct Shape: CustomTestStringConvertible, Sendable {
        let tokens, heads, groups, dimension: Int
        var testDescription: String {
            "\(tokens) tokens, \(heads) heads over \(groups), dimension \(dimension)"
        }
    }

    static let shapes: [Shape] = [1, 2, 63, 64, 65, 130].flatMap { tokens in
        [(3, 1, 16), (4, 2, 64), (2, 2, 80), (1, 1, 10)].map {
            Shape(tokens: tokens, heads: $0.0, groups: $0.1, dimension: $0.2)
        }
    }

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

    @Test("levels with fused multiply-add give the same bits", arguments: shapes)
    func levels(shape: Shape) {
        let inputs = RoundedAttentionCase(shape, seed: Self.seed + 2)
        let results = KernelLevel.all.filter { $0.rawValue >= SKEIN_AVX2.rawValue }
            .map { inputs.rounded(level: $0).bits }
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
        var last = 0
        let attention = RoundedAttention(heads: 2, keyValueHeads: 1, headDimension: 34)
        for tokens in 0..<1300 {
            let count = attention.scratchCount(tokens: tokens)
            #expect(count >= last)
            last = count
        }
        for tokens in [1, 31, 33, 65, 97] {
            let shape = Shape(tokens: tokens, heads: 2, groups: 1, dimension: 34)
            let inputs = RoundedAttentionCase(shape, seed: Self.seed + 4)
            for level in KernelLevel.all { #expect(inputs.staysInScratch(level: level)) }
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
