/// Why a question has no answer.
package enum RouterError: Error, Sendable, Equatable {
    /// Nobody answered, for these reasons.
    case notAnswered([Route.Attempt])
    /// Another question is being answered.
    case busy
    case noQuestion
    case unknownProvider(String, known: [String])
    /// Two providers have one name.
    case sameName(String)
    /// A provider's window, or the budget, leaves no room for a question.
    case noRoom(String, tokens: Int, answer: Int)
}

extension RouterError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAnswered(let attempts) where attempts.isEmpty:
            "there is nobody to ask; name a model or a server"
        case .notAnswered(let attempts):
            "nobody answered. "
                + attempts.enumerated().filter { place, attempt in
                    // Who came last has a later entry.
                    !attempts[(place + 1)...].contains { $0.provider == attempt.provider }
                }.map(\.element).map { "\($0.provider): \($0.failure ?? "")" }.joined(
                    separator: "; ")
        case .busy: "another question is being answered; wait for its end or stop it"
        case .noQuestion: "the question is empty"
        case .unknownProvider(let name, let known):
            "there is no provider \(name); there are \(known.joined(separator: ", "))"
        case .noRoom(let name, let tokens, let answer):
            "\(name) has \(tokens) tokens for a prompt and its answer, and an answer of \(answer) leaves no room "
                + "for a question; ask for shorter answers or allow more"
        case .sameName(let name): "two providers are called \(name); give one another name"
        }
    }
}
