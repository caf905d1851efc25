import SkeinJSON
import SkeinText

/// Reads a row's `messages` (as OpenAI has them), `conversations` (as ShareGPT has them), or
/// `prompt` and `completion` that are lists of messages (as trl has them).
struct ConversationReader {
    let object: [JSONField]
    let fields: RowFields

    /// - Parameter form: prompt and completion, messages or conversations.
    /// - Returns: a conversation.
    /// - Throws: what is wrong with the row.
    func row(_ form: RowForm) throws(LineProblem) -> PairRow {
        let turns =
            switch form {
            case .pair: try promptAndCompletion()
            case .messages: try list(.messages)
            default: try list(.conversations)
            }
        return .conversation(try withSystem(turns), tools: try tools())
    }

    private subscript(_ part: RowFields.Part) -> JSONValue? { object[fields.key(part)] }

    /// A system that stands beside the row's turns is the first of them; nil if there is none.
    func system() throws(LineProblem) -> ChatTurn? {
        switch self[.system] {
        case nil, .null?, .text("")?: return nil
        case .text(let text)?: return ChatTurn(role: "system", content: text)
        case .some(let other):
            throw .wrongType(
                field: fields.key(.system), expected: "a string", found: other.kind)
        }
    }

    private func withSystem(_ turns: [ChatTurn]) throws(LineProblem) -> [ChatTurn] {
        guard let system = try system() else { return turns }
        guard let first = turns.first, ["system", "developer"].contains(first.role) else {
            return [system] + turns
        }
        let own = (first.message["content"] ?? .null).contentText
        guard own.isSame(as: system.content) else {
            throw .twoSystems(field: fields.key(.system))
        }
        return turns
    }

    /// `tools` is a list, or JSON text of one.
    func tools() throws(LineProblem) -> JSONValue? {
        var value = self[.tools] ?? .null
        let problem = LineProblem.wrongType(
            field: fields.key(.tools), expected: "a list", found: value.kind)
        if case .text(let text) = value {
            do {
                value = text.isEmpty ? .null : try JSONValue(parsing: text.utf8)
            } catch {
                throw problem
            }
        }
        switch value {
        case .null, .list([]), .object([]), .bool(false):
            // A key of this name may be anything else.
            if case .list(let functions)? = object["functions"], !functions.isEmpty,
                functions.allSatisfy({
                    $0["name"]?.string != nil && $0["parameters"]?.fields != nil
                })
            {
                throw .olderCall(field: "functions")
            }
            return nil
        case .list:
            try checkDepth(of: value, fields.key(.tools))
            return value
        default: throw problem
        }
    }

    /// A template's values go no deeper.
    private func checkDepth(of value: JSONValue, _ field: String) throws(LineProblem) {
        guard value.depth <= TemplateLimits.valueDepth else {
            throw .tooDeep(field: field, limit: TemplateLimits.valueDepth)
        }
    }

    private func items(
        _ field: String, _ value: JSONValue
    ) throws(LineProblem) -> [JSONValue] {
        guard case .list(let items) = value else {
            throw .wrongType(field: field, expected: "a list", found: value.kind)
        }
        guard !items.isEmpty, items.count <= Limits.turns else {
            throw .messageCount(found: items.count, limit: Limits.turns)
        }
        return items
    }

    // MARK: - messages

    private func list(_ part: RowFields.Part) throws(LineProblem) -> [ChatTurn] {
        try turns(self[part] ?? .null, field: fields.key(part))
    }

    private func turns(
        _ value: JSONValue, field: String
    ) throws(LineProblem) -> [ChatTurn] {
        var turns: [ChatTurn] = []
        for (index, item) in try items(field, value).enumerated() {
            let place = "\(field)[\(index)]"
            guard case .object(let fields) = item else {
                throw .wrongType(field: place, expected: "an object", found: item.kind)
            }
            let isTrained = try Self.isTrained(item, place)
            // As ShareGPT has it; data sets mix the keys of both.
            let isShared =
                item["from"]?.string != nil
                && (item["role"]?.string == nil || item["content"] ?? .null == .null)
            let message = try isShared ? shared(item, place) : self.message(item, fields, place)
            try checkDepth(of: .object(message.fields), place)
            try checkCalls(of: message, place)
            turns.append(ChatTurn(message: message, isTrained: isTrained))
        }
        return turns
    }

