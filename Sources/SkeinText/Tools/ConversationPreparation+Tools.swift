import SkeinJSON

extension ConversationPreparation {
    /// What to give the model's template: the messages, and the tools if it shows them.
    ///
    /// The JSON text of a call's arguments becomes an object, which templates write; results gain the
    /// name of their call. Where the template does not write calls, they are put into the text.
    ///
    /// - Parameters:
    ///   - messages: of the conversation. What is no call or result stays as it is.
    ///   - tools: a list of definitions; nil or empty: none are shown.
    ///   - use: what for.
    /// - Returns: what `ChatTemplate.render` takes, each message with the place of the one that it is
    ///   made of; of several results in one turn the first. nil: it explains the tools.
    /// - Throws: `ToolProblem`.
    func withTools(
        _ messages: [ChatMessage], tools: JSONValue?, for use: Use
    ) throws(ToolProblem) -> (messages: [(message: ChatMessage, place: Int?)], tools: JSONValue?) {
        let shown = tools?.list ?? []
        let isNative = writesCalls(beside: !shown.isEmpty, for: use)
        let describes = describesTools(for: use)
        var history = ToolHistory(format.idStyle)
        var result: [(message: ChatMessage, place: Int?)] = []
        // Results of a turn that further ones join.
        var open: [String] = []
        func close() {
            guard !open.isEmpty, let (_, place) = result.popLast() else { return }
            result.append((ChatMessage(role: "user", content: open.joined(separator: "\n")), place))
            open = []
        }
        for (index, message) in messages.enumerated() {
            switch message.role {
            case "assistant":
                close()
                let calls = try history.calls(of: message, at: "messages[\(index)]")
                result.append((turn(message, calls, isNative: isNative), index))
            case "tool":
                let call = history.call(of: message)
                // Results of calls that were put into the text, or that the template would leave out.
                guard case .described = format.showing, !isNative,
                    history.hasCalls || !habits.writesResults
                else {
                    close()
                    result.append((answer(message, call), index))
                    continue
                }
                let text = message["content"]?.contentText ?? ""
                if open.isEmpty { result.append((message, index)) }
                open.append("<tool_response>\n\(text)\n</tool_response>")
            default:
                close()
                result.append((message, index))
            }
        }
        close()
        guard !shown.isEmpty else { return (result, nil) }
        if describes, case .described(let takesSystem) = format.showing {
            return (describe(shown, in: result, takesSystem: takesSystem), nil)
        }
        return (result, tools)
    }

    /// Whether calls are left to the template.
    private func writesCalls(beside tools: Bool, for use: Use) -> Bool {
        switch format.showing {
        case .template: true
        case .templateWithoutCalls: false
        // It writes calls in a way that is not known here, so that answers are not read in it.
        case .described:
            habits.writesCalls && (!tools || use == .text) || habits.readsCalls && use == .text
        }
    }

    /// Whether tools are explained in a message: where the template does not show them, or in a way
    /// that no answer is read in.
    private func describesTools(for use: Use) -> Bool {
        guard case .described = format.showing else { return false }
        return use == .answer || !habits.showsTools && !habits.readsTools
    }

    /// Whether the template leaves out the calls or the words of a turn that has both.
    package func losesPart(of message: ChatMessage, tools: Bool, for use: Use) -> Bool {
        message.role == "assistant" && habits.writesCalls && !habits.writesCallsBesideWords
            && writesCalls(beside: tools, for: use)
            && message["tool_calls"]?.list?.isEmpty == false
            && !(message["content"] ?? .null).contentText.isEmpty
    }

    /// A model's turn with its calls.
    private func turn(
        _ message: ChatMessage, _ calls: [ToolHistory.Call], isNative: Bool
    ) -> ChatMessage {
        var turn = message
        guard !calls.isEmpty else {
            turn.fields.removeAll { $0.name.isSame(as: "tool_calls") }
            return turn
        }
        if isNative {
            let content = message["content"] ?? .null
            switch habits.callContent {
            case .asGiven: break
            case .text where content == .null: turn.set("content", .text(""))
            case .null where content == .text(""): turn.set("content", .null)
            default: break
            }
            turn.set("tool_calls", .list(calls.map { $0.shown(asText: habits.argumentsAsText) }))
            return turn
        }
        turn.fields.removeAll { $0.name.isSame(as: "tool_calls") }
        let written = calls.map {
            #"{"name": \#(JSONValue.quoted($0.name)), "\#(format.argumentsKey)": \#($0.written)}"#
        }
        // A model that takes one call a turn still sees what was said.
        let text =
            format.opening
            + written.joined(separator: format.callEnd + (format.callNext ?? "\n"))
            + format.callEnd + format.listEnd
        let content = message["content"]?.contentText ?? ""
        turn.set("content", .text(content.isEmpty ? text : "\(content)\n\(text)"))
        return turn
    }

    /// A result as a template takes it.
    private func answer(
        _ message: ChatMessage, _ call: (id: String?, name: String?)
    ) -> ChatMessage {
        var answer = message
        if case .list? = message["content"] {
            answer.set("content", .text(message["content"]?.contentText ?? ""))
        }
        if let id = call.id { answer.set("tool_call_id", .text(id)) }
        if let name = call.name, message["name"]?.string == nil { answer.set("name", .text(name)) }
        return answer
    }

    /// Explains tools in a system message, or at the beginning of the first turn.
    private func describe(
        _ tools: [JSONValue], in messages: [(message: ChatMessage, place: Int?)],
        takesSystem: Bool
    ) -> [(message: ChatMessage, place: Int?)] {
        let definitions = tools.map(\.pythonText).joined(separator: "\n")
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
        let first = messages.first?.message
        let isSystem = first?.role == "system" || first?.role == "developer"
        if let first, isSystem || !takesSystem && first.role == "user" {
            let given = first["content"]?.contentText ?? ""
            messages[0].message.set(
                "content",
                .text(
                    (isSystem ? [given, text] : [text, given]).filter { !$0.isEmpty }.joined(
                        separator: "\n\n")))
        } else {
            messages.insert(
                (ChatMessage(role: takesSystem ? "system" : "user", content: text), nil), at: 0)
        }
        return messages
    }
}

extension ToolHistory.Call {
    /// The call as templates take it: as it came, but for its name and its arguments.
    fileprivate func shown(asText: Bool) -> JSONValue {
        let arguments: JSONValue = asText ? .text(written) : self.arguments
        func set(_ fields: [JSONField], _ name: String, _ value: JSONValue) -> [JSONField] {
            var message = ChatMessage(fields: fields)
            message.set(name, value)
            return message.fields
        }
        guard let function = item["function"]?.fields else {
            return .object(set(item.fields ?? [], "arguments", arguments))
        }
        var fields = item.fields ?? []
        if let id { fields = set(fields, "id", .text(id)) }
        if item["type"] == nil { fields = set(fields, "type", .text("function")) }
        return .object(set(fields, "function", .object(set(function, "arguments", arguments))))
    }
}
