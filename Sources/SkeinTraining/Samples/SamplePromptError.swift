import SkeinBasics

/// A sample prompt that the model of a run cannot answer. The words are those of `skein generate`.
package enum SamplePromptError: Error, Equatable {
    case empty
    /// The prompt leaves no room for an answer.
    case tooLong(tokens: Int, limit: Int)
}

extension SamplePromptError: Explained {
    package var explanation: Explanation {
        switch self {
        case .empty:
            Explanation(
                what: "the prompt has no tokens", place: "--prompt",
                remedy: "give a text to answer or continue", status: .badData)
        case .tooLong(let needed, let limit):
            Explanation(
                what: "the prompt has \(needed) tokens, but the model reads at most \(limit)",
                remedy: "give a shorter --prompt", status: .badData)
        }
    }
}
