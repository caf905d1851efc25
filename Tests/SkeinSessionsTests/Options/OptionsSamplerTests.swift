import SkeinInference
import SkeinModels
import Testing

@testable import SkeinSessions

/// What the options of a request make of the model's own settings.
@Suite struct OptionsSamplerTests {
    private static let model = SamplingWish(
        temperature: 0.6, topK: 20, topP: 0.8, minP: 0.1, repetition: 1.05)
    private static let stated = TokenPenalties(repetition: 1.05)

    private func sampler(
        _ options: GenerationOptions, hasAdapter: Bool = false, of model: SamplingWish = model
    ) -> Sampler {
        var sampler = options.sampler(SamplingRule(model: model), hasAdapter: hasAdapter)
        sampler.seed = 0
        return sampler
    }

    @Test("Without a wish an adapter takes the likeliest token, and the base does as its files say")
    func silent() {
        #expect(sampler(GenerationOptions(), hasAdapter: true) == Sampler())
        #expect(sampler(GenerationOptions(), of: SamplingWish()) == Sampler())
        #expect(
            sampler(GenerationOptions())
                == Sampler(
                    temperature: 0.6, topK: 20, topP: 0.8, minP: 0.1, penalties: Self.stated))
    }

    @Test("A temperature counts with an adapter and without, and greedy is greedy")
    func temperatures() {
        let warm = GenerationOptions(temperature: 1.5)
        #expect(sampler(warm, hasAdapter: true) == Sampler(temperature: 1.5))
        #expect(
            sampler(warm)
                == Sampler(
                    temperature: 1.5, topK: 20, topP: 0.8, minP: 0.1, penalties: Self.stated))
        for options in [
            GenerationOptions(samplingMode: .greedy), GenerationOptions(temperature: 0),
        ] {
            #expect(sampler(options) == Sampler())
            #expect(sampler(options, hasAdapter: true) == Sampler())
        }
    }

    @Test("A mode that draws draws, with an adapter, too, from the tokens that it names alone")
    func modes() {
        let top = GenerationOptions(samplingMode: .random(top: 7))
        #expect(sampler(top, hasAdapter: true) == Sampler(temperature: 0.7, topK: 7))
        #expect(sampler(top, of: SamplingWish()) == Sampler(temperature: 0.7, topK: 7))
        #expect(
            sampler(top) == Sampler(temperature: 0.6, topK: 7, penalties: Self.stated))
        let nucleus = GenerationOptions(
            samplingMode: .random(probabilityThreshold: 0.5), temperature: 0.9)
        #expect(sampler(nucleus, hasAdapter: true) == Sampler(temperature: 0.9, topP: 0.5))
    }
}
