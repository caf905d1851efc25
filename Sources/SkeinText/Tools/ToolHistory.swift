import SkeinJSON

/// The calls and results of a conversation, as they came, one message after the other.
package struct ToolHistory {
    package struct Call {
        /// As the model's templates want it; nil if it came without one, and none is needed.
        package var id: String?
        package var name: String
        package var arguments: JSONValue
        /// The JSON text of the arguments, as it came.
        package var written: String
        /// What came.
        var item: JSONValue
    }

    package let idStyle: CallID.Style
    private var names: [[UInt8]: String] = [:]
    /// Calls without a result so far, oldest first.
    private var open: [(id: String?, name: String)] = []
    private var count = 0

    /// Whether there was a call so far.
    var hasCalls: Bool { count > 0 }

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
        let items: [JSONValue]
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
            if let id = call.id { names[Array(id.utf8)] = call.name }
            open.append((call.id, call.name))
            calls.append(call)
        }
        return calls
    }

    /// A call is `{"type": "function", "function": {"name": ..., "arguments": ...}}`, or the inner
    /// object alone, which templates take, too.
    private mutating func call(_ item: JSONValue, at path: String) throws(ToolProblem) -> Call {
        let isBare = item["function"] == nil && item["name"] != nil
        let (function, path) = (
            isBare ? item : item["function"], isBare ? path : path + ".function"
        )
        guard let name = function?["name"]?.string else {
            throw ToolProblem(path: "\(path).name", flaw: .missing(expected: "the tool's name"))
        }
        count += 1
        // Templates of Mistral want one.
        let given = item["id"]?.string ?? (idStyle == .mistral ? "call \(count)" : nil)
        let (arguments, written) = try Self.arguments(
            function?["arguments"], at: "\(path).arguments")
        return Call(
            id: given.map { CallID.restyled($0, idStyle) }, name: name, arguments: arguments,
            written: written, item: item)
    }

    private static func arguments(
        _ value: JSONValue?, at path: String
    ) throws(ToolProblem) -> (JSONValue, String) {
        switch value {
        case nil, .null?, .text("")?: return (.object([]), "{}")
        case .object?: return (value ?? .null, (value ?? .null).pythonText)
        case .text(let text)?:
            let parsed: JSONValue
            do {
                parsed = try JSONValue(parsing: text.utf8)
            } catch {
                if case .tooDeep(let limit) = error.kind {
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
    package mutating func call(of result: ChatMessage) -> (id: String?, name: String?) {
        if let given = result["tool_call_id"]?.string {
            let id = CallID.restyled(given, idStyle)
            open.removeAll { $0.id?.isSame(as: id) == true }
            return (id, names[Array(id.utf8)])
        }
        let oldest = open.isEmpty ? nil : open.removeFirst()
        let id = oldest?.id ?? (idStyle == .mistral ? CallID.restyled("result", idStyle) : nil)
        return (id, oldest?.name)
    }
}

extension JSONValue {
    /// A text as a part of a content.
    static func textPart(_ text: String) -> JSONValue {
        .object([
            JSONField(name: "type", value: .text("text")),
            JSONField(name: "text", value: .text(text)),
        ])
    }

    /// The text of a content: itself, or its text parts, each on a line of its own.
    package var contentText: String {
        switch self {
        case .text(let text): text
        case .list(let parts): parts.map { $0["text"]?.string ?? "" }.joined(separator: "\n")
        case .null: ""
        default: pythonText
        }
    }
}
