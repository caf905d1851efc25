import SkeinGrammar
import SkeinJSON

/// A body of /v1/completions.
struct CompletionRequest: Sendable {
    /// What is continued.
    enum Prompt: Sendable, Equatable {
        case text(String)
        case tokens([Int32])
    }

    var model: String?
    var prompts: [Prompt]
    var sampling: SamplingRequest
    var form: AnswerForm
    /// Whether the answer begins with the prompt.
    var echoes: Bool
    /// Whether a text has the token before it that the model expects before every text.
    var addsSpecialTokens: Bool
    /// Likeliest tokens to tell at each place; nil: no log-probabilities.
    var logprobs: Int?

    init(_ fields: FieldReader, randomSeed: () -> UInt64) throws(APIError) {
        try RequestFields.check(fields, .completion)
        model = try fields.string("model")
        sampling = try SamplingRequest(fields, randomSeed: randomSeed)
        prompts = try Self.prompts(fields)
        form = try AnswerForm(fields)
        echoes = try fields.bool("echo") ?? false
        // OpenAI's is a number; some clients send true.
        if case .bool(let flag)? = fields["logprobs"] {
            logprobs = flag ? 0 : nil
        } else {
            logprobs = try fields.integer("logprobs", 0...Limits.topLogprobs)
        }
        addsSpecialTokens = try fields.bool("add_special_tokens") ?? true
    }

    /// A text, tokens, or a list of either.
    private static func prompts(_ fields: FieldReader) throws(APIError) -> [Prompt] {
        guard let value = fields["prompt"] else {
            throw fields.wrong("prompt", "a text, a list of texts, token ids or a list of those")
        }
        if let text = value.string { return [.text(text)] }
        guard let items = value.list, !items.isEmpty else {
            throw fields.wrong("prompt", "a text, a list of texts, token ids or a list of those")
        }
        if items[0].integer != nil { return [.tokens(try tokens(items, fields))] }
        guard items.count <= Limits.prompts else {
            throw fields.wrong("prompt", "at most \(Limits.prompts) prompts")
        }
        var prompts: [Prompt] = []
        for item in items {
            if let text = item.string {
                prompts.append(.text(text))
            } else if let list = item.list {
                prompts.append(.tokens(try tokens(list, fields)))
            } else {
                throw fields.wrong("prompt", "a list of texts, or of lists of token ids")
            }
        }
        return prompts
    }

    private static func tokens(
        _ items: [JSONValue], _ fields: FieldReader
    ) throws(APIError) -> [Int32] {
        var tokens: [Int32] = []
        for item in items {
            guard let token = item.integer.flatMap({ Int32(exactly: $0) }), token >= 0 else {
                throw fields.wrong("prompt", "made of token ids, which are whole numbers")
            }
            tokens.append(token)
        }
        return tokens
    }
}
