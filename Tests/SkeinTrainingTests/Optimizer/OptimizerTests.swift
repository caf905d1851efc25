import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinTraining

@Suite struct OptimizerTests {
    private struct Golden: Decodable {
        var beta1, beta2, epsilon, weightDecay: Double
        var start: [Float]
        var rates: [Double]
        var gradients: [[Float]]
        var parameters: [String: [Float]]
        var averages, squareAverages: [Float]
    }

    @Test("AdamW has PyTorch's moments after 100 steps, and its parameters to one part in 10^6")
    func adamW() throws {
        let bytes = try Data(
            contentsOf: URL(fileURLWithPath: TestPaths.fixture("training/adamw.json")))
        let golden = try JSONDecoder().decode(Golden.self, from: bytes)
        var adamW = AdamW(
            settings: .init(
                beta1: golden.beta1, beta2: golden.beta2, epsilon: golden.epsilon,
                weightDecay: golden.weightDecay), count: golden.start.count)
        var parameters = golden.start
        for (index, gradient) in golden.gradients.enumerated() {
            adamW.update(&parameters, gradient: gradient, learningRate: golden.rates[index])
            if let expected = golden.parameters[String(index + 1)] {
                // The oracle rounds as we do; its powers of beta may differ in the last bit.
                for (found, expected) in zip(parameters, expected) {
                    #expect(abs(found - expected) <= 1e-6 * abs(expected), "step \(index + 1)")
                }
            }
        }
        #expect(adamW.step == 100)
        #expect(adamW.averages == golden.averages)
        #expect(adamW.squareAverages == golden.squareAverages)
    }

    @Test("an optimizer restored from its moments continues as if it had not stopped")
    func restored() {
        let settings = AdamW.Settings(beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01)
        func gradient(_ step: Int) -> [Float] { (0..<7).map { sin(Float(step * 7 + $0)) } }
        var straight = AdamW(settings: settings, count: 7)
        var expected = [Float](repeating: 1, count: 7)
        var parameters = expected
        var first = AdamW(settings: settings, count: 7)
        for step in 1...5 {
            straight.update(&expected, gradient: gradient(step), learningRate: 0.01)
            first.update(&parameters, gradient: gradient(step), learningRate: 0.01)
        }
        var second = AdamW(
            settings: settings, step: first.step, averages: first.averages,
            squareAverages: first.squareAverages)
        for step in 6...9 {
            straight.update(&expected, gradient: gradient(step), learningRate: 0.01)
            second.update(&parameters, gradient: gradient(step), learningRate: 0.01)
        }
        #expect(parameters == expected)
        #expect(second == straight)
    }

    @Test("a vector computed in pieces changes as its parts do alone")
    func pieces() {
        let settings = AdamW.Settings(
            beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01)
        let count = 1_000_003
        let gradient = (0..<count).map { Float($0 % 1013 - 500) / 4096 }
        var whole = AdamW(settings: settings, count: count)
        var parameters = gradient.map { $0 * 3 - 0.1 }
        let start = parameters
        whole.update(&parameters, gradient: gradient, learningRate: 0.01)
        // Parts that are too short to be computed in pieces.
        for first in stride(from: 0, to: count, by: 100_000) {
            let range = first..<min(first + 100_000, count)
            var part = AdamW(settings: settings, count: range.count)
            var own = Array(start[range])
            part.update(&own, gradient: Array(gradient[range]), learningRate: 0.01)
            #expect(own == Array(parameters[range]))
            #expect(part.averages == Array(whole.averages[range]))
            #expect(part.squareAverages == Array(whole.squareAverages[range]))
        }
    }

    @Test("powers by squaring")
    func power() {
        #expect(AdamW.power(0.9, 0) == 1)
        #expect(AdamW.power(2, 10) == 1024)
        #expect(abs(AdamW.power(0.999, 12345) - pow(0.999, 12345)) < 1e-18)
    }