    private func message(
        _ item: JSONValue, _ fields: [JSONField], _ place: String
    ) throws(LineProblem) -> ChatMessage {
        let role = try string("role", of: item, place)
        // Exporters write an empty one for none.
        if case .object(let call)? = item["function_call"], !call.isEmpty {
            throw .olderCall(field: "\(place).function_call")
        }
        try checkContent(of: item, place)
        if role.lowercased() == ChatRole.caller, let text = item["content"]?.string {
            return try Self.call(text, "\(place).content")
        }
        // What is null is absent, as in Parquet and for the server, but for the content.
        var message = ChatMessage(
            fields: fields.filter {
                !Self.own.contains($0.name) && ($0.name == "content" || $0.value != .null)
            })
        message.set("role", .text(ChatRole.canonical(role)))
        return message
    }

    /// Fields that say whether a turn is learned; the template does not see them.
    private static let own: Set = ["weight", "train"]

    /// The arguments of calls are objects, or the JSON text of some.
    private func checkCalls(of message: ChatMessage, _ place: String) throws(LineProblem) {
        guard message.role == "assistant" else { return }
        var history = ToolHistory(.openAI)
        do throws(ToolProblem) {
            _ = try history.calls(of: message, at: place)
        } catch {
            throw .badCalls(problem: error)
        }
    }

    /// A row of prompt, chosen and rejected that are lists of messages, or of the latter two alone.
    ///
    /// - Parameter isWhole: whether answers are whole conversations, whose common beginning is the prompt.
    /// - Returns: two conversations.
    /// - Throws: what is wrong with the row.
    func preference(isWhole: Bool) throws(LineProblem) -> PairRow {
        let tools = try tools()
        if !isWhole {
            return .preference(
                chosen: .conversation(
                    try withSystem(try promptAndCompletion(.chosen)), tools: tools),
                rejected: .conversation(
                    try withSystem(try promptAndCompletion(.rejected)), tools: tools))
        }
        var sides: [[ChatTurn]] = []
        for part in [RowFields.Part.chosen, .rejected] {
            let field = fields.key(part)
            guard let value = self[part] else { throw .missing(field: field) }
            sides.append(try withSystem(try turns(value, field: field)))
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
        _ message: JSONValue, _ place: String
    ) throws(LineProblem) -> Bool {
        var isTrained = true
        for field in ["weight", "train"] {
            switch message[field] {
            case nil, .null, .bool(true): break
            case .bool(false): isTrained = false
            case .some(let value):
                switch value.double {
                case 1: break
                case 0: isTrained = false
                case .some: throw .unsupported(field: "\(place).\(field)")
                case nil:
                    throw .wrongType(
                        field: "\(place).\(field)", expected: "0 or 1", found: value.kind)
                }
            }
        }
        return isTrained
    }

    /// A content is a text, a list of text parts, or nothing beside tool calls.
    private func checkContent(of message: JSONValue, _ place: String) throws(LineProblem) {
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
        _ field: String, of object: JSONValue, _ place: String
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

    private func shared(_ item: JSONValue, _ place: String) throws(LineProblem) -> ChatMessage {
        let from = try string("from", of: item, place)
        let value = try string("value", of: item, place)
        if from.lowercased() == ChatRole.caller { return try Self.call(value, "\(place).value") }
        var message = ChatMessage(role: ChatRole.canonical(from), content: value)
        let read = Self.own.union(["from", "value", "role", "content"])
        message.fields += (item.fields ?? []).filter {
            !read.contains($0.name) && $0.value != .null
        }
        return message
    }

    /// A call is JSON with `name` and `arguments`, or a list of such.
    private static func call(_ text: String, _ place: String) throws(LineProblem) -> ChatMessage {
        func problem(_ found: String) -> LineProblem {
            .wrongType(field: place, expected: "a call with a name, as JSON", found: found)
        }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: text.utf8)
        } catch {
            throw problem("text that is not JSON")
        }
        let calls = value.list ?? [value]
        if let bad = calls.first(where: { $0["name"]?.string == nil }) { throw problem(bad.kind) }
        let functions = calls.map { call in
            JSONValue.object([
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
