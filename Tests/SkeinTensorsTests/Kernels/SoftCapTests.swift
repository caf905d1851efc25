import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// Soft caps and the hyperbolic tangent in them, at every level of the processor.
@Suite struct SoftCapTests {
    private static func hyperbolicTangent(_ level: skein_level, _ x: [Float]) -> [Float] {
        var y = x
        skein_softcap(level, &y, y.count, 1, 1)
        return y
    }

    @Test("tanh is within 3 ulp at every level, for tiny numbers, too, and odd")
    func tangent() {
        let near = Array(stride(from: Float(-11), through: 11, by: 0.000_917))
        let small = (-140 ... -1).map { Float(sign: .plus, exponent: $0, significand: 1.37) }
        let x = near + small + small.map { -$0 }
        for level in KernelLevel.all {
            var worst: Float = 0
            for (x, y) in zip(x, Self.hyperbolicTangent(level, x)) {
                let exact = Float(tanh(Double(x)))
                worst = max(worst, abs(y - exact) / exact.ulp)
            }
            #expect(worst <= 3, "\(level): \(worst) ulp")
            let ends: [Float] = [0, -0.0, 10, 50, 1e30, .infinity, -.infinity, -3e38]
            let own = Self.hyperbolicTangent(level, ends).map(\.bitPattern)
            #expect(own == ([0, -0.0, 1, 1, 1, 1, -1, -1] as [Float]).map(\.bitPattern))
            for bits in [0x7fc0_0000, 0xffff_ffff, 0x7f80_0101] as [UInt32] {
                #expect(Self.hyperbolicTangent(level, [Float(bitPattern: bits)])[0].isNaN)
            }
        }
    }

    @Test(
        "a cap and its gradient are the formulas, in attention, too",
        arguments: ElementwiseTests.counts)
    func formulas(count: Int) {
        let x = ElementwiseTests.numbers(count, 20, spread: 40)
        let dy = ElementwiseTests.numbers(count, 21)
        let tangents = x.map { tanh(Double($0) / 30) }
        ElementwiseTests.check("forward", expected: tangents.map { 30 * $0 } + [5]) {
            var own = x + [5]
            skein_softcap($0, &own, count, 1.0 / 30, 30)
            return own
        }
        let y = tangents.map { Float(30 * $0) }
        let dx = zip(dy, tangents).map { Double($0) * (1 - $1 * $1) }
        ElementwiseTests.check("backward", expected: dx + [5], tolerance: 4e-6) {
            var own = dy + [5]
            skein_softcap_backward($0, y, count, 30, &own)
            return own
        }
        // Scores of a cap of 5, their scale 0.125.
        let capped = x.map { 5 * tanh(Double($0) * 0.125 / 5) }
        let p = capped.map { exp($0 - 2) }
        let ds = (0..<count).map { i in
            let slope = 1 - capped[i] * capped[i] / 25
            return p[i] * (Double(dy[i]) - 0.5) * slope * 0.125
        }
        ElementwiseTests.check("softmax", expected: p + [0, 0] + ds + [0, 0], tolerance: 4e-6) {
            var own = x + [5, 6]
            var gradient = dy + [7, 8]
            skein_softmax_backward($0, &own, &gradient, count, count + 2, 2, 0.5, 0.125, 5)
            return own + gradient
        }
    }

    @Test("the gradient of a soft cap is the derivative of its forward pass")
    func derivative() {
        let x = ElementwiseTests.numbers(37, 22, spread: 4)
        let pull = ElementwiseTests.numbers(37, 23)
        func forward(_ x: [Float]) -> [Float] {
            var y = x
            SoftCap.forward(&y, count: y.count, cap: 3)
            return y
        }
        var dx = pull
        SoftCap.backward(&dx, y: forward(x), count: dx.count, cap: 3)
        let numeric = CentralDifference.gradient(at: x) { point in
            zip(forward(point), pull).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        }
        #expect(CentralDifference.relativeError(dx.map(Double.init), numeric) < 1e-3)
    }

    @Test("the gradient of cross-entropy of capped logits is that of the logits")
    func crossEntropy() {
        let logits = ElementwiseTests.numbers(19, 33, spread: 4)
        func row(_ logits: [Float], gradient: Bool) -> (CrossEntropy.Row, [Float]) {
            var row = logits
            let result = CrossEntropy.row(
                &row, vocabulary: 19, target: 4, gradient: gradient, softCap: 3)
            return (result, row)
        }
        let (result, own) = row(logits, gradient: true)
        let numeric = CentralDifference.gradient(at: logits) { row($0, gradient: false).0.loss }
        #expect(CentralDifference.relativeError(own.map(Double.init), numeric) < 1e-3)
        let capped = logits.map { 3 * tanh(Double($0) / 3) }
        let sum = capped.reduce(0.0) { $0 + exp($1) }
        #expect(abs(result.loss - (log(sum) - capped[4])) < 1e-5)
        let most = capped.max() ?? 0
        for level in KernelLevel.all {
            var y = capped.map { Float($0) }
            let total = skein_exponential_sum(level, y, 19, Float(most))
            skein_softcap_gradient(level, &y, 19, Float(most), 1 / total, 3)
            let expected = capped.map { exp($0) / sum * (1 - $0 * $0 / 9) }
            let error = CentralDifference.relativeError(y.map(Double.init), expected)
            #expect(error < 2e-6, "\(level)")
        }
    }
}
