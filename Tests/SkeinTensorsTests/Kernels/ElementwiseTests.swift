import CSkeinKernels
import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Row kernels at every level of the processor, against formulas in Double, with every length of tail.
@Suite struct ElementwiseTests {
    static let seed: UInt64 = 20_261_123
    static let counts = [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 577]

    static func numbers(_ count: Int, _ stream: UInt32, spread: Float = 1) -> [Float] {
        CentralDifference.numbers(count, seed: seed, stream: stream, spread: spread)
    }

    /// Runs `kernel` at each level: near `expected` everywhere, the same bits where multiply-add is fused.
    static func check(
        _ name: String, expected: [Double], tolerance: Double = 2e-6,
        _ kernel: (skein_level) -> [Float]
    ) {
        var fused: [UInt32]?
        for level in KernelLevel.all {
            let own = kernel(level)
            #expect(own.count == expected.count)
            let error = CentralDifference.relativeError(own.map(Double.init), expected)
            #expect(error < tolerance, "\(name) \(level) seed \(seed)")
            guard level.rawValue >= SKEIN_FUSED.rawValue else { continue }
            let bits = own.map(\.bitPattern)
            if let fused { #expect(fused == bits, "\(name) \(level) seed \(seed)") }
            fused = fused ?? bits
        }
    }

    static func sigmoid(_ x: Float) -> Double { 1 / (1 + exp(-Double(x))) }

    @Test("e^x is within 2 ulp at every level, exact at the ends, and NaN stays NaN")
    func exponential() {
        for level in KernelLevel.all {
            var worst: Float = 0
            for x in stride(from: Float(-87), through: 88, by: 0.00917) {
                let exact = Float(exp(Double(x)))
                worst = max(worst, abs(skein_exponential(level, x) - exact) / exact.ulp)
            }
            #expect(worst <= 2, "\(level): \(worst) ulp")
            #expect(skein_exponential(level, 0) == 1)
            for x in [-87.001, -88, -200, -1e30, -Float.infinity] {
                #expect(skein_exponential(level, x) == 0, "\(level) \(x)")
            }
            for x in [88.5, 1e30, Float.infinity] {
                #expect(skein_exponential(level, x) == skein_exponential(level, 88))
            }
            for bits in [0x7fc0_0000, 0x7fc0_0001, 0xffff_ffff, 0x7f80_0101] as [UInt32] {
                #expect(skein_exponential(level, Float(bitPattern: bits)).isNaN)
            }
        }
    }

    @Test("softmax, its backward pass and its parts are the formulas", arguments: counts)
    func softmax(count: Int) {
        let x = Self.numbers(count, 1, spread: 3)
        let largest = Double(x.max() ?? 0)
        let powers = x.map { exp(Double($0) - largest) }
        let sum = powers.reduce(0, +)
        let padded = x + [7, 8, 9]
        Self.check("softmax", expected: powers.map { $0 / sum } + [0, 0, 0, sum, largest]) {
            var row = padded.map { 2 * $0 }
            var top: Float = 0
            let own = skein_softmax($0, &row, count, count + 3, 0.5, &top)
            return row + [own, top]
        }
        Self.check("exponentiate", expected: powers.map { $0 * exp(largest) } + [3]) {
            var row = x + [3]
            let own = skein_exponentiate($0, &row, count, 0)
            #expect(abs(Double(own) - sum * exp(largest)) < 1e-5 * sum * exp(largest))
            return row
        }
        Self.check("scale", expected: x.map { Double($0) * 0.7 } + [3]) {
            var row = x + [3]
            skein_scale($0, &row, count, 0.7)
            return row
        }
        let pull = Self.numbers(count, 2)
        let p = x.map { exp(Double($0) - 2) }
        let ds = zip(p, pull).map { $0 * (Double($1) - 0.5) * 0.125 }
        Self.check("backward", expected: p + [0, 0] + ds + [0, 0]) {
            var own = x.map { 8 * $0 } + [5, 6]
            var gradient = pull + [7, 8]
            skein_softmax_backward($0, &own, &gradient, count, count + 2, 2, 0.5, 0.125, 0)
            return own + gradient
        }
    }

    @Test("the maximum ignores NaN, and contains finds each place", arguments: counts)
    func maximum(count: Int) {
        for level in KernelLevel.all {
            for place in stride(from: 0, to: count, by: max(1, count / 20)) {
                var x = [Float](repeating: -5, count: count)
                x[place] = -1
                #expect(skein_maximum(level, x, count) == -1, "\(level) \(place)")
                #expect(skein_contains(level, x, count, -1) == 1, "\(level) \(place)")
                #expect(skein_contains(level, x, place, -1) == 0, "\(level) \(place)")
                x[place] = .nan
                #expect(skein_maximum(level, x, count) == (count == 1 ? -.infinity : -5))
            }
        }
    }

    @Test("exponentials beside the next row's maximum have the bits of both", arguments: counts)
    func exponentiateRow(count: Int) {
        func bits(_ x: [Float]) -> [UInt32] { x.map { $0.isNaN ? 0 : $0.bitPattern } }
        var x = Self.numbers(count, 6, spread: 60)
        var next = Self.numbers(count, 7, spread: 60)
        if count > 1 { x[count / 2] = -.infinity }
        next[count / 3] = .nan
        for level in KernelLevel.all {
            let shift = skein_maximum(level, x, count)
            var alone = x
            let sum = skein_exponentiate(level, &alone, count, shift)
            var row = x
            var largest: Float = 0
            let own = skein_exponentiate_row(level, &row, count, shift, next, &largest)
            let expected = alone + [sum, skein_maximum(level, next, count)]
            #expect(bits(row + [own, largest]) == bits(expected), "\(level)")
        }
    }

    @Test("SwiGLU and its gradients are the formulas", arguments: counts)
    func swiGLU(count: Int) {
        let gate = Self.numbers(count, 3, spread: 3)
        let up = Self.numbers(count, 4)
        let da = Self.numbers(count, 5)
        let indices = Array(0..<count)
        let a = indices.map { Double(gate[$0]) * Self.sigmoid(gate[$0]) * Double(up[$0]) }
        Self.check("forward", expected: a) {
            var own = [Float](repeating: 0, count: count)
            skein_swiglu_forward($0, gate, up, count, &own)
            return own
        }
        let dg = indices.map { i in
            let s = Self.sigmoid(gate[i])
            return Double(da[i]) * Double(up[i]) * s * (1 + Double(gate[i]) * (1 - s))
        }
        let du = indices.map { Double(da[$0]) * Double(gate[$0]) * Self.sigmoid(gate[$0]) }
        Self.check("backward", expected: dg + du) {
            var own = da
            var other = [Float](repeating: 0, count: count)
            own.withUnsafeMutableBufferPointer {
                [level = $0] own in
                guard let own = own.baseAddress else { return }
                skein_swiglu_backward(level, own, gate, up, count, own, &other)
            }
            return own + other
        }
    }

    @Test("RMSNorm and its gradient are the formulas", arguments: counts)
    func rmsNorm(width: Int) {
        let tokens = 3
        let x = Self.numbers(tokens * width, 6)
        let weight = Self.numbers(width, 7)
        let dy = Self.numbers(tokens * width, 8)
        var (y, dx, inverse) = ([Double](), [Double](), [Double]())
        for t in 0..<tokens {
            let row = x[(t * width)..<((t + 1) * width)].map(Double.init)
            let r = 1 / (row.reduce(0) { $0 + $1 * $1 } / Double(width) + 1e-5).squareRoot()
            let push = (0..<width).map { Double(dy[t * width + $0]) * Double(weight[$0]) }
            let pull = zip(push, row).reduce(0) { $0 + $1.0 * $1.1 } * r * r * r / Double(width)
            inverse.append(r)
            y += (0..<width).map { row[$0] * r * Double(weight[$0]) }
            dx += (0..<width).map { 1 + push[$0] * r - row[$0] * pull }
        }
        Self.check("forward", expected: y + y + inverse) {
            var own = [Float](repeating: 0, count: x.count)
            var again = own
            var r = [Float](repeating: 0, count: tokens)
            skein_rmsnorm_forward($0, x, weight, 1e-5, tokens, width, &own, nil, 0, &r)
            skein_rmsnorm_again($0, x, weight, r, tokens, width, &again, nil, 0)
            return own + again + r
        }
        Self.check("backward", expected: dx, tolerance: 1e-5) {
            var own = [Float](repeating: 1, count: x.count)
            skein_rmsnorm_backward(
                $0, dy, x, weight, inverse.map { Float($0) }, tokens, width, &own)
            return own
        }
        Self.check(
            "dot", expected: [zip(x, dy).reduce(0) { $0 + Double($1.0) * Double($1.1) }],
            tolerance: 1e-4
        ) {
            [skein_dot($0, x, dy, x.count)]
        }
    }

    @Test("rotation turns each pair, and back", arguments: [1, 8, 15, 16, 32, 40])
    func rotation(half: Int) {
        let (tokens, heads) = (3, 2)
        let x = Self.numbers(tokens * heads * 2 * half, 9)
        let angles = Self.numbers(tokens * half, 10, spread: 3)
        let (cosines, sines) = (angles.map { cos($0) }, angles.map { sin($0) })
        var expected = x.map(Double.init)
        for t in 0..<tokens {
            for h in 0..<heads {
                for i in 0..<half {
                    let at = (t * heads + h) * 2 * half + i
                    let (c, s) = (Double(cosines[t * half + i]), Double(sines[t * half + i]))
                    expected[at] = Double(x[at]) * c - Double(x[at + half]) * s
                    expected[at + half] = Double(x[at + half]) * c + Double(x[at]) * s
                }
            }
        }
        Self.check("rotate", expected: expected + x.map(Double.init)) {
            var own = x
            skein_rotate($0, &own, tokens, heads, 2 * half, half, cosines, sines, 0)
            var back = own
            skein_rotate($0, &back, tokens, heads, 2 * half, half, cosines, sines, 1)
            return own + back
        }
    }

    @Test("masks have the bits of single Philox blocks at every level", arguments: counts)
    func masks(bytes: Int) {
        let random = AddressedRandom(seed: Self.seed, purpose: .dropout)
        for threshold in [0, 1, 3277, 32768, 65535, 65536] as [UInt32] {
            let expected = (0..<bytes).map { index in
                let words = random.block(UInt32(index), 5, 6, 0xffff_ffff)
                return (0..<8).reduce(UInt8(0)) { byte, bit in
                    let half = bit < 4 ? words[bit] & 0xffff : words[bit - 4] >> 16
                    return half >= threshold ? byte | 1 << bit : byte
                }
            }
            for level in KernelLevel.all {
                var mask = [UInt8](repeating: 0xaa, count: bytes + 3)
                skein_dropout_draw(
                    level, &mask, bytes, random.key.x, random.key.y, 5, 6, 0xffff_ffff, threshold)
                #expect(mask == expected + [0xaa, 0xaa, 0xaa], "\(level) \(threshold)")
            }
        }
    }

    @Test("dropout multiplies what is kept, and a dropped NaN is zero", arguments: counts)
    func dropout(count: Int) {
        var x = Self.numbers(count, 11)
        let y = Self.numbers(count, 12)
        let mask = (0..<(count + 7) / 8).map { (i: Int) in
            UInt8(truncatingIfNeeded: 0b1011_0110 + i * 37)
        }
        let kept = (0..<count).map { (i: Int) -> Bool in mask[i / 8] >> UInt8(i % 8) & 1 == 1 }
        let applied = zip(x, kept).map { (x: Float, isKept: Bool) -> Double in
            isKept ? Double(x) * 1.25 : 0
        }
        for i in 0..<count where !kept[i] { x[i] = .nan }
        let added = zip(applied, y).map { (x: Double, y: Float) -> Double in x + Double(y) }
        Self.check("dropout", expected: applied + added) {
            var own = [Float](repeating: 9, count: count)
            skein_dropout_apply($0, x, mask, count, 1.25, &own)
            var sum = y
            skein_dropout_add($0, x, mask, count, 1.25, &sum)
            return own + sum
        }
    }
}
