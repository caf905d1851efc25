import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Fast kernels against plain ones.
@Suite struct KernelTests {
    @Test("exp8 is within 2 ulp of the library's exp and exact at the ends")
    func exponentials() {
        var worst: Float = 0
        var x: Float = -87
        while x < 88 {
            let exact = Float(exp(Double(x)))
            worst = max(worst, abs(exponential(x) - exact) / exact.ulp)
            x += 0.0137
        }
        #expect(worst <= 2, "worst error \(worst) ulp")
        #expect(exponential(0) == 1)
        #expect(exponential(-200) == 0)
        #expect(exponential(-.infinity) == 0)
    }

    @Test("the logarithm is within 2 ulp of the library's, and NaN where there is none")
    func logarithmOfSums() {
        var worst = 0.0
        for i in 0..<20_000 {
            let x = pow(1.0017, Double(i - 10_000))
            worst = max(worst, abs(logarithm(x) - log(x)) / max(log(x).ulp, 1e-300))
        }
        // The library's own last bit may be off by one, too.
        #expect(worst <= 2, "worst error \(worst) ulp")
        #expect(logarithm(1) == 0)
        #expect(logarithm(0) == -.infinity)
        for x in [-1, Double.nan, .infinity] { #expect(logarithm(x).isNaN) }
        // Down to the smallest number and up to the largest.
        for x in [Double.leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            #expect(abs(logarithm(x) / log(x) - 1) < 1e-15)
        }
    }

    @Test("products agree with a plain loop, transposed or not")
    func products() {
        let (m, n, k) = (5, 7, 11)
        let a = CentralDifference.numbers(m * k, seed: 1, stream: 1)
        let b = CentralDifference.numbers(k * n, seed: 1, stream: 2)
        var aT = a
        var bT = b
        for i in 0..<m { for j in 0..<k { aT[j * m + i] = a[i * k + j] } }
        for i in 0..<k { for j in 0..<n { bT[j * k + i] = b[i * n + j] } }
        var expected = [Float](repeating: 0, count: m * n)
        for i in 0..<m {
            for j in 0..<n {
                let sum = (0..<k).reduce(Float(0)) { $0 + a[i * k + $1] * b[$1 * n + j] }
                expected[i * n + j] = 0.5 + sum
            }
        }
        let tally = MatMulTally()
        let matMul = MatMul(tally: tally)
        for (opA, opB) in [
            (MatMul.Operand.plain, MatMul.Operand.plain), (.plain, .transposed),
            (.transposed, .plain), (.transposed, .transposed),
        ] {
            var c = [Float](repeating: 0.5, count: m * n)
            matMul(
                m: m, n: n, k: k, opA == .plain ? a : aT, opA, strideA: opA == .plain ? k : m,
                opB == .plain ? b : bT, opB, strideB: opB == .plain ? n : k, into: &c,
                strideC: n, accumulating: true)
            for (x, y) in zip(c, expected) { #expect(abs(x - y) < 1e-4) }
        }
        #expect(tally.operations == 4 * 2 * m * n * k)
    }

    @Test("attention equals a plain softmax over what a token may see")
    func attention() {
        let (tokens, heads, groups, n) = (67, 4, 2, 8)
        let attention = Attention(heads: heads, keyValueHeads: groups, headDimension: n)
        let q = CentralDifference.numbers(tokens * heads * n, seed: 2, stream: 1)
        let k = CentralDifference.numbers(tokens * groups * n, seed: 2, stream: 2)
        let v = CentralDifference.numbers(tokens * groups * n, seed: 2, stream: 3)
        var expected = [Double](repeating: 0, count: q.count)
        for t in 0..<tokens {
            for h in 0..<heads {
                let g = h * groups / heads
                let scores = (0...t).map { s in
                    (0..<n).reduce(0.0) {
                        $0 + Double(q[(t * heads + h) * n + $1])
                            * Double(k[(s * groups + g) * n + $1])
                    } / Double(n).squareRoot()
                }
                let sum = scores.reduce(0) { $0 + exp($1) }
                for (s, score) in scores.enumerated() {
                    for i in 0..<n {
                        expected[(t * heads + h) * n + i] +=
                            exp(score) / sum * Double(v[(s * groups + g) * n + i])
                    }
                }
            }
        }
        var scratch = [Float](repeating: 0, count: Attention.scratchCount(tokens: tokens))
        var out = [Float](repeating: 0, count: q.count)
        attention.forward(
            q: q, k: k, v: v, tokens: tokens, out: &out, logSumExp: nil, scratch: &scratch,
            matMul: MatMul())
        #expect(CentralDifference.relativeError(out.map(Double.init), expected) < 1e-5)
    }

    @Test("eight blocks at once give the bits of one block at a time")
    func dropoutMask() {
        let probability: Float = 0.05
        let dropout = Dropout(probability: probability, seed: 11)
        let random = AddressedRandom(seed: 11, purpose: .dropout)
        var mask = [UInt8](repeating: 0, count: 101)
        dropout.draw(into: &mask, count: 808, step: 5, sequence: 6, place: 7)
        for (index, byte) in mask.enumerated() {
            let words = random.block(UInt32(index), 5, 6, 7)
            var expected: UInt8 = 0
            for i in 0..<4 {
                if words[i] & 0xFFFF >= 3277 { expected |= 1 << i }
                if words[i] >> 16 >= 3277 { expected |= 1 << (i + 4) }
            }
            #expect(byte == expected, "byte \(index)")
        }
    }
}