    @Test("clipping scales by maximum / (norm + 1e-6), and only down")
    func clipping() {
        var gradient: [Float] = [3, 4]
        let norm = GradientNorm.norm(of: gradient)
        #expect(norm == 5)
        #expect(GradientNorm.clip(&gradient, norm: norm, maximum: 0) == 1)
        #expect(GradientNorm.clip(&gradient, norm: norm, maximum: 6) == 1)
        #expect(gradient == [3, 4])
        #expect(GradientNorm.clip(&gradient, norm: norm, maximum: 1) == 1 / (5 + 1e-6))
        let factor = Float(1 / (5 + 1e-6))
        #expect(gradient == [3 * factor, 4 * factor])
    }

    @Test("the norm is that of all elements, at any length, and not finite if one is not")
    func norm() {
        for count in [0, 1, 7, 8, 9, 64, 1001] {
            let gradient = (0..<count).map { Float($0 + 1) }
            let squares = gradient.reduce(0.0) { $0 + Double($1) * Double($1) }
            #expect(GradientNorm.norm(of: gradient) == squares.squareRoot(), "\(count)")
        }
        #expect(GradientNorm.norm(of: [1, .nan]).isNaN)
        #expect(GradientNorm.norm(of: [Float](repeating: 3e38, count: 9)).isFinite)
        #expect(GradientNorm.firstNotFinite(in: [1, 2, -.infinity]) == 2)
        #expect(GradientNorm.firstNotFinite(in: [1, 2]) == nil)
        var sum: [Float] = [6, 9]
        GradientNorm.divide(&sum, by: 3)
        #expect(sum == [2, 3])
    }

    @Test("schedules are those of transformers: warmup from 0, then constant, linear or cosine")
    func schedules() {
        func rates(_ kind: Schedule.Kind, warmup: Int) -> [Double] {
            let schedule = Schedule(kind: kind, peak: 2, warmupSteps: warmup, stepCount: 6)
            return (1...6).map { schedule.rate(ofStep: $0) }
        }
        #expect(rates(.constant, warmup: 0) == [2, 2, 2, 2, 2, 2])
        #expect(rates(.constant, warmup: 2) == [0, 1, 2, 2, 2, 2])
        #expect(rates(.linear, warmup: 2) == [0, 1, 2, 1.5, 1, 0.5])
        #expect(rates(.linear, warmup: 10).allSatisfy { $0 <= 1 })
        for (found, progress) in zip(rates(.cosine, warmup: 2)[2...], [0, 0.25, 0.5, 0.75]) {
            #expect(abs(found - (1 + cos(Double.pi * progress))) < 1e-15)
        }
    }

    @Test("the half cosine without the C library is within one part in 10^15")
    func halfCosine() {
        for step in 0...1000 {
            let t = Double(step) / 1000
            let expected = 0.5 * (1 + cos(Double.pi * t))
            #expect(abs(Schedule.halfCosine(t) - expected) < 5e-16, "t \(t)")
        }
        #expect(Schedule.halfCosine(0) == 1)
        #expect(Schedule.halfCosine(1) < 1e-30)
    }

    @Test("early stopping counts validations without improvement")
    func earlyStopping() {
        var stopping = EarlyStopping(patience: 2)
        var stops: [Bool] = []
        var improvements: [Bool] = []
        for (step, loss) in [2.0, 1.5, .nan, 1.4, 1.4, 1.6].enumerated() {
            improvements.append(stopping.record(loss: loss, step: step))
            stops.append(stopping.shouldStop)
        }
        #expect(improvements == [true, true, false, true, false, false])
        #expect(stops == [false, false, false, false, false, true])
        #expect(stopping.bestLoss == 1.4)
        #expect(stopping.bestStep == 3)
        var never = EarlyStopping(patience: nil)
        for step in 0..<50 { _ = never.record(loss: 1, step: step) }
        #expect(!never.shouldStop)
    }
}
