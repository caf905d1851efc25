/// Why a provider has not answered.
package enum ProviderFailure: Error, Sendable, Equatable {
    /// It cannot be reached or has no model.
    case unavailable(String)
    /// A check on the question or on the answer says no.
    case refused(String)
    /// The question alone takes more than the window leaves.
    case questionTooLong(tokens: Int, limit: Int)
    /// Nothing came for this long.
    case stalled(Duration)
    /// The answer was not complete after this long.
    case tooSlow(Duration)
    /// The answer ended without its end.
    case cutOff
    /// The answer had no text.
    case empty
    /// The answer, or what was sent in its place, went on beyond this many bytes.
    case endless(bytes: Int)
    /// The conversation has become private since it was asked.
    case isPrivate
    /// A server said no.
    case rejected(status: Int, String)
    /// A server said what cannot be understood.
    case malformed(String)
    /// Anything else.
    case other(String)

    package init(_ error: any Error) {
        self = error as? ProviderFailure ?? .other("\(error)")
    }
}

extension ProviderFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unavailable(let why): why
        case .refused(let why): "it refuses: \(why)"
        case .questionTooLong(let tokens, let limit):
            "the question has \(tokens) tokens, and there is room for \(limit)"
        case .stalled(let time): "nothing came for \(time.inWords)"
        case .tooSlow(let time): "the answer was not complete after \(time.inWords)"
        case .cutOff: "the connection ended before the answer did"
        case .empty: "the answer is empty"
        case .endless(let bytes): "the answer went on beyond \(bytes) bytes"
        case .isPrivate: "the conversation is private, and this is another machine"
        case .rejected(let status, let words): "HTTP \(status): \(words)"
        case .malformed(let what): "this is no answer: \(what)"
        case .other(let what): what
        }
    }
}

extension Duration {
    /// "90 s", or "50 ms" where seconds say nothing.
    package var inWords: String {
        let milliseconds = Int((self / .milliseconds(1)).rounded())
        return milliseconds < 1000 || milliseconds % 1000 != 0 && milliseconds < 10000
            ? "\(milliseconds) ms" : "\(Int((self / .seconds(1)).rounded())) s"
    }
}
