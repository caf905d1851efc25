import SkeinJSON

/// A function that a model may call, from a request's `tools`.
package struct Tool: Sendable {
    package var name: String
    package var description: String?
    /// The schema of its arguments: always that of an object.
    package var parameters: JSONValue
    /// Whether a request is refused if the schema cannot be enforced. If not, and it cannot, the
    /// arguments are any JSON object.
    package var strict: Bool
    /// As the client sent it; models see this.
    package var definition: JSONValue

    /// Reads `tools`: null or a list of functions.
    package static func list(_ value: JSONValue?) throws(ToolProblem) -> [Tool] {
        switch value {
        case nil, .null?: return []
        case .list(let items)?:
            guard items.count <= ToolLimits.tools else {
                throw ToolProblem(
                    path: "tools", flaw: .tooMany(found: items.count, limit: ToolLimits.tools))
            }
            var tools: [Tool] = []
            var places: [String: Int] = [:]
            var bytes = 0
            for (index, item) in items.enumerated() {
                let tool = try Tool(item, at: "tools[\(index)]")
                bytes += tool.definition.written.utf8.count
                guard bytes <= ToolLimits.definitionBytes else {
                    throw ToolProblem(
                        path: "tools", flaw: .tooLarge(limit: ToolLimits.definitionBytes))
                }
                if let first = places[tool.name] {
                    throw ToolProblem(
                        path: "tools[\(index)].function.name",
                        flaw: .repeatedName(tool.name, first: first))
                }
                places[tool.name] = index
                tools.append(tool)
            }
            return tools
        default: throw ToolProblem(path: "tools", flaw: .wrongType(expected: "a list"))
        }
    }

    private init(_ value: JSONValue, at path: String) throws(ToolProblem) {
        guard value.fields != nil else {
            throw ToolProblem(path: path, flaw: .wrongType(expected: "an object"))
        }
        switch value["type"] {
        case .text("function")?: break
        case .text(let other)?:
            throw ToolProblem(path: "\(path).type", flaw: .notAFunction(found: other))
        case nil: throw ToolProblem(path: "\(path).type", flaw: .missing(expected: #""function""#))
        default:
            throw ToolProblem(path: "\(path).type", flaw: .wrongType(expected: #""function""#))
        }
        guard let function = value["function"] else {
            throw ToolProblem(path: "\(path).function", flaw: .missing(expected: "an object"))
        }
        let place = "\(path).function"
        guard function.fields != nil else {
            throw ToolProblem(path: place, flaw: .wrongType(expected: "an object"))
        }
        switch function["name"] {
        case .text(let name)?:
            guard Self.isName(name) else {
                throw ToolProblem(path: "\(place).name", flaw: .badName)
            }
            self.name = name
        case nil: throw ToolProblem(path: "\(place).name", flaw: .missing(expected: "a name"))
        default: throw ToolProblem(path: "\(place).name", flaw: .wrongType(expected: "a string"))
        }
        switch function["description"] {
        case .text(let text)?: description = text
        case nil, .null?: description = nil
        default:
            throw ToolProblem(path: "\(place).description", flaw: .wrongType(expected: "a string"))
        }
        switch function["strict"] {
        case .bool(let value)?: strict = value
        case nil, .null?: strict = false
        default:
            throw ToolProblem(path: "\(place).strict", flaw: .wrongType(expected: "true or false"))
        }
        parameters = try Self.parameters(function["parameters"], at: "\(place).parameters")
        definition = value
        // A template can hold no deeper value. The list of tools is one level.
        guard JSONValue.list([value]).depth <= TemplateLimits.valueDepth else {
            throw ToolProblem(path: path, flaw: .tooDeep(limit: TemplateLimits.valueDepth - 1))
        }
    }

    /// Whether a name is one that OpenAI takes, which grammar and streams rely on: it needs no escape.
    private static func isName(_ name: String) -> Bool {
        (1...ToolLimits.nameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Any JSON object.
    package static let anyObject = JSONValue.object([
        JSONField(name: "type", value: .text("object"))
    ])

    /// A schema without a type is that of an object; without a schema, there are no parameters.
    private static func parameters(
        _ value: JSONValue?, at path: String
    ) throws(ToolProblem) -> JSONValue {
        switch value {
        case nil, .null?:
            return .object([
                JSONField(name: "type", value: .text("object")),
                JSONField(name: "properties", value: .object([])),
                JSONField(name: "additionalProperties", value: .bool(false)),
            ])
        case .object(let fields)?:
            switch value?["type"] {
            case .text("object")?: return .object(fields)
            case nil: return .object([JSONField(name: "type", value: .text("object"))] + fields)
            default: throw ToolProblem(path: "\(path).type", flaw: .notAnObjectSchema)
            }
        default: throw ToolProblem(path: path, flaw: .notAnObjectSchema)
        }
    }
}
