import Foundation

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
}

extension RouterError: CustomStringConvertible, LocalizedError {
    package var description: String {
        switch self {
        case .notAnswered(let attempts) where attempts.isEmpty:
            "there is nobody to ask; name a model or a server"
        case .notAnswered(let attempts):
            "nobody answered. "
                + attempts.map { "\($0.provider): \($0.failure ?? "")" }.joined(separator: "; ")
        case .busy: "another question is being answered; wait for its end or stop it"
        case .noQuestion: "the question is empty"
        case .unknownProvider(let name, let known):
            "there is no provider \(name); there are \(known.joined(separator: ", "))"
        case .sameName(let name): "two providers are called \(name); give one another name"
        }
    }

    package var errorDescription: String? { description }
}
