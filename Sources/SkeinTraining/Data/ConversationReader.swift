import SkeinText

/// Reads a line's `messages` (as OpenAI has them), `conversations` (as ShareGPT has them), or
/// `prompt` and `completion` that are lists of messages (as trl has them).
///
/// The line is read once more, because a template may write a tool's schema or a call's arguments,
/// whose fields must keep their order.
struct ConversationReader {
    private let object: ChatJSON
    private let fields: RowFields

    init(line: UnsafeRawBufferPointer, fields: RowFields) throws(LineProblem) {
        self.fields = fields
        do {
            object = try ChatJSON(parsing: line)
        } catch ChatJSONError.tooDeep(let limit) {
            throw .notJSON(detail: "more than \(limit) nested lists and objects")
        } catch ChatJSONError.malformed(let offset) {
            throw .notJSON(detail: "at byte \(offset)")
        } catch {
            throw .notJSON(detail: "\(error)")
        }
    }

    /// - Parameter form: prompt and completion, messages or conversations.
    /// - Returns: a conversation.
    /// - Throws: what is wrong with the row.
    func row(_ form: RowForm) throws(LineProblem) -> PairRow {
        let turns =
            switch form {
            case .pair: try promptAndCompletion()
            case .messages:
                try turns(self[.messages] ?? .null, field: fields.key(.messages))
            default: try sharedTurns()
            }
        return .conversation(turns, tools: try tools(self[.tools]))
    }

    private subscript(_ part: RowFields.Part) -> ChatJSON? { object[fields.key(part)] }

    /// `tools` is a list, or JSON text of one.
    private func tools(_ value: ChatJSON?) throws(LineProblem) -> ChatJSON? {
        var value = value ?? .null
        if case .text(let text) = value {
            value = text.isEmpty ? .null : (try? ChatJSON(parsing: text.utf8)) ?? value
        }
        switch value {
        case .null, .list([]): return nil
        case .list: return value
        default: throw .wrongType(field: fields.key(.tools), expected: "a list", found: value.kind)
        }
    }

    private func items(
        _ field: String, _ value: ChatJSON
    ) throws(LineProblem) -> [ChatJSON] {
        guard case .list(let items) = value else {
            throw .wrongType(field: field, expected: "a list", found: value.kind)
        }
        guard !items.isEmpty, items.count <= Limits.turns else {
            throw .messageCount(found: items.count, limit: Limits.turns)
        }
        return items
    }

    // MARK: - messages

    private func turns(
        _ value: ChatJSON, field: String
    ) throws(LineProblem) -> [ChatTurn] {
        var turns: [ChatTurn] = []
        for (index, item) in try items(field, value).enumerated() {
            let place = "\(field)[\(index)]"
            guard case .object(let fields) = item else {
                throw .wrongType(field: place, expected: "an object", found: item.kind)
            }
            _ = try string("role", of: item, place)
            let isTrained = try Self.isTrained(item, place)
            try checkContent(of: item, place)
            turns.append(
                ChatTurn(
                    message: ChatMessage(
                        fields: fields.filter { $0.name != "weight" && $0.name != "train" }),
                    isTrained: isTrained))
        }
        return turns
    }

    /// A row of prompt, chosen and rejected that are lists of messages, or of the latter two alone.
    ///
    /// - Parameter isWhole: whether answers are whole conversations, whose common beginning is the prompt.
    /// - Returns: two conversations.
    /// - Throws: what is wrong with the row.
    func preference(isWhole: Bool) throws(LineProblem) -> PairRow {
        let tools = try tools(self[.tools])
        if !isWhole {
            return .preference(
                chosen: .conversation(try promptAndCompletion(.chosen), tools: tools),
                rejected: .conversation(try promptAndCompletion(.rejected), tools: tools))
        }
        var sides: [[ChatTurn]] = []
        for part in [RowFields.Part.chosen, .rejected] {
            let field = fields.key(part)
            guard let value = self[part] else { throw .missing(field: field) }
            sides.append(try turns(value, field: field))
        }
        let common = zip(sides[0], sides[1]).prefix { $0.message == $1.message }.count
        let (chosen, rejected) = (sides[0], sides[1])
        // Without a question, answers alone would be learned.
        guard chosen.prefix(common).contains(where: { !$0.isAssistant }) else {
            throw .noCommonPrompt
        }
        func answered(_ turns: [ChatTurn]) -> PairRow {
            .conversation(
                turns.enumerated().map { index, turn in
                    ChatTurn(message: turn.message, isTrained: index >= common && turn.isTrained)
                }, tools: tools)
        }
        return .preference(chosen: answered(chosen), rejected: answered(rejected))
    }

