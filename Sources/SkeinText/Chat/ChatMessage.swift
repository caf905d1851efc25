/// One turn of a conversation: a JSON object whose fields the template sees in their order.
package struct ChatMessage: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: ChatJSON

        package init(name: String, value: ChatJSON) {
            self.name = name
            self.value = value
        }
    }

    package var fields: [Field]

    package init(fields: [Field]) {
        self.fields = fields
    }

    package init(role: String, content: String) {
        self.init(fields: [
            Field(name: "role", value: .text(role)), Field(name: "content", value: .text(content)),
        ])
    }

    package subscript(_ name: String) -> ChatJSON? {
        fields.first { $0.name == name }?.value
    }

    /// The message as transformers gives it to a template: reasoning, whichever name it has, under
    /// the names that templates read.
    var withReasoning: ChatMessage {
        let names = ["reasoning_content", "thinking", "reasoning"]
        let given = names.lazy.compactMap { self[$0] }.first { $0 != .null }
        guard let reasoning = given else { return self }
        var result = self
        if self["thinking"] == nil {
            result.fields.insert(Field(name: "thinking", value: reasoning), at: 0)
        }
        if let index = result.fields.firstIndex(where: { $0.name == "reasoning_content" }) {
            result.fields[index].value = reasoning
        } else {
            result.fields.append(Field(name: "reasoning_content", value: reasoning))
        }
        return result
    }

    /// The speaker, as the template names it: "system", "user", "assistant"; empty if it is none.
    package var role: String { self["role"]?.string ?? "" }
}

/// A JSON value whose objects keep the order of their fields, which templates write.
package indirect enum ChatJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([ChatJSON])
    case object([ChatMessage.Field])

    package var string: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// A text that no other value has, for digests.
    package var described: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): PythonText.float(value)
        case .text(let text): PythonText.literal(text)
        case .list(let items): "[" + items.map(\.described).joined(separator: ",") + "]"
        case .object(let fields):
            "{"
                + fields.map { PythonText.literal($0.name) + ":" + $0.value.described }
                .joined(separator: ",") + "}"
        }
    }
}

extension TemplateInterpreter {
    /// A message as a template sees it. All of its texts but the role come from `origin`.
    mutating func value(of message: ChatMessage, origin: Int) throws -> TemplateValue {
        var mapping = TemplateMapping(keys: [], values: [])
        for field in message.withReasoning.fields {
            mapping.keys.append(TemplateText(field.name))
            mapping.values.append(
                try value(of: field.value, origin: field.name == "role" ? nil : origin))
        }
        return .mapping(try limited(mapping))
    }

    mutating func value(of json: ChatJSON, origin: Int?, depth: Int = 0) throws -> TemplateValue {
        guard depth < TemplateLimits.valueDepth else {
            throw limit(.valueDepth(TemplateLimits.valueDepth))
        }
        switch json {
        case .null: return .none
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .float(value)
        case .text(let text): return .text(TemplateText(text, origin: origin))
        case .list(let items):
            var values: [TemplateValue] = []
            for item in items {
                values.append(try value(of: item, origin: origin, depth: depth + 1))
            }
            return .list(try collection(values))
        case .object(let fields):
            var mapping = TemplateMapping(keys: [], values: [])
            for field in fields {
                mapping.keys.append(TemplateText(field.name))
                mapping.values.append(
                    try value(of: field.value, origin: origin, depth: depth + 1))
            }
            return .mapping(try limited(mapping))
        }
    }
}
