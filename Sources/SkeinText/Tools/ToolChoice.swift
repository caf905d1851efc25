import SkeinJSON

/// Whether the model may, must or must not call tools: a request's `tool_choice`.
package enum ToolChoice: Sendable, Equatable {
    case none
    case auto
    case required
    /// One call of this tool.
    case named(String)
    /// Calls of these tools alone, though the model sees all: OpenAI's `allowed_tools`.
    case allowed(Set<String>, isRequired: Bool)

    /// Whether there must be a call.
    package var isRequired: Bool {
        switch self {
        case .none, .auto: false
        case .required, .named: true
        case .allowed(_, let isRequired): isRequired
        }
    }

    /// Those of a request's tools that may be called.
    package func allows(_ tool: Tool) -> Bool {
        switch self {
        case .none: false
        case .auto, .required: true
        case .named(let name): tool.name == name
        case .allowed(let names, _): names.contains(tool.name)
        }
    }

    /// Reads `tool_choice`; without one, tools may be called if there are any.
    package static func read(_ value: JSONValue?, tools: [Tool]) throws(ToolProblem) -> ToolChoice {
        let path = "tool_choice"
        switch value {
        case nil, .null?: return tools.isEmpty ? .none : .auto
        case .text("none")?: return .none
        case .text("auto")?: return tools.isEmpty ? .none : .auto
        case .text("required")?:
            guard !tools.isEmpty else { throw ToolProblem(path: path, flaw: .noTools) }
            return .required
        case .text(let other)?: throw ToolProblem(path: path, flaw: .unknownChoice(other))
        case .object?:
            guard let type = value?["type"]?.string else {
                throw ToolProblem(path: "\(path).type", flaw: .missing(expected: #""function""#))
            }
            if type == "allowed_tools" { return try allowed(value?["allowed_tools"], tools: tools) }
            guard type == "function" else {
                throw ToolProblem(path: "\(path).type", flaw: .unknownChoice(type))
            }
            guard let name = value?["function"]?["name"]?.string else {
                throw ToolProblem(
                    path: "\(path).function.name", flaw: .missing(expected: "a tool's name"))
            }
            guard tools.contains(where: { $0.name == name }) else {
                throw ToolProblem(path: "\(path).function.name", flaw: .unknownTool(name))
            }
            return .named(name)
        default:
            throw ToolProblem(path: path, flaw: .wrongType(expected: "a string or an object"))
        }
    }

    /// Reads `{"mode": ..., "tools": [{"type": "function", "function": {"name": ...}}, ...]}`.
    private static func allowed(
        _ value: JSONValue?, tools: [Tool]
    ) throws(ToolProblem) -> ToolChoice {
        let path = "tool_choice.allowed_tools"
        guard let value, value.fields != nil else {
            throw ToolProblem(path: path, flaw: .missing(expected: "an object"))
        }
        let isRequired: Bool
        switch value["mode"] {
        case .text("auto")?: isRequired = false
        case .text("required")?: isRequired = true
        default:
            throw ToolProblem(
                path: "\(path).mode", flaw: .wrongType(expected: #""auto" or "required""#))
        }
        guard let items = value["tools"]?.list, !items.isEmpty, items.count <= ToolLimits.tools
        else {
            throw ToolProblem(
                path: "\(path).tools",
                flaw: .wrongType(expected: "a list of 1 to \(ToolLimits.tools) tools"))
        }
        var names: Set<String> = []
        for (index, item) in items.enumerated() {
            // The Responses API has the name beside the type.
            guard let name = (item["function"]?["name"] ?? item["name"])?.string else {
                throw ToolProblem(
                    path: "\(path).tools[\(index)].function.name",
                    flaw: .missing(expected: "a tool's name"))
            }
            guard tools.contains(where: { $0.name == name }) else {
                throw ToolProblem(
                    path: "\(path).tools[\(index)].function.name", flaw: .unknownTool(name))
            }
            names.insert(name)
        }
        return .allowed(names, isRequired: isRequired)
    }

    /// Reads `parallel_tool_calls`: true unless it is false.
    package static func isParallel(_ value: JSONValue?) throws(ToolProblem) -> Bool {
        switch value {
        case nil, .null?: return true
        case .bool(let value)?: return value
        default:
            throw ToolProblem(
                path: "parallel_tool_calls", flaw: .wrongType(expected: "true or false"))
        }
    }
}
