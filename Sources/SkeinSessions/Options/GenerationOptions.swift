import SkeinBasics
import SkeinFormats
import SkeinInference
import SkeinModels

/// How one request is answered: the choice of tokens, the length of the answer, the use of tools.
///
/// Options belong to a request, not to a session. Whatever is nil is left to the model: without a mode and
/// a temperature, a model with an adapter takes the most probable token, one without does as its files say
/// (`generation_config.json`, or `general.sampling.*` of GGUF) and else takes the most probable token, too.
public struct GenerationOptions: Sendable, Equatable {
    /// How each token is chosen; nil: as the temperature, or else the model, says.
    public var samplingMode: SamplingMode? {
        didSet { temperature = temperature ?? samplingMode?.temperature }
    }

    /// Divides the logits before a token is drawn: below 1 the answer varies less, above 1 more.
    /// 0 is the same as `SamplingMode.greedy`; nil is the model's own, and with a mode that draws 0.7 where
    /// the model has none.
    ///
    /// Any number from 0 to 100 is allowed.
    public var temperature: Double?

    /// The most tokens that an answer may have, at least 1; nil: as many as the window leaves.
    /// Counts what the model writes alone, not what it reads.
    public var maximumResponseTokens: Int?

    /// Whether the model may, must or must not call tools; nil: it may.
    public var toolCallingMode: ToolCallingMode?

    /// What happens to guided output at `maximumResponseTokens`, or at the window's end: with true, the answer is steered
    /// so that it is complete by then, with false it ends as an error. An addition of this library.
    public var closesAtLimit: Bool

    /// Options of a request.
    ///
    /// - Parameters:
    ///   - samplingMode: how each token is chosen.
    ///   - temperature: 0 to 100.
    ///   - maximumResponseTokens: the most tokens of an answer, 1 or more.
    ///   - toolCallingMode: whether the model may, must or must not call tools.
    ///   - closesAtLimit: whether guided output is completed within `maximumResponseTokens`.
    public init(
        samplingMode: SamplingMode? = nil, temperature: Double? = nil,
        maximumResponseTokens: Int? = nil, toolCallingMode: ToolCallingMode? = nil,
        closesAtLimit: Bool = false
    ) {
        self.samplingMode = samplingMode
        self.temperature = temperature ?? samplingMode?.temperature
        self.maximumResponseTokens = maximumResponseTokens
        self.toolCallingMode = toolCallingMode
        self.closesAtLimit = closesAtLimit
    }

    // `sampling` has no default value: without it, a call must mean the initialiser above.
    /// Options of a request, with the older name of the sampling mode.
    ///
    /// - Parameters:
    ///   - sampling: how each token is chosen.
    ///   - temperature: 0 to 100.
    ///   - maximumResponseTokens: the most tokens of an answer, 1 or more.
    @available(
        *, deprecated, renamed: "init(samplingMode:temperature:maximumResponseTokens:)"
    )
    public init(
        sampling: SamplingMode?, temperature: Double? = nil, maximumResponseTokens: Int? = nil
    ) {
        self.init(
            samplingMode: sampling, temperature: temperature,
            maximumResponseTokens: maximumResponseTokens)
    }

    /// The older name of `samplingMode`.
    @available(*, deprecated, renamed: "samplingMode")
    public var sampling: SamplingMode? {
        get { samplingMode }
        set { samplingMode = newValue }
    }

    /// Whether the model may call tools.
    public enum ToolCallingMode: String, Sendable, Equatable, Hashable, Codable, CaseIterable {
        /// The model decides.
        case allowed
        /// The model calls at least one tool before it answers.
        case required
        /// The model calls none, though the session has some.
        case disallowed
    }
}

extension GenerationOptions {
    /// Whether each value is within its range.
    ///
    /// - Throws: `OptionsError`, for the first value that is not.
    package func check() throws(OptionsError) {
        if let temperature, !SamplingRange.temperature.contains(temperature) {
            throw .temperature(temperature)
        }
        if let maximumResponseTokens, maximumResponseTokens <= 0 {
            throw .maximumResponseTokens(maximumResponseTokens)
        }
        try samplingMode?.check()
    }

    /// Whether each token is the most probable one, by the mode or by a temperature of 0.
    package var isGreedy: Bool {
        samplingMode?.kind == .greedy || temperature == 0
    }
}

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
