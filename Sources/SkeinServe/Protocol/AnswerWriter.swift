import SkeinBasics
import SkeinInference
import SkeinJSON

/// Makes the JSON of an answer, chunk by chunk or whole.
struct AnswerWriter: Sendable {
    let format: AnswerFormat
    let names: TokenNames
    private var choices: [Choice]
    /// Bytes of the whole answer's JSON, roughly.
    private(set) var size: Int

    private struct Choice {
        var text: String
        var records: [TokenRecord] = []
        var promptRecords: [TokenRecord] = []
        var calls: [Call] = []
        var end: AnswerEnd?
        var hasBegun = false
        /// For `text_offset`; nil where it is not asked for.
        var offsets: AnswerOffsets?
    }

    private struct Call {
        var id: String
        var name: String
        var arguments = ""
    }

    init(_ format: AnswerFormat, _ names: TokenNames) {
        self.format = format
        self.names = names
        choices = (0..<format.answers).map { index in
            let echo = format.echoes[index / format.choices]
            return Choice(
                text: echo.text,
                offsets: format.logprobs.map { _ in AnswerOffsets(names.tokenizer, echo: echo) })
        }
        let echoed = choices.reduce(0) { $0 + $1.text.utf8.count }
        size = echoed + choices.count * Self.choiceBytes
    }

    /// JSON of one choice without its text, and of one token with its log-probability.
    private static let choiceBytes = 128
    private static let tokenBytes = 64

    var isComplete: Bool { choices.allSatisfy { $0.end != nil } }

    // MARK: Chunks

    /// The chunks of a stream that a piece makes.
    mutating func chunks(_ index: Int, _ piece: AnswerPiece) -> [JSONValue] {
        var chunks = beginning(index)
        switch format.kind {
        case .chat:
            if !piece.text.isEmpty || !piece.tokens.isEmpty {
                chunks.append(
                    chatChunk(
                        index, [("content", .text(piece.text))],
                        logprobs: format.logprobs.map { names.chat(piece.tokens, top: $0) }))
            }
            for event in piece.tools {
                if let delta = delta(event) { chunks.append(chatChunk(index, [delta])) }
            }
        case .completion:
            let logprobs = format.logprobs.map {
                names.completion(
                    piece.promptTokens + piece.tokens, top: $0,
                    offsets: choices[index].offsets?.next(
                        prompt: piece.promptTokens, answer: piece.tokens) ?? [])
            }
            chunks.append(completionChunk(index, piece.text, logprobs: logprobs))
        }
        return chunks
    }

    /// The last chunk of an answer.
    mutating func lastChunks(_ index: Int, _ end: AnswerEnd) -> [JSONValue] {
        let chunks = beginning(index)
        choices[index].end = end
        switch format.kind {
        case .chat: return chunks + [chatChunk(index, [], finish: end.reason)]
        case .completion: return chunks + [completionChunk(index, "", finish: end.reason)]
        }
    }

    /// What was used, when the stream is to say so.
    var usageChunk: JSONValue? {
        guard format.includesUsage else { return nil }
        return .fields(head(isChunk: true) + [("choices", .list([])), ("usage", usage)])
    }

    /// The chunk that a stream's answer begins with, where it is for another thread to write; once.
    mutating func takeLongEcho(_ index: Int) -> JSONValue? {
        guard format.streams, choices[index].text.utf8.count > Limits.writtenEchoBytes else {
            return nil
        }
        return beginning(index).first
    }

    private mutating func beginning(_ index: Int) -> [JSONValue] {
        guard !choices[index].hasBegun else { return [] }
        choices[index].hasBegun = true
        switch format.kind {
        case .chat:
            let begun = JSONValue.text(choices[index].text)
            return [chatChunk(index, [("role", .text("assistant")), ("content", begun)])]
        case .completion:
            let echo = choices[index].text
            return echo.isEmpty ? [] : [completionChunk(index, echo)]
        }
    }

    private func delta(_ event: ToolEvent) -> (String, JSONValue)? {
        switch event {
        case .text: nil
        case .callBegan(let index, let id, let name):
            (
                "tool_calls",
                .list([
                    .fields([
                        ("index", .integer(index)), ("id", .text(id)),
                        ("type", .text("function")),
                        (
                            "function",
                            .fields([("name", .text(name)), ("arguments", .text(""))])
                        ),
                    ])
                ])
            )
        case .arguments(let index, let piece):
            (
                "tool_calls",
                .list([
                    .fields([
                        ("index", .integer(index)),
                        ("function", .fields([("arguments", .text(piece))])),
                    ])
                ])
            )
        }
    }

