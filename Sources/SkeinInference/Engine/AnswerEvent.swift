/// Why an answer ended, in OpenAI's words.
package enum FinishReason: String, Sendable {
    /// The model ended it, a stop text came, or the value is complete.
    case stop
    /// There were no more tokens, or a value was closed so that it fits.
    case length
    case toolCalls = "tool_calls"
}

/// A token with its log-probability before temperature, penalties and masks.
package struct TokenRecord: Sendable, Equatable {
    package struct Alternative: Sendable, Equatable {
        package var token: Int32
        package var logprob: Float

        package init(token: Int32, logprob: Float) {
            self.token = token
            self.logprob = logprob
        }
    }

    package var token: Int32
    /// nil: the first token of a prompt. 0 where there was no choice.
    package var logprob: Float?
    /// The likeliest tokens, as many as were asked for, the likeliest first.
    package var top: [Alternative] = []
}

/// What an answer gained in a step.
package struct AnswerPiece: Sendable {
    package var text = ""
    /// Only when log-probabilities are wanted.
    package var tokens: [TokenRecord] = []
    /// Those of the prompt, likewise.
    package var promptTokens: [TokenRecord] = []
    package var tools: [ToolEvent] = []

    package var isEmpty: Bool {
        text.isEmpty && tokens.isEmpty && promptTokens.isEmpty && tools.isEmpty
    }
}

/// What the engine tells of an answer.
package struct AnswerEvent: Sendable {
    package enum Content: Sendable {
        case piece(AnswerPiece)
        case finished(AnswerEnd)
        /// What an answer took that ends with its request's failure, which is told next.
        case cut(CutAnswer)
        /// An `AnswerError`, or what its guide or the model threw.
        case failed(any Error)
    }

    package let request: RequestID
    package let choice: Int
    package let content: Content

    package var isFailure: Bool {
        if case .failed = content { true } else { false }
    }
}

/// An answer that was ended while it was decoded, and what it took.
package struct CutAnswer: Sendable, Equatable {
    package var choice: Int
    package var promptTokens: Int
    package var cachedTokens: Int
    package var answerTokens: Int

    package init(choice: Int, promptTokens: Int, cachedTokens: Int, answerTokens: Int) {
        self.choice = choice
        self.promptTokens = promptTokens
        self.cachedTokens = cachedTokens
        self.answerTokens = answerTokens
    }
}

/// How an answer ended, and what it took.
package struct AnswerEnd: Sendable, Equatable {
    package var reason: FinishReason
    package var promptTokens: Int
    /// Tokens of the prompt that were not computed.
    package var cachedTokens: Int
    package var answerTokens: Int
}
