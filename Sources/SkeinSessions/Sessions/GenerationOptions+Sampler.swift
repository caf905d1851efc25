import SkeinFormats
import SkeinInference
import SkeinModels

extension GenerationOptions {
    /// What a mode that draws divides logits by where neither the options nor the model's files say.
    private static let usualTemperature: Float = 0.7

    /// The sampler of a request; without a seed another one each time.
    ///
    /// Without a mode and a temperature `SamplingRule` alone says how tokens are picked, as it does for
    /// `skein serve`.
    ///
    /// - Parameters:
    ///   - rule: of the model.
    ///   - hasAdapter: whether an adapter answers.
    /// - Returns: the sampler.
    func sampler(_ rule: SamplingRule, hasAdapter: Bool) -> Sampler {
        rule.sampler(for: wish(rule, hasAdapter: hasAdapter), hasAdapter: hasAdapter)
    }

    private func wish(_ rule: SamplingRule, hasAdapter: Bool) -> SamplingWish {
        // The most probable token, whatever the model's files say.
        if isGreedy {
            return SamplingWish(temperature: 0, topK: 0, topP: 1, minP: 0, repetition: 1)
        }
        var wish = SamplingWish(temperature: temperature.map { Float($0) })
        wish.seed = samplingMode?.seed ?? UInt64.random(in: .min ... .max)
        guard let mode = samplingMode else { return wish }
        // A mode that draws is a wish to draw, and from the tokens that it names.
        let usual = rule.sampler(hasAdapter: hasAdapter).temperature
        wish.temperature = wish.temperature ?? (usual > 0 ? usual : Self.usualTemperature)
        (wish.topK, wish.topP, wish.minP) = (0, 1, 0)
        switch mode.kind {
        case .top(let count): wish.topK = min(count, SamplingRange.topK.upperBound)
        case .threshold(let share): wish.topP = Float(share)
        case .greedy, .random: break
        }
        return wish
    }
}