    /// The prompt's turns are context, also the assistant's.
    private func promptAndCompletion(
        _ answer: RowFields.Part = .completion
    ) throws(LineProblem) -> [ChatTurn] {
        var turns: [ChatTurn] = []
        for part in [RowFields.Part.prompt, answer] {
            let field = fields.key(part)
            guard let value = self[part] else { throw .missing(field: field) }
            guard case .list = value else {
                let other = fields.key(part == .prompt ? answer : .prompt)
                throw .wrongType(
                    field: field, expected: "a list of messages, as \(other) is", found: value.kind)
            }
            turns += try self.turns(value, field: field).map {
                ChatTurn(message: $0.message, isTrained: part == answer && $0.isTrained)
            }
        }
        guard turns.count <= Limits.turns else {
            throw .messageCount(found: turns.count, limit: Limits.turns)
        }
        return turns
    }

    /// `weight` is 0 or 1, `train` false or true; 1 when there is neither.
    private static func isTrained(
        _ message: ChatJSON, _ place: String
    ) throws(LineProblem) -> Bool {
        var isTrained = true
        for field in ["weight", "train"] {
            switch message[field] {
            case nil, .null, .integer(1), .number(1), .bool(true): break
            case .integer(0), .number(0), .bool(false): isTrained = false
            case .integer, .number: throw .unsupported(field: "\(place).\(field)")
            case .some(let other):
                throw .wrongType(
                    field: "\(place).\(field)", expected: "0 or 1", found: other.kind)
            }
        }
        return isTrained
    }

    /// A content is a text, a list of text parts, or nothing beside tool calls.
    private func checkContent(of message: ChatJSON, _ place: String) throws(LineProblem) {
        switch message["content"] {
        case .text: break
        case .list(let parts):
            for (index, part) in parts.enumerated() {
                let place = "\(place).content[\(index)]"
                if try string("type", of: part, place) != "text" {
                    throw .unsupported(field: place)
                }
                _ = try string("text", of: part, place)
            }
        case nil, .null:
            let calls = message["tool_calls"] ?? .null
            if calls == .null || calls == .list([]) {
                guard let content = message["content"] else {
                    throw .missing(field: "\(place).content")
                }
                throw .wrongType(
                    field: "\(place).content", expected: "a string", found: content.kind)
            }
        case .some(let other):
            throw .wrongType(field: "\(place).content", expected: "a string", found: other.kind)
        }
    }

    private func string(
        _ field: String, of object: ChatJSON, _ place: String
    ) throws(LineProblem) -> String {
        guard case .object = object else {
            throw .wrongType(field: place, expected: "an object", found: object.kind)
        }
        guard let value = object[field] else { throw .missing(field: "\(place).\(field)") }
        guard let text = value.string else {
            throw .wrongType(
                field: "\(place).\(field)", expected: "a string", found: value.kind)
        }
        return text
    }

    // MARK: - conversations

    private func sharedTurns() throws(LineProblem) -> [ChatTurn] {
        var turns: [ChatTurn] = []
        if let system = self[.system]?.string, !system.isEmpty {
            turns.append(ChatTurn(role: "system", content: system))
        }
        let field = fields.key(.conversations)
        for (index, item) in try items(field, self[.conversations] ?? .null).enumerated() {
            let place = "\(field)[\(index)]"
            let from = try string("from", of: item, place)
            let value = try string("value", of: item, place)
            let isTrained = try Self.isTrained(item, place)
            var message = ChatMessage(role: Self.roles[from] ?? from, content: value)
            if from == "function_call" {
                message = try Self.call(value, "\(place).value")
            }
            turns.append(ChatTurn(message: message, isTrained: isTrained))
        }
        return turns
    }

    private static let roles = [
        "human": "user", "gpt": "assistant", "observation": "tool", "function_response": "tool",
        "chatgpt": "assistant", "bard": "assistant", "bing": "assistant",
    ]

    /// A call is JSON with `name` and `arguments`, or a list of such.
    private static func call(_ text: String, _ place: String) throws(LineProblem) -> ChatMessage {
        let value = (try? ChatJSON(parsing: text.utf8)) ?? .null
        var calls: [ChatJSON] = [value]
        if case .list(let several) = value { calls = several }
        for call in calls where call["name"]?.string == nil {
            throw .wrongType(
                field: place, expected: "a call with a name, as JSON", found: call.kind)
        }
        let functions = calls.map { call in
            ChatJSON.object([
                .init(name: "type", value: .text("function")),
                .init(name: "function", value: call),
            ])
        }
        return ChatMessage(fields: [
            .init(name: "role", value: .text("assistant")),
            .init(name: "content", value: .text("")),
            .init(name: "tool_calls", value: .list(functions)),
        ])
    }
}

extension ChatJSON {
    fileprivate subscript(_ name: String) -> ChatJSON? {
        guard case .object(let fields) = self else { return nil }
        return fields.first { $0.name == name }?.value
    }

    /// What kind of value this is, for errors.
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .text: "a string"
        case .list: "a list"
        case .object: "an object"
        }
    }
}
