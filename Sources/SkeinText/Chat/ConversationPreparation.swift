import SkeinJSON

/// What becomes of a conversation before the model's template sees it: the same for the rows of
/// training, for prompts, and for requests.
///
/// - Speakers get the names that templates know (`ChatRole`); a developer is the system of a
///   template that knows no developer.
/// - A content that is a list of text parts is one text, with a line break between parts, unless the
///   template makes the same of both; and the other way round for one that takes parts alone.
/// - An end-of-turn token that an assistant's content ends with is taken off: the template writes it.
/// - Calls, results and tools become what the template takes (`withTools`).
package struct ConversationPreparation: Sendable {
    /// How answers with calls are read.
    package let format: ToolFormat
    let habits: TemplateHabits
    /// The texts of the tokens that can end a turn.
    private let ends: [[UInt8]]
    /// The texts in the template's code, among them the names of speakers.
    private let literals: Set<[UInt8]>

    /// Who asks for a conversation.
    package enum Use: Sendable {
        /// The answer will be read as calls in `format`.
        case answer
        /// The conversation is learned, or only looked at.
        case text
    }

    package init(_ template: ChatTemplate, _ tokenizer: Tokenizer) {
        self.init(
            template, tokens: tokenizer.templateTokens,
            ends: tokenizer.endOfTurnIDs.sorted().map { tokenizer.decode([$0]) })
    }

    /// - Parameters:
    ///   - template: of the model.
    ///   - tokens: its `bos_token` and `eos_token`.
    ///   - ends: texts that end a turn.
    package init(_ template: ChatTemplate, tokens: TemplateTokens, ends: [String]) {
        let probe = TemplateProbe(template, tokens)
        format = probe.format
        habits = probe.habits
        literals = template.literals
        self.ends = ends.map { Array($0.utf8) }.filter { !$0.isEmpty }
    }

    /// Whether templates, or this one, know a speaker of this name.
    package func knowsRole(_ name: String) -> Bool {
        ChatRole.isUsual(name) || literals.contains(Array(name.utf8))
    }

    /// What to give the template.
    ///
    /// - Parameters:
    ///   - messages: of the conversation.
    ///   - tools: a list of definitions; nil or empty: none are shown.
    ///   - use: what for.
    /// - Returns: the messages, each with the place of the one that it is made of (nil: it explains
    ///   the tools), and the tools if the template shows them.
    /// - Throws: `ToolProblem`.
    package func prepared(
        _ messages: [ChatMessage], tools: JSONValue?, for use: Use
    ) throws(ToolProblem) -> (messages: [(message: ChatMessage, place: Int?)], tools: JSONValue?) {
        try withTools(messages.map(cleaned), tools: tools.map(Self.wrapped), for: use)
    }

    /// Definitions as OpenAI has them: a function alone gets what stands around it.
    private static func wrapped(_ tools: JSONValue) -> JSONValue {
        guard case .list(let items) = tools else { return tools }
        return .list(
            items.map { item in
                guard item["name"]?.string != nil, item["function"] ?? .null == .null,
                    item["type"] == nil || item["type"] == .text("function")
                else { return item }
                let own = (item.fields ?? []).filter {
                    $0.name != "type" && $0.name != "function"
                }
                return .object([
                    JSONField(name: "type", value: .text("function")),
                    JSONField(name: "function", value: .object(own)),
                ])
            })
    }

    private func cleaned(_ message: ChatMessage) -> ChatMessage {
        var message = message
        var role = ChatRole.canonical(message.role)
        if role == "developer", !literals.contains(Array("developer".utf8)) { role = "system" }
        if !role.isSame(as: message.role) { message.set("role", .text(role)) }
        if role == "assistant" { cutEnd(of: &message) }
        switch (message["content"], habits.contents) {
        // Parts of other kinds are the template's to refuse.
        case (.list(let parts)?, .text) where parts.allSatisfy { $0["text"]?.string != nil }:
            message.set("content", .text(JSONValue.list(parts).contentText))
        case (.text(let text)?, .parts): message.set("content", .list([.textPart(text)]))
        default: break
        }
        return message
    }

    private func cutEnd(of message: inout ChatMessage) {
        switch message["content"] {
        case .text(let text)?:
            if let cut = withoutEnd(text) { message.set("content", .text(cut)) }
        case .list(var parts)?:
            if let index = parts.lastIndex(where: { $0["text"]?.string != nil }),
                case .object(let fields) = parts[index],
                let cut = withoutEnd(parts[index]["text"]?.string ?? "")
            {
                var part = ChatMessage(fields: fields)
                part.set("text", .text(cut))
                parts[index] = .object(part.fields)
                message.set("content", .list(parts))
            }
        default: break
        }
    }

    /// A text without the end of turn that it ends with, and without white space after that; nil if
    /// it ends with none.
    private func withoutEnd(_ text: String) -> String? {
        let bytes = text.utf8
        var end = bytes.endIndex
        while end > bytes.startIndex {
            let before = bytes.index(before: end)
            guard [0x20, 0x09, 0x0A, 0x0D].contains(bytes[before]) else { break }
            end = before
        }
        let body = bytes[..<end]
        guard let found = ends.first(where: { body.suffix($0.count).elementsEqual($0) }) else {
            return nil
        }
        return String(decoding: body.dropLast(found.count), as: UTF8.self)
    }
}
