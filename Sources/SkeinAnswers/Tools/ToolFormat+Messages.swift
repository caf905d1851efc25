import SkeinText

extension ToolFormat {
    /// What to give the model's template: the messages, and the tools if it shows them.
    ///
    /// The JSON text of a call's arguments becomes an object, which templates write; results gain the
    /// name of their call. Where the template does not write calls, they are put into the text.
    ///
    /// - Parameters:
    ///   - messages: as the client sent them.
    ///   - tools: of the request.
    ///   - choice: with `.none`, tools are not shown.
    /// - Returns: what `ChatTemplate.render` takes.
    /// - Throws: `ToolProblem`.
    package func prepared(
        messages: [ChatMessage], tools: [Tool], choice: ToolChoice
    ) throws -> (messages: [ChatMessage], tools: ChatJSON?) {
        let shown = choice == .none ? [] : tools
        var history = ToolHistory(idStyle)
        var result: [ChatMessage] = []
        // Whether the last message is a turn of results that further ones join.
        var isOpen = false
        for (index, message) in messages.enumerated() {
            switch message.role {
            case "assistant":
                isOpen = false
                let calls = try history.calls(of: message, at: "messages[\(index)]")
                result.append(turn(message, calls))
            case "tool":
                let call = history.call(of: message)
                let text = message["content"]?.contentText ?? ""
                guard case .described = showing else {
                    result.append(answer(message, text, call))
                    continue
                }
                let written = "<tool_response>\n\(text)\n</tool_response>"
                if isOpen, let last = result.popLast() {
                    let before = last["content"]?.string ?? ""
                    result.append(ChatMessage(role: "user", content: "\(before)\n\(written)"))
                } else {
                    result.append(ChatMessage(role: "user", content: written))
                }
                isOpen = true
            default:
                isOpen = false
                result.append(message)
            }
        }
        guard !shown.isEmpty else { return (result, nil) }
        if case .described(let takesSystem) = showing {
            return (try describe(shown, in: result, takesSystem: takesSystem), nil)
        }
        return (result, .list(try shown.map { try $0.shown }))
    }

    /// A model's turn with its calls.
    private func turn(_ message: ChatMessage, _ calls: [ToolHistory.Call]) -> ChatMessage {
        var turn = message
        turn.fields.removeAll { $0.name == "tool_calls" }
        guard !calls.isEmpty else { return turn }
        let content = message["content"]?.contentText ?? ""
        switch showing {
        case .template:
            turn.set("content", .text(content))
            turn.set("tool_calls", .list(calls.map(\.shown)))
        case .templateWithoutCalls, .described:
            let written = calls.map {
                #"{"name": "\#($0.name)", "\#(argumentsKey)": \#($0.written)}"#
            }
            // A model that takes one call a turn still sees what was said.
            let text =
                opening + written.joined(separator: callEnd + (callNext ?? "\n")) + callEnd
                + listEnd
            turn.set("content", .text(content.isEmpty ? text : "\(content)\n\(text)"))
        }
        return turn
    }

    /// A result as a template takes it.
    private func answer(
        _ message: ChatMessage, _ text: String, _ call: (id: String, name: String?)
    ) -> ChatMessage {
        var answer = message
        answer.set("content", .text(text))
        answer.set("tool_call_id", .text(call.id))
        if let name = call.name, message["name"]?.string == nil { answer.set("name", .text(name)) }
        return answer
    }

    /// Explains tools in a system message, or at the beginning of the first turn.
    private func describe(
        _ tools: [Tool], in messages: [ChatMessage], takesSystem: Bool
    ) throws -> [ChatMessage] {
        let definitions = try tools.map { try $0.shown.written }.joined(separator: "\n")
        let text = """
            You can call functions. These are described below as JSON, one in each line, between \
            <tools> and </tools>.
            <tools>
            \(definitions)
            </tools>

            To call a function, write a JSON object with its name and its arguments between \
            <tool_call> and </tool_call>, like this:
            <tool_call>
            {"name": "FUNCTION", "arguments": {"ARGUMENT": "VALUE"}}
            </tool_call>
            What the function returns is given to you between <tool_response> and </tool_response>.
            """
        var messages = messages
        let first = messages.first
        let isSystem = first?.role == "system" || first?.role == "developer"
        if let first, isSystem || !takesSystem && first.role == "user" {
            let given = first["content"]?.contentText ?? ""
            messages[0].set(
                "content",
                .text(
                    (isSystem ? [given, text] : [text, given]).filter { !$0.isEmpty }.joined(
                        separator: "\n\n")))
        } else {
            messages.insert(
                ChatMessage(role: takesSystem ? "system" : "user", content: text), at: 0)
        }
        return messages
    }
}

extension ToolHistory.Call {
    /// The call as templates take it.
    fileprivate var shown: ChatJSON {
        .object([
            ChatMessage.Field(name: "id", value: .text(id)),
            ChatMessage.Field(name: "type", value: .text("function")),
            ChatMessage.Field(
                name: "function",
                value: .object([
                    ChatMessage.Field(name: "name", value: .text(name)),
                    ChatMessage.Field(name: "arguments", value: arguments),
                ])),
        ])
    }
}

extension ChatMessage {
    /// Sets a field at its place, or after the others.
    mutating func set(_ name: String, _ value: ChatJSON) {
        if let index = fields.firstIndex(where: { $0.name == name }) {
            fields[index].value = value
        } else {
            fields.append(Field(name: name, value: value))
        }
    }
}
