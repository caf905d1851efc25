import CSkeinKernels
import SkeinTestSupport
import Testing

@testable import SkeinTensors

/// A step of AdamW at every level of the processor, bit for bit like the plain loop.
@Suite struct AdamWKernelTests {
    private struct Factors: CustomStringConvertible {
        var keep: Float = 0.999
        var stepSize: Float = -0.0123
        var blend: Float = 0.1
        var beta2: Float = 0.98
        var squareBlend: Float = 0.02
        var divisor: Float = 0.7
        var epsilon: Float = 1e-8

        var kernel: AdamWKernel {
            AdamWKernel(
                keep: keep, stepSize: stepSize, blend: blend, beta2: beta2,
                squareBlend: squareBlend, divisor: divisor, epsilon: epsilon)
        }

        var description: String { "epsilon \(epsilon), divisor \(divisor)" }
    }

    /// Parameters, gradients and moments.
    private struct State {
        var p, g, m, v: [Float]

        /// What a step changes, all NaNs being the same: which of two a sum keeps is not stated.
        var bits: [UInt32] {
            (p + m + v).map { $0.isNaN ? Float.nan.bitPattern : $0.bitPattern }
        }

        /// The formula, number after number.
        mutating func movePlainly(_ f: Factors) {
            for i in p.indices {
                let gradient = g[i]
                let decayed = p[i] * f.keep
                let average = m[i] + f.blend * (gradient - m[i])
                let square = v[i] * f.beta2 + f.squareBlend * gradient * gradient
                m[i] = average
                v[i] = square
                let denominator = square.squareRoot() / f.divisor + f.epsilon
                p[i] = decayed + f.stepSize * average / denominator
            }
        }

        mutating func move(_ kernel: AdamWKernel, level: skein_level) {
            p.withUnsafeMutableBufferPointer { p in
                m.withUnsafeMutableBufferPointer { m in
                    v.withUnsafeMutableBufferPointer { v in
                        g.withUnsafeBufferPointer { g in
                            kernel.move(
                                p, gradient: g, averages: m, squareAverages: v, level: level)
                        }
                    }
                }
            }
        }
    }

    /// Numbers of a run's sizes.
    private static func state(_ count: Int) -> State {
        func numbers(_ stream: UInt32, _ spread: Float) -> [Float] {
            CentralDifference.numbers(count, seed: 20_261_130, stream: stream, spread: spread)
        }
        return State(
            p: numbers(1, 0.5), g: numbers(2, 0.01), m: numbers(3, 0.003),
            v: numbers(4, 0.01).map { $0 * $0 })
    }

    /// Checks that three steps have the plain loop's bits at each level.
    private static func check(_ start: State, _ factors: Factors = Factors()) {
        var expected = start
        for _ in 0..<3 { expected.movePlainly(factors) }
        for level in KernelLevel.all {
            var own = start
            for _ in 0..<3 { own.move(factors.kernel, level: level) }
            #expect(own.bits == expected.bits, "\(level), \(start.p.count) numbers, \(factors)")
        }
    }

    @Test("every level moves as the loop does", arguments: [0, 1, 2, 7, 15, 16, 17, 31, 33, 1009])
    func formula(count: Int) {
        Self.check(Self.state(count))
        // Steps that move a number far show a product and a sum that are rounded together.
        Self.check(
            Self.state(count),
            Factors(keep: 0.87, stepSize: -0.31, blend: 0.37, beta2: 0.61, squareBlend: 0.39))
    }

    @Test("zeros, subnormal, huge, infinite numbers and NaN move as in the loop, in every place")
    func specialValues() {
        let special: [Float] = [
            0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 0x1p-128, -0x1.8p-127,
            .leastNormalMagnitude, 1e-23, -1e-20, 1, -1, 3e19, -3e38, .greatestFiniteMagnitude,
            .infinity, -.infinity, .nan,
        ]
        let n = special.count
        // All pairs of g with m, and of g with v; p goes along. Squares below zero have no root.
        let indices = 0..<n * n
        let g = indices.map { special[$0 % n] }
        let other = indices.map { special[$0 / n] }
        let p = indices.map { special[($0 + $0 / n) % n] }
        let usual = [Float](repeating: 1e-6, count: n * n)
        for factors in [Factors(), Factors(epsilon: 0), Factors(divisor: 1e-20, epsilon: 1e-3)] {
            Self.check(State(p: p, g: g, m: other, v: usual), factors)
            Self.check(State(p: p, g: g, m: usual, v: other), factors)
            Self.check(State(p: p, g: g, m: other, v: other), factors)
        }
    }

    @Test("numbers behind the end stay", arguments: [1, 15, 17, 40])
    func end(count: Int) {
        let start = Self.state(count + 16)
        for level in KernelLevel.all {
            var own = start
            own.p.withUnsafeMutableBufferPointer { p in
                own.m.withUnsafeMutableBufferPointer { m in
                    own.v.withUnsafeMutableBufferPointer { v in
                        start.g.withUnsafeBufferPointer { g in
                            Factors().kernel.move(
                                .init(rebasing: p[..<count]),
                                gradient: .init(rebasing: g[..<count]),
                                averages: .init(rebasing: m[..<count]),
                                squareAverages: .init(rebasing: v[..<count]), level: level)
                        }
                    }
                }
            }
            #expect(own.p[count...] == start.p[count...], "\(level)")
            #expect(own.m[count...] == start.m[count...], "\(level)")
            #expect(own.v[count...] == start.v[count...], "\(level)")
            #expect(own.p[..<count] != start.p[..<count], "\(level)")
        }
    }
}
