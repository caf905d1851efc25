/// What became of one question: who was asked and why, and who answered.
package struct Route: Sendable, Equatable {
    package struct Attempt: Sendable, Equatable {
        package var provider: String
        /// Why it was asked; nil: it was not.
        package var why: String?
        /// Why it has not answered; nil: it has.
        package var failure: String?
    }

    /// In the order in which they were looked at.
    package var attempts: [Attempt]
    /// Who answered; nil: nobody.
    package var provider: String?
    /// Tokens of the prompt, as its provider counts.
    package var promptTokens = 0
    /// How many old turns the prompt had no room for.
    package var leftOut = 0
    /// Whether a summary stood for them.
    package var isSummarized = false
    /// Whether the person stopped the answer.
    package var isCutShort = false
}

extension Route {
    /// One line: who answered and why, and why those before it have not.
    package var inWords: String {
        let steps = attempts.map { attempt in
            switch (attempt.why, attempt.failure) {
            case (let why?, nil): "\(attempt.provider) answered, asked because \(why)"
            case (nil, let failure?): "\(attempt.provider) was not asked: \(failure)"
            case (_, let failure): "\(attempt.provider): \(failure ?? "")"
            }
        }
        let memory =
            leftOut == 0 ? "" : ", \(leftOut) old turns \(isSummarized ? "summed up" : "left out")"
        return steps.joined(separator: "; ") + " (\(promptTokens) tokens\(memory))"
    }
}
