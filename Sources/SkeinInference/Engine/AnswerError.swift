import SkeinBasics
import SkeinModels

/// Why an engine does not begin, or an answer is not made.
package enum AnswerError: Error, Equatable {
    /// The system refuses another thread.
    case noThread
    /// The answer would never fit, or its job is wrong: neither `.admitted` nor `.full`.
    case refused(BatchDecoder.Admission)
    /// An error of the engine's own: the decoder does not take what was picked.
    case notFed(BatchDecoder.Feeding)
}

extension AnswerError: Explained {
    package var explanation: Explanation {
        switch self {
        case .noThread:
            Explanation(
                what: "the system refuses another thread",
                remedy: "look at ulimit -u and the limits of the control group",
                status: .inputOutput)
        case .refused(let refusal): Self.explanation(of: refusal)
        case .notFed(let feeding):
            Explanation(
                what: "an error of skein's own: not fed: \(feeding)", status: .internalError)
        }
    }

    private static func explanation(of refusal: BatchDecoder.Admission) -> Explanation {
        switch refusal {
        case .tooLong(let tokens, let limit):
            Explanation(
                what: "prompt and answer together may have \(limit) tokens, and \(tokens) are "
                    + "asked for", remedy: "shorten the prompt, or allow a longer context",
                status: .badData)
        case .tooLarge(let needed, let limit):
            Explanation(
                what: "the answer's keys and values may take \(Figures.bytes(needed)), and there "
                    + "are \(Figures.bytes(limit))",
                remedy: "ask for fewer tokens, or give keys and values more memory",
                status: .badData)
        case .unknownToken(let token, let limit):
            Explanation(
                what: "\(token) is not a token", remedy: "use ids from 0 to \(limit - 1)",
                status: .badData)
        case .emptyPrompt:
            Explanation(
                what: "the prompt has no tokens", remedy: "give at least one", status: .badData)
        case .rankTooLarge(let rank, let limit):
            Explanation(
                what: "the adapter's rank is \(rank), and there is room for \(limit)",
                remedy: "allow larger ranks", status: .badData)
        case .admitted, .full:
            Explanation(what: "an error of skein's own: no refusal", status: .internalError)
        }
    }
}
