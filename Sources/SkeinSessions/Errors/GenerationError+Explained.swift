import Foundation
import SkeinBasics

extension LanguageModelSession.GenerationError: LocalizedError {
    /// What happened, in one sentence that may be shown to people.
    public var errorDescription: String? { words.what + "." }

    /// The facts behind it, with numbers where there are some.
    public var failureReason: String? {
        let numbers: String? =
            switch (context.count, context.limit) {
            case (let count?, let limit?): "\(count), and the limit is \(limit)"
            case (let count?, nil): "\(count)"
            case (nil, let limit?): "the limit is \(limit)"
            case (nil, nil): nil
            }
        let facts = [context.debugDescription, numbers ?? ""].filter { !$0.isEmpty }
        return facts.isEmpty ? nil : facts.joined(separator: ": ")
    }

    /// What to do about it.
    public var recoverySuggestion: String? {
        let remedy = words.remedy
        guard let wait = context.retryAfter else { return remedy.sentence }
        let (seconds, fraction) = wait.components
        return "\(remedy.sentence) Wait \(max(1, seconds + (fraction > 0 ? 1 : 0))) s first."
    }
}

extension LanguageModelSession.GenerationError: Explained {
    package var explanation: Explanation {
        Explanation(
            what: words.what, place: failureReason ?? "", remedy: words.remedy,
            status: words.status)
    }

    private var words: (what: String, remedy: String, status: ExitStatus) {
        switch self {
        case .exceededContextWindowSize:
            (
                "The session does not fit into the model's context window",
                "begin a new session with a shorter prompt, fewer tools or a trimmed transcript",
                .badData
            )
        case .assetsUnavailable:
            (
                "The model cannot be used: some of its files are missing or damaged",
                "check the model's availability, and its folder", .inputOutput
            )
        case .guardrailViolation:
            (
                "A safety check did not let the prompt or the answer pass",
                "write the prompt in other words", .badData
            )
        case .unsupportedGuide:
            (
                "A guide of the asked-for type cannot be enforced",
                "write the guide more simply, or leave it out", .badData
            )
        case .unsupportedLanguageOrLocale:
            (
                "The language is not supported by the model",
                "ask in one of the model's supportedLanguages", .badData
            )
        case .decodingFailure:
            (
                "The model's output could not be turned into the asked-for type",
                "try again, allow more tokens, or look at the raw content", .badData
            )
        case .rateLimited:
            ("Too many requests are waiting", "try again a little later", .peerGone)
        case .concurrentRequests:
            (
                "The session is busy with another request",
                "wait until isResponding is false, or use another session", .usage
            )
        case .refusal:
            (
                "The model declined to answer",
                "show the refusal's explanation, and ask for something else", .badData
            )
        }
    }
}

extension String {
    /// Begins with a capital and ends with a full stop.
    fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