    private func chatChunk(
        _ index: Int, _ delta: [(String, JSONValue)], logprobs: JSONValue? = nil,
        finish: FinishReason? = nil
    ) -> JSONValue {
        chunk([
            ("index", .integer(index)), ("delta", .fields(delta)),
            ("logprobs", logprobs ?? .null),
            ("finish_reason", finish.map { .text($0.rawValue) } ?? .null),
        ])
    }

    private func completionChunk(
        _ index: Int, _ text: String, logprobs: JSONValue? = nil, finish: FinishReason? = nil
    ) -> JSONValue {
        chunk([
            ("index", .integer(index)), ("text", .text(text)),
            ("logprobs", logprobs ?? .null),
            ("finish_reason", finish.map { .text($0.rawValue) } ?? .null),
        ])
    }

    private func chunk(_ choice: [(String, JSONValue)]) -> JSONValue {
        var fields = head(isChunk: true) + [("choices", .list([.fields(choice)]))]
        if format.includesUsage { fields.append(("usage", .null)) }
        return .fields(fields)
    }

    private func head(isChunk: Bool) -> [(String, JSONValue)] {
        let object =
            switch format.kind {
            case .chat: isChunk ? "chat.completion.chunk" : "chat.completion"
            case .completion: "text_completion"
            }
        return [
            ("id", .text(format.id)), ("object", .text(object)),
            ("created", .integer(format.created)), ("model", .text(format.model)),
        ]
    }

    // MARK: Whole answers

    /// Keeps a piece for the whole answer.
    mutating func keep(_ index: Int, _ piece: AnswerPiece) {
        choices[index].text += piece.text
        choices[index].records += piece.tokens
        choices[index].promptRecords += piece.promptTokens
        size += piece.text.utf8.count
        if let top = format.logprobs {
            size += (piece.tokens.count + piece.promptTokens.count) * (1 + top) * Self.tokenBytes
        }
        for event in piece.tools {
            switch event {
            case .text: break
            case .callBegan(_, let id, let name):
                size += Self.choiceBytes
                choices[index].calls.append(Call(id: id, name: name))
            case .arguments(let call, let more):
                size += more.utf8.count
                if choices[index].calls.indices.contains(call) {
                    choices[index].calls[call].arguments += more
                }
            }
        }
    }

    mutating func keep(_ index: Int, _ end: AnswerEnd) { choices[index].end = end }

    var whole: JSONValue {
        .fields(
            head(isChunk: false) + [
                ("choices", .list(choices.indices.map { wholeChoice($0) })), ("usage", usage),
            ])
    }

    private func wholeChoice(_ index: Int) -> JSONValue {
        let choice = choices[index]
        let finish: (String, JSONValue) = (
            "finish_reason", choice.end.map { .text($0.reason.rawValue) } ?? .null
        )
        switch format.kind {
        case .completion:
            var offsets = choice.offsets
            let logprobs = format.logprobs.map {
                names.completion(
                    choice.promptRecords + choice.records, top: $0,
                    offsets: offsets?.next(
                        prompt: choice.promptRecords, answer: choice.records) ?? [])
            }
            return .fields([
                ("index", .integer(index)), ("text", .text(choice.text)),
                ("logprobs", logprobs ?? .null), finish,
            ])
        case .chat:
            let isCall = !choice.calls.isEmpty
            var message: [(String, JSONValue)] = [
                ("role", .text("assistant")),
                ("content", isCall && choice.text.isEmpty ? .null : .text(choice.text)),
                ("refusal", .null),
            ]
            if isCall {
                message.append(
                    (
                        "tool_calls",
                        .list(
                            choice.calls.map { call in
                                .fields([
                                    ("id", .text(call.id)), ("type", .text("function")),
                                    (
                                        "function",
                                        .fields([
                                            ("name", .text(call.name)),
                                            ("arguments", .text(call.arguments)),
                                        ])
                                    ),
                                ])
                            })
                    ))
            }
            return .fields([
                ("index", .integer(index)), ("message", .fields(message)),
                (
                    "logprobs", format.logprobs.map { names.chat(choice.records, top: $0) } ?? .null
                ), finish,
            ])
        }
    }

    /// A prompt counts once, however many answers it has.
    var usage: JSONValue {
        let ends = choices.map(\.end)
        let firsts = stride(from: 0, to: ends.count, by: format.choices).compactMap { ends[$0] }
        let prompt = firsts.reduce(0) { $0 + $1.promptTokens }
        let cached = firsts.reduce(0) { $0 + $1.cachedTokens }
        let answer = ends.reduce(0) { $0 + ($1?.answerTokens ?? 0) }
        return .fields([
            ("prompt_tokens", .integer(prompt)), ("completion_tokens", .integer(answer)),
            ("total_tokens", .integer(prompt + answer)),
            ("prompt_tokens_details", .fields([("cached_tokens", .integer(cached))])),
        ])
    }
}
