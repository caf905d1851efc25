import SkeinModels

extension GenerationOptions {
    /// What the model samples with where nobody says.
    static let usualTemperature = 0.7

    /// The sampler of a request; without a seed another one each time.
    var sampler: Sampler {
        var sampler = Sampler()
        guard !isGreedy else { return sampler }
        sampler.temperature = Float(temperature ?? Self.usualTemperature)
        // Smaller ones are no normal Floats, by which logits are divided.
        if sampler.temperature < 1e-6 { sampler.temperature = 0 }
        sampler.temperature = min(sampler.temperature, 1000)
        switch samplingMode?.kind {
        case .top(let count): sampler.topK = min(count, 1 << 20)
        case .threshold(let share): sampler.topP = Float(share)
        case .greedy, .random, nil: break
        }
        sampler.seed = samplingMode?.seed ?? UInt64.random(in: .min ... .max)
        return sampler
    }
}
