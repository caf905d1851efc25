import SkeinGrammar
import SkeinModels

/// One answer that is to be made: one choice for one prompt of a request.
struct AnswerJob: Sendable {
    /// Of the request; the same for all its choices.
    let request: RequestID
    /// Its place among the answers of the request.
    let choice: Int
    let prompt: [Int32]
    let maximumTokens: Int
    let adapter: GenerationProjections
    let sampler: Sampler
    /// Added to logits.
    let bias: [Int32: Float]
    let stops: [String]
    let ignoresEnd: Bool
    let guide: AnswerGuide
    /// Likeliest tokens to tell at each place; nil: no log-probabilities.
    let logprobs: Int?
    /// Whether log-probabilities of the prompt's tokens are wanted, too.
    let tellsPrompt: Bool
    /// Whether the token that ends the turn is among the log-probabilities, as in vLLM's completions:
    /// lm-evaluation-harness takes the last one for an answer's, whatever it is.
    let recordsEnd: Bool
}

/// A request while it is answered.
struct RequestID: Hashable, Sendable {
    let number: UInt64
}

/// Holds an answer to a form.
enum AnswerGuide: Sendable {
    /// Any text.
    case free
    /// A value that a grammar allows.
    case value(GrammarMatcher)
    /// Text and calls of tools.
    case tools(ToolGuide)

    /// The guide of one of several answers to a prompt, whose calls have names of their own.
    func naming(choice: Int) -> AnswerGuide {
        guard choice > 0, case .tools(var tools) = self else { return self }
        tools.idSeed += "-\(choice)"
        return .tools(tools)
    }
}

/// Why an answer ended, in OpenAI's words.
enum FinishReason: String, Sendable {
    /// The model ended it, a stop text came, or the value is complete.
    case stop
    /// There were no more tokens, or a value was closed so that it fits.
    case length
    case toolCalls = "tool_calls"
}

/// A token with its log-probability before temperature, penalties and masks.
struct TokenRecord: Sendable, Equatable {
    struct Candidate: Sendable, Equatable {
        var token: Int32
        var logprob: Float
    }

    var token: Int32
    /// nil: the first token of a prompt. 0 where there was no choice.
    var logprob: Float?
    /// The likeliest tokens, as many as were asked for, the likeliest first.
    var top: [Candidate] = []
}

/// What an answer gained in a step.
struct AnswerPiece: Sendable {
    var text = ""
    /// Only when log-probabilities are wanted.
    var tokens: [TokenRecord] = []
    /// Of the prompt, likewise.
    var promptTokens: [TokenRecord] = []
    var tools: [ToolEvent] = []

    var isEmpty: Bool {
        text.isEmpty && tokens.isEmpty && promptTokens.isEmpty && tools.isEmpty
    }
}

/// What the engine tells of an answer.
struct AnswerEvent: Sendable {
    enum Content: Sendable {
        case piece(AnswerPiece)
        case finished(AnswerEnd)
        case failed(APIError)
    }

    let request: RequestID
    let choice: Int
    let content: Content

    var isFailure: Bool {
        if case .failed = content { true } else { false }
    }
}

/// How an answer ended, and what it took.
struct AnswerEnd: Sendable, Equatable {
    var reason: FinishReason
    var promptTokens: Int
    /// Tokens of the prompt that were not computed.
    var cachedTokens: Int
    var answerTokens: Int
}
