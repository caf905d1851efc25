import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinInference
@testable import SkeinModels

/// How tokens are picked where a request does not say.
@Suite struct SamplingRuleTests {
    private static let model = SamplingWish(
        temperature: 0.7, topK: 20, topP: 0.8, minP: 0.1, repetition: 1.05)
    private static let options = SamplingWish(temperature: 0.3, topP: 0.9)
    private static let asked = SamplingWish(temperature: 1.5, topK: 5)
    private typealias Row = (
        wish: SamplingWish, options: SamplingWish, model: SamplingWish, hasAdapter: Bool,
        wanted: Sampler
    )

    @Test(
        "the request counts first, then the options, and the model's files without an adapter alone"
    )
    func order() {
        let none = SamplingWish()
        let rows: [Row] = [
            (none, none, none, false, Sampler()), (none, none, none, true, Sampler()),
            (none, none, Self.model, true, Sampler()),
            (
                none, none, Self.model, false,
                Sampler(
                    temperature: 0.7, topK: 20, topP: 0.8, minP: 0.1,
                    penalties: TokenPenalties(repetition: 1.05))
            ),
            (none, Self.options, Self.model, true, Sampler(temperature: 0.3, topP: 0.9)),
            (
                none, Self.options, Self.model, false,
                Sampler(
                    temperature: 0.3, topK: 20, topP: 0.9, minP: 0.1,
                    penalties: TokenPenalties(repetition: 1.05))
            ),
            (
                Self.asked, Self.options, Self.model, true,
                Sampler(temperature: 1.5, topK: 5, topP: 0.9)
            ),
            (
                SamplingWish(temperature: 0), Self.options, Self.model, false,
                Sampler(
                    topK: 20, topP: 0.9, minP: 0.1, penalties: TokenPenalties(repetition: 1.05))
            ),
            // Smaller ones are no normal Floats.
            (SamplingWish(temperature: 1e-30), none, none, false, Sampler()),
        ]
        for (number, row) in rows.enumerated() {
            let rule = SamplingRule(options: row.options, model: row.model)
            #expect(
                rule.sampler(for: row.wish, hasAdapter: row.hasAdapter) == row.wanted,
                "row \(number)")
        }
    }

    @Test("penalties and the seed of a request are its own")
    func own() {
        var wish = SamplingWish(temperature: 1)
        (wish.presence, wish.frequency, wish.seed) = (0.5, 0.25, 9)
        let sampler = SamplingRule().sampler(for: wish, hasAdapter: true)
        #expect(
            sampler
                == Sampler(
                    temperature: 1, penalties: TokenPenalties(presence: 0.5, frequency: 0.25),
                    seed: 9))
    }

    @Test("a model on disk says how it is sampled")
    func files() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            var image = TinyModel().gguf()
            image.metadata.append(("general.sampling.temp", .float32(0.5)))
            try AtomicFile.write(image.bytes(), to: path)
            let model = try ModelDirectory.open(path)
            #expect(SamplingWish(model.sampling) == SamplingWish(temperature: 0.5))
        }
    }
}
