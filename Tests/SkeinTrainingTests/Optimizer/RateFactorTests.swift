import Foundation
import SkeinModels
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// LoRA+: another learning rate for B.
@Suite struct RateFactorTests {
    private struct Golden: Decodable {
        var ratio, weightDecay: Double
        var shapes: [[Int]]
        var start: [Float]
        var rates: [Double]
        var gradients: [[Float]]
        var parameters: [String: [Float]]
    }

    private func golden() throws -> (Golden, ParameterLayout) {
        let bytes = try Data(
            contentsOf: URL(fileURLWithPath: TestPaths.fixture("training/loraplus.json")))
        let golden = try JSONDecoder().decode(Golden.self, from: bytes)
        let names = ["x.lora_A.weight", "x.lora_B.weight", "x.lora_magnitude_vector"]
        return (golden, ParameterLayout(Array(zip(names, golden.shapes))))
    }

    @Test("A, B and magnitudes move as in PEFT's LoRA+ optimizer, to one part in 10^6")
    func optimizer() throws {
        let (golden, layout) = try golden()
        let other = RateFactor(golden.ratio, in: layout)
        #expect(other.parts.map(\.range) == [12..<22, 22..<27])
        var adamW = AdamW(
            settings: .init(
                beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: golden.weightDecay),
            count: layout.count)
        var parameters = golden.start
        for (index, gradient) in golden.gradients.enumerated() {
            adamW.update(
                &parameters, gradient: gradient, learningRate: golden.rates[index], other: other)
            guard let expected = golden.parameters[String(index + 1)] else { continue }
            for (found, expected) in zip(parameters, expected) {
                #expect(
                    abs(found - expected) <= 1e-6 * max(abs(expected), 0.01), "step \(index + 1)")
            }
        }
    }

    @Test("a ratio of 1 changes no bit, and every cut of a vector has the same parts")
    func parts() throws {
        let (golden, layout) = try golden()
        let settings = AdamW.Settings(beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.1)
        var plain = AdamW(settings: settings, count: layout.count)
        var same = plain
        var (a, b) = (golden.start, golden.start)
        for gradient in golden.gradients {
            plain.update(&a, gradient: gradient, learningRate: 1e-3)
            same.update(
                &b, gradient: gradient, learningRate: 1e-3, other: RateFactor(1, in: layout))
        }
        #expect(a == b)
        let factor = RateFactor(
            parts: [2..<4, 4..<7, 9..<12].map { .init(range: $0, factor: 2) })
        let expected = (0..<14).map { (2..<7).contains($0) || (9..<12).contains($0) }
        for start in 0...14 {
            for end in start...14 {
                var found: [Bool] = []
                factor.forEachPart(of: start..<end) { part, factor in
                    #expect(part.lowerBound == start + found.count && !part.isEmpty)
                    found += part.map { _ in factor != nil }
                }
                #expect(found == Array(expected[start..<end]))
            }
        }
    }

    @Test("both matrices of the embedding have PEFT's rate for them, whatever the ratio")
    func embedding() throws {
        let layout = ParameterLayout([
            ("x.lora_A.weight", [1, 2]), ("x.lora_B.weight", [2, 1]),
            ("base_model.model.model.embed_tokens.lora_embedding_A", [1, 3]),
            ("base_model.model.model.embed_tokens.lora_embedding_B", [2, 1]),
            ("base_model.model.lm_head.lora_A.weight", [1, 2]),
            ("base_model.model.lm_head.lora_B.weight", [3, 1]),
        ])
        var configuration = TrainingConfiguration.fixed
        #expect(configuration.rateFactor(layout) == nil)
        configuration.loraPlusRatio = 8
        configuration.learningRate = 2e-3
        let factor = try #require(configuration.rateFactor(layout))
        #expect(factor.parts.map(\.range) == [2..<4, 4..<7, 7..<9, 11..<14])
        #expect(factor.parts.map(\.factor) == [8, 1e-6 / 2e-3, 1e-6 / 2e-3, 8])
        // One step of AdamW from rest moves every number by its rate, whatever the gradient.
        var adamW = AdamW(
            settings: .init(beta1: 0.9, beta2: 0.999, epsilon: 1e-30, weightDecay: 0),
            count: layout.count)
        var parameters = [Float](repeating: 0, count: layout.count)
        adamW.update(
            &parameters, gradient: (0..<layout.count).map { Float($0 + 1) }, learningRate: 2e-3,
            other: factor)
        let rates =
            [2e-3, 2e-3, 1.6e-2, 1.6e-2] + [Double](repeating: 1e-6, count: 5)
            + [2e-3, 2e-3, 1.6e-2, 1.6e-2, 1.6e-2]
        for (found, rate) in zip(parameters, rates) {
            #expect(abs(Double(-found) / rate - 1) < 1e-5)
        }
    }
}
