import CSkeinKernels
import Foundation
import SkeinTestSupport

@testable import SkeinTensors

/// Inputs of attention that are bf16 numbers, and what different computations make of them.
struct RoundedAttentionCase {
    let shape: RoundedAttentionTests.Shape
    var q, k, v, dOut: [Float]

    struct Results<Number> {
        var out, logSumExp, dq, dk, dv: [Number]
    }

    init(_ shape: RoundedAttentionTests.Shape, seed: UInt64) {
        self.shape = shape
        let width = shape.tokens * shape.dimension
        let numbers = { (count: Int, stream: UInt32) in
            CentralDifference.numbers(count, seed: seed, stream: stream).map(Self.rounded)
        }
        q = numbers(width * shape.heads, 1)
        k = numbers(width * shape.groups, 2)
        v = numbers(width * shape.groups, 3)
        dOut = numbers(width * shape.heads, 4)
    }

    /// To bf16, nearest, ties to even.
    static func rounded(_ x: Float) -> Float {
        let bits = x.bitPattern
        return Float(bitPattern: (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000)
    }

    func rounded(level: skein_level? = nil, poison: Float = .nan) -> Results<Float> {
        let attention = attention(level)
        let count = attention.scratchCount(tokens: shape.tokens)
        var results = empty(poison)
        withScratch(count, poison) { compute(attention, $0, into: &results) }
        return results
    }

    func staysInScratch(level: skein_level) -> Bool {
        let attention = attention(level)
        let count = attention.scratchCount(tokens: shape.tokens)
        var results = empty(0)
        return withScratch(count + 64, 17) { scratch in
            compute(attention, scratch, into: &results)
            return (count..<count + 64).allSatisfy { scratch[$0] == 17 }
        }
    }

    private func attention(_ level: skein_level?) -> RoundedAttention {
        RoundedAttention(shape.attention, level: level)
    }

    private func empty(_ number: Float) -> Results<Float> {
        Results(
            out: q.map { _ in number },
            logSumExp: Array(repeating: number, count: shape.heads * shape.tokens),
            dq: q.map { _ in number }, dk: k.map { _ in number }, dv: k.map { _ in number })
    }

    private func withScratch<R>(
        _ count: Int, _ poison: Float, _ body: (UnsafeMutablePointer<Float>) -> R
    ) -> R {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count * 4, alignment: 64)
        defer { memory.deallocate() }
        let scratch = memory.bindMemory(to: Float.self, capacity: count)
        scratch.update(repeating: poison, count: count)
        return body(scratch)
    }

    private func compute(
        _ attention: RoundedAttention, _ scratch: UnsafeMutablePointer<Float>,
        into results: inout Results<Float>
    ) {
        attention.forward(
            q: q, k: k, v: v, tokens: shape.tokens, out: &results.out,
            logSumExp: &results.logSumExp, scratch: scratch)
        let (out, logSumExp) = (results.out, results.logSumExp)
        attention.backward(
            q: q, k: k, v: v, out: out, dOut: dOut, logSumExp: logSumExp, tokens: shape.tokens,
            dq: &results.dq, dk: &results.dk, dv: &results.dv, scratch: scratch)
    }

    /// By `Attention`, in fp32.
    func inSingle() -> Results<Double> {
        let attention = Attention(shape.attention)
        var scratch = [Float](
            repeating: 0, count: attention.scratchCount(tokens: shape.tokens))
        var results = empty(0)
        attention.forward(
            q: q, k: k, v: v, tokens: shape.tokens, out: &results.out,
            logSumExp: &results.logSumExp, scratch: &scratch, matMul: MatMul())
        let (out, logSumExp) = (results.out, results.logSumExp)
        attention.backward(
            q: q, k: k, v: v, out: out, dOut: dOut, logSumExp: logSumExp, tokens: shape.tokens,
            dq: &results.dq, dk: &results.dk, dv: &results.dv, scratch: &scratch,
            matMul: MatMul())
        return Results(
            out: results.out.map(Double.init), logSumExp: results.logSumExp.map(Double.init),
            dq: results.dq.map(Double.init), dk: results.dk.map(Double.init),
            dv: results.dv.map(Double.init))
    }

    /// Term by term, nothing in common with the kernels.
    func inDouble() -> Results<Double> {
        let (n, width) = (shape.dimension, shape.heads * shape.dimension)
        let keyWidth = shape.groups * n
        let scale = shape.scale.map(Double.init) ?? 1 / Double(n).squareRoot()
        let cap = shape.cap.map(Double.init)
        let zeros = { (count: Int) in [Double](repeating: 0, count: count) }
        var r = Results(
            out: zeros(q.count), logSumExp: zeros(shape.heads * shape.tokens), dq: zeros(q.count),
            dk: zeros(k.count), dv: zeros(k.count))
        func dot(_ a: [Float], _ i: Int, _ b: [Float], _ j: Int) -> Double {
            (0..<n).reduce(0) { $0 + Double(a[i + $1]) * Double(b[j + $1]) }
        }
        for h in 0..<shape.heads {
            let column = h / (shape.heads / shape.groups) * n
            for t in 0..<shape.tokens {
                let row = t * width + h * n
                let seen = max(0, t + 1 - (shape.window ?? t + 1))...t
                let scores = seen.map {
                    let score = dot(q, row, k, $0 * keyWidth + column) * scale
                    return cap.map { $0 * tanh(score / $0) } ?? score
                }
                let largest = scores.max() ?? 0
                let sum = scores.reduce(0) { $0 + exp($1 - largest) }
                r.logSumExp[h * shape.tokens + t] = largest + log(sum)
                let p = scores.map { exp($0 - largest) / sum }
                let dp = seen.map { dot(dOut, row, v, $0 * keyWidth + column) }
                let delta = zip(p, dp).reduce(0) { $0 + $1.0 * $1.1 }
                for (j, score) in scores.enumerated() {
                    let key = (seen.lowerBound + j) * keyWidth + column
                    let slope = cap.map { 1 - score / $0 * score / $0 } ?? 1
                    let ds = p[j] * (dp[j] - delta) * slope * scale
                    for d in 0..<n {
                        r.out[row + d] += p[j] * Double(v[key + d])
                        r.dv[key + d] += p[j] * Double(dOut[row + d])
                        r.dq[row + d] += ds * Double(k[key + d])
                        r.dk[key + d] += ds * Double(q[row + d])
                    }
                }
            }
        }
        return r
    }
}

extension RoundedAttentionCase.Results where Number == Float {
    var bits: [[UInt32]] {
        [out, logSumExp, dq, dk, dv].map { $0.map(\.bitPattern) }
    }

    func pairs(
        with other: RoundedAttentionCase.Results<Double>
    ) -> [(name: String, own: [Float], other: [Double])] {
        [
            ("out", out, other.out), ("logSumExp", logSumExp, other.logSumExp),
            ("dq", dq, other.dq), ("dk", dk, other.dk), ("dv", dv, other.dv),
        ]
    }
}
