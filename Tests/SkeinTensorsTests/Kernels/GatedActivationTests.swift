import CSkeinKernels
import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// GeGLU at every level of the processor; `ElementwiseTests` and `BFloat16Tests` have SwiGLU.
@Suite struct GatedActivationTests {
    /// gelu(g) with a hyperbolic tangent, and its derivative, in Double.
    private static func gelu(_ gate: Float) -> (value: Double, slope: Double) {
        let (g, root) = (Double(gate), (2 / Double.pi).squareRoot())
        let t = tanh(root * (g + 0.044715 * g * g * g))
        let inner = root * (1 + 3 * 0.044715 * g * g)
        return (0.5 * g * (1 + t), 0.5 * (1 + t) + 0.5 * g * (1 - t * t) * inner)
    }

    @Test("GeGLU and its gradients are the formulas", arguments: ElementwiseTests.counts)
    func formulas(count: Int) {
        let gate = ElementwiseTests.numbers(count, 24, spread: 3)
        let up = ElementwiseTests.numbers(count, 25)
        let da = ElementwiseTests.numbers(count, 26)
        let exact = gate.map(Self.gelu)
        let a = (0..<count).map { exact[$0].value * Double(up[$0]) }
        ElementwiseTests.check("forward", expected: a) {
            var own = [Float](repeating: 0, count: count)
            skein_geglu_forward($0, gate, up, count, &own)
            return own
        }
        let dg = (0..<count).map { Double(da[$0]) * Double(up[$0]) * exact[$0].slope }
        let du = (0..<count).map { Double(da[$0]) * exact[$0].value }
        ElementwiseTests.check("backward", expected: dg + du) {
            var own = da
            var other = [Float](repeating: 0, count: count)
            own.withUnsafeMutableBufferPointer {
                [level = $0] own in
                guard let own = own.baseAddress else { return }
                skein_geglu_backward(level, own, gate, up, count, own, &other)
            }
            return own + other
        }
    }

    @Test("GeGLU of bf16 numbers is that of floats, rounded", arguments: ElementwiseTests.counts)
    func halves(count: Int) {
        func halves(_ stream: UInt32, _ spread: Float) -> [UInt16] {
            var out = [UInt16](repeating: 0, count: count)
            let x = ElementwiseTests.numbers(count, stream, spread: spread)
            skein_to_bf16(SKEIN_PLAIN, x, count, &out)
            return out
        }
        func wide(_ x: [UInt16]) -> [Float] { x.map { Float(bitPattern: UInt32($0) << 16) } }
        let (gate, up, da) = (halves(27, 3), halves(28, 1), halves(29, 1))
        for level in KernelLevel.all {
            var floats = [Float](repeating: 0, count: count)
            var others = floats
            var own = [UInt16](repeating: 0, count: count)
            var second = own
            var expected = own
            func check(_ floats: [Float], _ own: [UInt16]) {
                skein_to_bf16(level, floats, count, &expected)
                #expect(own == expected, "\(level)")
            }
            skein_geglu_forward(level, wide(gate), wide(up), count, &floats)
            skein_geglu_forward_bf16(level, gate, up, count, &own)
            check(floats, own)
            skein_geglu_backward(level, wide(da), wide(gate), wide(up), count, &floats, &others)
            skein_geglu_backward_bf16(level, da, gate, up, count, &own, &second)
            check(floats, own)
            check(others, second)
        }
    }

    @Test("gates of any size give finite numbers and the limits, and NaN stays")
    func extremes() {
        let gate: [Float] = [-1e30, -1e13, -200, -20, 0, 20, 1e13, 1e30, .nan]
        let ones = [Float](repeating: 1, count: gate.count)
        for level in KernelLevel.all {
            var a = ones
            skein_geglu_forward(level, gate, ones, gate.count, &a)
            var (dg, du) = (ones, ones)
            skein_geglu_backward(level, ones, gate, ones, gate.count, &dg, &du)
            for y in [a, du] {
                for i in 0..<5 { #expect(abs(y[i]) < 1e-7, "\(level) \(gate[i])") }
                for i in 5..<8 { #expect(y[i] == gate[i], "\(level) \(gate[i])") }
                #expect(y[8].isNaN)
            }
            for i in 0..<8 {
                let expected: Float = i < 4 ? 0 : i == 4 ? 0.5 : 1
                #expect(abs(dg[i] - expected) < 1e-7, "\(level) \(gate[i])")
            }
            #expect(dg[8].isNaN)
        }
    }

    @Test("dg and du are the derivatives of the forward pass", arguments: GatedActivation.allCases)
    func derivatives(activation: GatedActivation) {
        let count = 21
        let gate = ElementwiseTests.numbers(count, 30, spread: 2)
        let up = ElementwiseTests.numbers(count, 31)
        let pull = ElementwiseTests.numbers(count, 32)
        func weighed(_ gate: [Float], _ up: [Float]) -> Double {
            var a = [Float](repeating: 0, count: count)
            activation.forward(gate: gate, up: up, count: count, into: &a)
            return zip(a, pull).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        }
        var dGate = pull
        var dUp = [Float](repeating: 0, count: count)
        activation.backward(da: &dGate, gate: gate, up: up, count: count, du: &dUp)
        let numericGate = CentralDifference.gradient(at: gate) { weighed($0, up) }
        let numericUp = CentralDifference.gradient(at: up) { weighed(gate, $0) }
        #expect(CentralDifference.relativeError(dGate.map(Double.init), numericGate) < 1e-3)
        #expect(CentralDifference.relativeError(dUp.map(Double.init), numericUp) < 1e-3)
    }
}
