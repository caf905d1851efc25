import SkeinGrammar
import SkeinModels

/// One answer that is to be made: one choice for one prompt of a request.
package struct AnswerJob: Sendable {
    /// The request's identifier; the same for all its choices.
    package let request: RequestID
    /// Its place among the answers of the request.
    package let choice: Int
    package let prompt: [Int32]
    package let maximumTokens: Int
    package let adapter: GenerationProjections
    package let sampler: Sampler
    /// Added to logits.
    package let bias: [Int32: Float]
    package let stops: [String]
    /// Tokens that end the answer as an end of turn does, and are no part of it.
    package let stopTokens: Set<Int32>
    package let ignoresEnd: Bool
    package let guide: AnswerGuide
    /// Likeliest tokens to tell at each place; nil: no log-probabilities.
    package let logprobs: Int?
    /// Whether log-probabilities of the prompt's tokens are wanted, too.
    package let tellsPrompt: Bool
    /// Whether the token that ends the turn is among the log-probabilities, as in vLLM's completions:
    /// lm-evaluation-harness takes the last one for an answer's, whatever it is.
    package let recordsEnd: Bool
    /// Whose request it is.
    package internal(set) var owner = RequestOwner.everybody

    package init(
        request: RequestID, choice: Int, prompt: [Int32], maximumTokens: Int,
        adapter: GenerationProjections, sampler: Sampler, bias: [Int32: Float], stops: [String],
        stopTokens: Set<Int32> = [], ignoresEnd: Bool, guide: AnswerGuide, logprobs: Int?,
        tellsPrompt: Bool, recordsEnd: Bool
    ) {
        self.request = request
        self.choice = choice
        self.prompt = prompt
        self.maximumTokens = maximumTokens
        self.adapter = adapter
        self.sampler = sampler
        self.bias = bias
        self.stops = stops
        self.stopTokens = stopTokens
        self.ignoresEnd = ignoresEnd
        self.guide = guide
        self.logprobs = logprobs
        self.tellsPrompt = tellsPrompt
        self.recordsEnd = recordsEnd
    }
}

/// A request while it is answered.
package struct RequestID: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) { self.number = number }
}

/// Holds an answer to a form.
package enum AnswerGuide: Sendable {
    /// Any text.
    case free
    /// A value that a grammar allows.
    case value(GrammarMatcher)
    /// Text and calls of tools.
    case tools(ToolGuide)
    /// Calls of tools, if the answer begins with one; else a value that a grammar allows. The guide of
    /// calls is one of `beginsWithCalls`.
    case callsOrValue(ToolGuide, GrammarMatcher)

    /// The guide of one of several answers to a prompt, whose calls have names of their own.
    package func naming(choice: Int) -> AnswerGuide {
        guard choice > 0 else { return self }
        func named(_ tools: ToolGuide) -> ToolGuide {
            var tools = tools
            tools.idSeed += "-\(choice)"
            return tools
        }
        return switch self {
        case .free, .value: self
        case .tools(let tools): .tools(named(tools))
        case .callsOrValue(let tools, let value): .callsOrValue(named(tools), value)
        }
    }
}
