import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinText

/// Tokens and texts, for programs that make prompts themselves.
extension Preparation {
    /// `{"prompt": TEXT}` as vLLM has it, `{"content": TEXT}` as llama.cpp has it, or `messages`.
    func tokenize(_ body: [UInt8]) throws(APIError) -> JSONValue {
        let fields = try FieldReader(body: body)
        let tokens: [Int32]
        if fields["messages"] != nil {
            let request = try ChatRequest(fields, randomSeed: { 0 })
            try checkLength(of: request.messages)
            tokens = try chat.prompt(request, tokenizer)
        } else {
            let other = try fields.string("content")
            guard let text = try fields.string("prompt") ?? other else {
                throw fields.wrong("prompt", "a text")
            }
            tokens = try self.tokens(
                text, special: try fields.bool("add_special_tokens") ?? true)
        }
        return .fields([
            ("count", .integer(tokens.count)), ("max_model_len", .integer(context)),
            ("tokens", .list(tokens.map { .integer(Int($0)) })),
        ])
    }

    /// What programs that render conversations themselves want to know, under Hugging Face's names as
    /// vLLM has it.
    var tokenizerInfo: JSONValue {
        func text(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
        return .fields([
            ("bos_token", text(tokenizer.templateTokens.begin)),
            ("eos_token", text(tokenizer.templateTokens.end)),
            ("add_bos_token", .bool(tokenizer.addsBeginToken)),
            ("model_max_length", .integer(context)), ("chat_template", text(chat.source)),
        ])
    }

    func detokenize(_ body: [UInt8]) throws(APIError) -> JSONValue {
        let fields = try FieldReader(body: body)
        guard let items = fields["tokens"]?.list else { throw fields.wrong("tokens", "a list") }
        var tokens: [Int32] = []
        var bytes = 0
        for item in items {
            guard let token = item.integer, (0..<tokenizer.vocabularySize).contains(token) else {
                throw fields.wrong(
                    "tokens", "a list of ids from 0 to \(tokenizer.vocabularySize - 1)")
            }
            tokens.append(Int32(token))
            bytes += tokenizer.bytes(of: Int32(token)).count
            guard bytes <= Limits.echoBytes else {
                throw fields.wrong("tokens", "the tokens of at most \(Limits.echoBytes) bytes")
            }
        }
        let text = tokenizer.decode(tokens)
        // vLLM's name and llama.cpp's.
        return .fields([("prompt", .text(text)), ("content", .text(text))])
    }
}
