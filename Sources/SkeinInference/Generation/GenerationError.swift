import SkeinBasics

/// A prompt that a model cannot answer.
package enum GenerationError: Error, Equatable {
    case emptyPrompt
    /// A system turn needs a chat template.
    case systemWithoutTemplate(model: String)
    /// The prompt leaves no room for an answer.
    case promptTooLong(tokens: Int, limit: Int)
    /// A logit is infinite or NaN.
    case notFinite
    /// The weights and their copy for prompts in int8 do not fit.
    case memory(needed: Int, available: Int)
}

extension GenerationError: Explained {
    package var explanation: Explanation {
        switch self {
        case .emptyPrompt:
            Explanation(
                what: "the prompt has no tokens", place: "--prompt",
                remedy: "give a text to answer or continue", status: .badData)
        case .promptTooLong(let tokens, let limit):
            Explanation(
                what: "the prompt has \(tokens) tokens, but the model reads at most \(limit)",
                remedy: "give a shorter --prompt", status: .badData)
        case .notFinite:
            Explanation(
                what: "the model's logits are not finite numbers",
                remedy:
                    "check the adapter's numbers and alpha (skein inspect), and the model's file",
                status: .badData)
        case .memory(let needed, let available):
            Explanation(
                what: "the weights and their copy in int8 take \(Figures.bytes(needed)), and "
                    + "\(Figures.bytes(available)) are available",
                remedy: "use compute fp32 (--compute fp32), which needs no copy, or end other "
                    + "programs",
                status: .inputOutput)
        case .systemWithoutTemplate(let model):
            Explanation(
                what: "the model has no chat template, so there is no place for --system",
                place: model, remedy: "put that text into --prompt", status: .badData)
        }
    }
}
