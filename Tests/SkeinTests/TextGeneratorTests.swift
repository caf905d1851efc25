import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import SkeinText
import SkeinTraining
import Testing

@testable import Skein

/// `TextGenerator` in each precision, against the same model used directly.
@Suite struct TextGeneratorTests {
    private static let prompt = (0..<20).map { "the answer \($0) is" }.joined(separator: " ")

    private func options(_ seed: UInt64) -> TextGenerator.Options {
        var options = TextGenerator.Options()
        (options.maximumTokens, options.temperature, options.seed) = (48, 1, seed)
        return options
    }

    /// What `Generator` says.
    private func direct(
        _ adapted: AdaptedModel, _ weights: GenerationWeights, _ compute: ComputeType,
        _ options: TextGenerator.Options, _ team: ComputeTeam
    ) throws -> String {
        let tokenizer = try adapted.tokenizer()
        let prompt = try adapted.prompt(
            Self.prompt, system: nil, raw: false, maximumTokens: options.maximumTokens,
            tokenizer: tokenizer)
        let generator = Generator(
            adapted.model, weights, options.sampling, adapter: nil,
            capacity: prompt.tokens.count + prompt.maximumTokens,
            stopTokens: tokenizer.endOfTurnIDs, team: team, compute: compute)
        var said: [Int32] = []
        try generator.run(
            prompt: prompt.tokens, maximumTokens: prompt.maximumTokens,
            check: DecoderSession.uninterrupted
        ) {
            said.append($0)
            return true
        }
        return tokenizer.decode(said)
    }

    @Test("prompts are read in the generator's precision, which is fp32 unless it is said")
    func computes() async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try Model(at: directory + "/tiny.gguf")
            let adapted = try AdaptedModel(
                model: model.directory, adapter: nil, threads: 1, weights: .auto)
            let team = ComputeTeam(threadCount: 1)
            let machine = Machine(threads: 1)
            var texts: [Recipe.Compute: [String]] = [:]
            for compute in Recipe.Compute.allCases {
                let generator = try await TextGenerator(
                    model: model, compute: compute, machine: machine)
                let type = ComputeType(named: compute)
                let weights = try adapted.generationWeights(compute: type, team: team)
                for seed in 0..<8 as Range<UInt64> {
                    let options = options(seed)
                    let text = try await generator.answer(to: Self.prompt, options: options)
                    #expect(
                        try text == direct(adapted, weights, type, options, team),
                        "\(compute) \(seed)")
                    texts[compute, default: []].append(text)
                }
            }
            #expect(Set(texts.values).count == Recipe.Compute.allCases.count)
            let plain = try await TextGenerator(model: model, machine: machine)
            let first = try await plain.answer(to: Self.prompt, options: options(0))
            #expect(first == texts[.fp32]?.first)
        }
    }
}
