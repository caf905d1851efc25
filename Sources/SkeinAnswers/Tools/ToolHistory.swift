import SkeinText

/// The calls and results of a conversation, as they came, one message after the other.
package struct ToolHistory {
    package struct Call {
        package var id: String
        package var name: String
        package var arguments: ChatJSON
        /// The JSON text of the arguments, as it came.
        package var written: String
    }

    package let idStyle: CallID.Style
    private var names: [String: String] = [:]
    /// Calls without a result so far, oldest first.
    private var open: [String] = []
    private var count = 0

    package init(_ idStyle: CallID.Style) {
        self.idStyle = idStyle
    }

    /// The calls of a message.
    ///
    /// - Throws: `ToolProblem`.
    package mutating func calls(
        of message: ChatMessage, at path: String
    ) throws(ToolProblem) -> [Call] {
        let path = "\(path).tool_calls"
        let items: [ChatJSON]
        switch message["tool_calls"] {
        case nil, .null?: return []
        case .list(let list)?: items = list
        default: throw ToolProblem(path: path, flaw: .wrongType(expected: "a list"))
        }
        guard items.count <= ToolLimits.calls else {
            throw ToolProblem(
                path: path, flaw: .tooMany(found: items.count, limit: ToolLimits.calls))
        }
        open = []
        var calls: [Call] = []
        for (index, item) in items.enumerated() {
            let call = try call(item, at: "\(path)[\(index)]")
            names[call.id] = call.name
            open.append(call.id)
            calls.append(call)
        }
        return calls
    }

    private mutating func call(_ item: ChatJSON, at path: String) throws(ToolProblem) -> Call {
        guard let name = item["function"]?["name"]?.string else {
            throw ToolProblem(
                path: "\(path).function.name", flaw: .missing(expected: "the tool's name"))
        }
        count += 1
        let given = item["id"]?.string ?? "call \(count)"
        let (arguments, written) = try Self.arguments(
            item["function"]?["arguments"], at: "\(path).function.arguments")
        return Call(
            id: CallID.restyled(given, idStyle), name: name, arguments: arguments,
            written: written)
    }

    private static func arguments(
        _ value: ChatJSON?, at path: String
    ) throws(ToolProblem) -> (ChatJSON, String) {
        switch value {
        case nil, .null?, .text("")?: return (.object([]), "{}")
        case .object?: return (value ?? .null, (value ?? .null).written)
        case .text(let text)?:
            let parsed: ChatJSON
            do {
                parsed = try ChatJSON(parsing: text.utf8)
            } catch {
                if case .tooDeep(let limit)? = error as? ChatJSONError {
                    throw ToolProblem(path: path, flaw: .tooDeep(limit: limit))
                }
                throw ToolProblem(path: path, flaw: .badArguments)
            }
            guard case .object = parsed else {
                throw ToolProblem(path: path, flaw: .badArguments)
            }
            return (parsed, text)
        default: throw ToolProblem(path: path, flaw: .badArguments)
        }
    }

    /// The call that a result belongs to: the one that it names, or the oldest without a result.
    package mutating func call(of result: ChatMessage) -> (id: String, name: String?) {
        let given = result["tool_call_id"]?.string.map { CallID.restyled($0, idStyle) }
        let id = given ?? open.first ?? CallID.restyled("result", idStyle)
        open.removeAll { $0 == id }
        return (id, names[id])
    }
}

extension ChatJSON {
    subscript(_ name: String) -> ChatJSON? {
        guard case .object(let fields) = self else { return nil }
        return fields.first { $0.name == name }?.value
    }

    /// The text of a content: itself, or its text parts one after the other.
    var contentText: String {
        switch self {
        case .text(let text): text
        case .list(let parts): parts.map { $0["text"]?.string ?? "" }.joined()
        case .null: ""
        default: written
        }
    }
}
