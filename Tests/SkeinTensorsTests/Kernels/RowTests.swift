import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Norms that overwrite, rotations of a part of a head, and sums of rows, as some families need them.
@Suite struct RowTests {
    private func numbers(_ count: Int, _ stream: UInt32) -> [Float] {
        ElementwiseTests.numbers(count, stream)
    }

    @Test(
        "RMSNorm in place is RMSNorm, and its gradient may overwrite dy or x",
        arguments: ElementwiseTests.counts)
    func norms(width: Int) {
        let rows = 6
        let (x, dy) = (numbers(rows * width, 40), numbers(rows * width, 41))
        let weight = numbers(width, 42)
        for level in KernelLevel.all {
            var y = x
            var inverse = [Float](repeating: 0, count: rows)
            skein_rmsnorm_forward(level, x, weight, 1e-6, rows, width, &y, nil, 0, &inverse)
            var inPlace = x
            inPlace.withUnsafeMutableBufferPointer { own in
                guard let own = own.baseAddress else { return }
                skein_rmsnorm_forward(
                    level, own, weight, 1e-6, rows, width, own, nil, 0, &inverse)
            }
            #expect(inPlace == y, "\(level)")
            var sum = [Float](repeating: 0, count: x.count)
            skein_rmsnorm_backward(level, dy, x, weight, inverse, rows, width, &sum)
            var (overDy, overX) = (dy, x)
            overDy.withUnsafeMutableBufferPointer { own in
                guard let own = own.baseAddress else { return }
                skein_rmsnorm_backward_into(level, own, x, weight, inverse, rows, width, own)
            }
            overX.withUnsafeMutableBufferPointer { own in
                guard let own = own.baseAddress else { return }
                skein_rmsnorm_backward_into(level, dy, own, weight, inverse, rows, width, own)
            }
            #expect(overDy == sum, "\(level)")
            #expect(overX == sum, "\(level)")
        }
    }

    @Test("norms of heads have the derivative that overwrites")
    func normDerivative() {
        let (tokens, heads, width) = (3, 2, 10)
        let (x, pull) = (numbers(60, 43), numbers(60, 44))
        let weight = numbers(width, 45)
        func forward(_ x: [Float], _ inverse: inout [Float]) -> [Float] {
            var y = x
            RMSNorm.forward(
                x, weight: weight, epsilon: 1e-6, tokens: tokens * heads, width: width, into: &y,
                inverse: &inverse)
            return y
        }
        var inverse = [Float](repeating: 0, count: tokens * heads)
        _ = forward(x, &inverse)
        var dx = [Float](repeating: 7, count: 60)
        RMSNorm.backward(
            pull, x: x, weight: weight, inverse: inverse, tokens: tokens * heads, width: width,
            into: &dx)
        let numeric = CentralDifference.gradient(at: x, step: 1e-3) { point in
            var scratch = inverse
            return zip(forward(point, &scratch), pull).reduce(0) {
                $0 + Double($1.0) * Double($1.1)
            }
        }
        #expect(CentralDifference.relativeError(dx.map(Double.init), numeric) < 1e-3)
    }

    @Test("scaled rows and biases are added", arguments: ElementwiseTests.counts)
    func sums(width: Int) {
        let (x, bias) = (numbers(3 * width, 46), numbers(width, 47))
        let y = numbers(3 * width, 48)
        let scaled = zip(x, y).map { Double($1) + 0.22 * Double($0) }
        ElementwiseTests.check("scaled", expected: scaled + [5]) {
            var own = y + [5]
            skein_add_scaled($0, x, 0.22, 3 * width, &own)
            return own
        }
        let biased = y.indices.map { Double(y[$0]) + Double(bias[$0 % width]) }
        ElementwiseTests.check("bias", expected: biased + [5]) {
            var own = y + [5]
            skein_add_bias($0, bias, 3, width, &own)
            return own
        }
        var own = y
        Rows.add(x, times: 0.22, count: 3 * width, to: &own)
        Rows.add(bias: bias, tokens: 3, width: width, to: &own)
        Rows.scale(&own, count: own.count, by: 0.5)
        let both = scaled.indices.map { 0.5 * (scaled[$0] + Double(bias[$0 % width])) }
        #expect(CentralDifference.relativeError(own.map(Double.init), both) < 2e-6)
    }

    @Test("the first elements of a head are rotated by halves, with a factor, the others stay")
    func partialRotation() {
        let (heads, n, rotated, factor) = (3, 22, 12, Float(1.19))
        let divisors: [Float] = [1, 1.5, 2, 3, 8, .infinity]
        let rotary = RotaryEmbedding(
            headDimension: n, theta: 5000, divisors: divisors, positions: 50, dimension: rotated,
            factor: factor)
        let x = numbers(4 * heads * n, 49)
        var expected = x.map(Double.init)
        for t in 0..<4 {
            for h in 0..<heads {
                for i in 0..<6 {
                    let at = (t * heads + h) * n + i
                    let angle =
                        Double(40 + t) * pow(5000, -2 * Double(i) / 12) / Double(divisors[i])
                    let (c, s) = (Double(factor) * cos(angle), Double(factor) * sin(angle))
                    expected[at] = Double(x[at]) * c - Double(x[at + 6]) * s
                    expected[at + 6] = Double(x[at + 6]) * c + Double(x[at]) * s
                }
            }
        }
        var own = x
        rotary.rotate(&own, tokens: 4, heads: heads, firstPosition: 40)
        // The angle is a Float, as in PyTorch.
        #expect(CentralDifference.relativeError(own.map(Double.init), expected) < 3e-6)
        for i in own.indices where i % n >= rotated || i % n % 6 == 5 {
            #expect(own[i] == (i % n >= rotated ? x[i] : x[i] * factor))
        }
        let pull = numbers(x.count, 50)
        var dx = pull
        rotary.rotate(&dx, tokens: 4, heads: heads, firstPosition: 40, inverse: true)
        let left = zip(own, pull).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        let right = zip(x, dx).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        #expect(abs(left - right) < 1e-4 * abs(left))
    }

    @Test("queries grow with the logarithm of the position, from the original length on")
    func positions() {
        let scale = PositionScale(beta: 0.1, original: 16, positions: 100)
        for (position, factor) in scale.factors.enumerated() {
            let exact = 1 + 0.1 * log(Double(1 + position / 16))
            #expect(abs(Double(factor) - exact) < 1.2e-7)
            #expect((factor == 1) == (position < 16))
        }
        let x = numbers(6 * 7, 51)
        var own = x
        scale.apply(&own, tokens: 6, width: 7, firstPosition: 14)
        #expect(own == x.indices.map { x[$0] * scale.factors[14 + $0 / 7] })
    }
}
