import SkeinFormats

/// How tokens are to be picked, as far as one side says so; nil: it leaves it to others.
package struct SamplingWish: Sendable, Equatable {
    package var temperature: Float?
    /// 0: all tokens.
    package var topK: Int?
    package var topP: Float?
    package var minP: Float?
    package var repetition: Float?
    /// Penalties that nothing but a request sets.
    package var presence: Float = 0
    package var frequency: Float = 0
    package var seed: UInt64 = 0

    package init(
        temperature: Float? = nil, topK: Int? = nil, topP: Float? = nil, minP: Float? = nil,
        repetition: Float? = nil
    ) {
        self.temperature = temperature
        self.topK = topK
        self.topP = topP
        self.minP = minP
        self.repetition = repetition
    }

    /// What a model's files say.
    package init(_ stated: StatedSampling) {
        self.init(
            temperature: stated.temperature.map { Float($0) }, topK: stated.topK,
            topP: stated.topP.map { Float($0) }, minP: stated.minP.map { Float($0) },
            repetition: stated.repetitionPenalty.map { Float($0) })
    }

    /// This wish, and where it says nothing the other one.
    package func otherwise(_ other: SamplingWish) -> SamplingWish {
        var wish = self
        wish.temperature = temperature ?? other.temperature
        wish.topK = topK ?? other.topK
        wish.topP = topP ?? other.topP
        wish.minP = minP ?? other.minP
        wish.repetition = repetition ?? other.repetition
        return wish
    }
}

/// How tokens are picked where a request leaves it open: the one rule of `generate`, `serve` and
/// sessions. (SamplingRuleTests)
///
/// The request's wish comes first, then the program's options. After that, an adapter is asked for what it
/// learned, so its likeliest token is picked: of eight answers at temperature 1 three and five were as in
/// the rows, of those at 0 six (docs/FIRST-ADAPTER.md). Without an adapter the model's own files count, and if they say
/// nothing the likeliest token is picked, too. Each setting goes this way by itself, as in vLLM.
package struct SamplingRule: Sendable, Equatable {
    /// What the program's options say.
    package var options: SamplingWish
    /// What the model's files say.
    package var model: SamplingWish

    package init(options: SamplingWish = SamplingWish(), model: SamplingWish = SamplingWish()) {
        self.options = options
        self.model = model
    }

    /// The sampler of a request.
    ///
    /// - Parameters:
    ///   - wish: of the request; nothing where the usual sampler is asked for.
    ///   - hasAdapter: whether an adapter answers.
    /// - Returns: a sampler whose temperature is 0 or a normal number.
    package func sampler(
        for wish: SamplingWish = SamplingWish(), hasAdapter: Bool
    ) -> Sampler {
        let asked = wish.otherwise(options)
        let found = hasAdapter ? asked : asked.otherwise(model)
        let temperature = found.temperature ?? 0
        return Sampler(
            // Smaller ones are no normal Floats, by which logits are divided.
            temperature: temperature < 1e-6 ? 0 : temperature, topK: found.topK ?? 0,
            topP: found.topP ?? 1, minP: found.minP ?? 0,
            penalties: TokenPenalties(
                repetition: found.repetition ?? 1, presence: wish.presence,
                frequency: wish.frequency),
            seed: wish.seed)
    }
}
