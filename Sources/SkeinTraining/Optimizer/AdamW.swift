import SkeinBasics
import SkeinTensors

/// AdamW as in PyTorch (Loshchilov and Hutter 2019; torch.optim.AdamW), on the flat vector.
///
/// With t the step, p a parameter, g its gradient, r the learning rate, and d the weight decay:
///
///     p -= r d p                       (decoupled weight decay)
///     m += (1 - b1) (g - m)
///     v  = b2 v + (1 - b2) g g
///     p -= r / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
///
/// Computed element by element in Float, in the order of PyTorch's operations (`AdamWKernel`); the
/// factors are computed in Double, and the powers by squaring, so that no result depends on the C
/// library.
/// Checked over 100 steps in `OptimizerTests`.
package struct AdamW: Sendable, Equatable {
    package struct Settings: Sendable, Equatable {
        package var beta1: Double
        package var beta2: Double
        package var epsilon: Double
        package var weightDecay: Double

        package init(beta1: Double, beta2: Double, epsilon: Double, weightDecay: Double) {
            self.beta1 = beta1
            self.beta2 = beta2
            self.epsilon = epsilon
            self.weightDecay = weightDecay
        }
    }

    package let settings: Settings
    /// Steps done.
    package private(set) var step: Int
    /// First moments m, one for each parameter.
    package private(set) var averages: [Float]
    /// Second moments v, one for each parameter.
    package private(set) var squareAverages: [Float]

    /// An optimizer before its first step.
    package init(settings: Settings, count: Int) {
        MemoryShortage.check(floats: 2 * count, for: "the optimizer")
        self.init(
            settings: settings, step: 0, averages: [Float](repeating: 0, count: count),
            squareAverages: [Float](repeating: 0, count: count))
    }

    /// An optimizer from a checkpoint.
    package init(settings: Settings, step: Int, averages: [Float], squareAverages: [Float]) {
        precondition(averages.count == squareAverages.count)
        self.settings = settings
        self.step = step
        self.averages = averages
        self.squareAverages = squareAverages
    }

    /// Moves `parameters` by one step against `gradient` (the mean, clipped gradient).
    ///
    /// One pass over four vectors: about 1 ms of a core for a million parameters, on all of them.
    ///
    /// - Parameters:
    ///   - parameters: moved in place.
    ///   - gradient: as many numbers.
    ///   - learningRate: of this step.
    ///   - other: the numbers that have another rate; nil: none has.
    package mutating func update(
        _ parameters: inout [Float], gradient: [Float], learningRate: Double,
        other: RateFactor? = nil
    ) {
        let count = averages.count
        precondition(parameters.count == count && gradient.count == count)
        step += 1
        let settings = self.settings
        let correction1 = 1 - Self.power(settings.beta1, step)
        let correction2 = 1 - Self.power(settings.beta2, step)
        func kernel(_ rate: Double) -> AdamWKernel {
            AdamWKernel(
                keep: Float(1 - rate * settings.weightDecay),
                stepSize: Float(-(rate / correction1)), blend: Float(1 - settings.beta1),
                beta2: Float(settings.beta2), squareBlend: Float(1 - settings.beta2),
                divisor: Float(correction2.squareRoot()), epsilon: Float(settings.epsilon))
        }
        let usual = kernel(learningRate)
        parameters.withUnsafeMutableBufferPointer { parameters in
            averages.withUnsafeMutableBufferPointer { averages in
                squareAverages.withUnsafeMutableBufferPointer { squares in
                    gradient.withUnsafeBufferPointer { gradient in
                        func move(_ range: Range<Int>, _ kernel: AdamWKernel) {
                            kernel.move(
                                .init(rebasing: parameters[range]),
                                gradient: .init(rebasing: gradient[range]),
                                averages: .init(rebasing: averages[range]),
                                squareAverages: .init(rebasing: squares[range]))
                        }
                        SideBySide.forEach(count) { range in
                            guard let other else { return move(range, usual) }
                            other.forEachPart(of: range) { part, factor in
                                move(part, factor.map { kernel(learningRate * $0) } ?? usual)
                            }
                        }
                    }
                }
            }
        }
    }

    /// `base` to the power `exponent` >= 0, by squaring: the same bits on every machine.
    static func power(_ base: Double, _ exponent: Int) -> Double {
        var result = 1.0
        var factor = base
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result *= factor }
            factor *= factor
            rest >>= 1
        }
        return result
    }
}
