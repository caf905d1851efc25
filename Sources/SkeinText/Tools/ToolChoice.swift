import SkeinJSON

/// Whether the model may, must or must not call tools: a request's `tool_choice`.
package enum ToolChoice: Sendable, Equatable {
    case none
    case auto
    case required
    /// One call of this tool.
    case named(String)

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
