import SkeinJSON

/// One turn of a conversation: a JSON object whose fields the template sees in their order.
package struct ChatMessage: Sendable, Equatable {
    package var fields: [JSONField]

    package init(fields: [JSONField]) {
        self.fields = fields
    }

    package init(role: String, content: String) {
        self.init(fields: [
            JSONField(name: "role", value: .text(role)),
            JSONField(name: "content", value: .text(content)),
        ])
    }

    package subscript(_ name: String) -> JSONValue? { fields[name] }

    /// Sets a field at its place, or after the others.
    package mutating func set(_ name: String, _ value: JSONValue) {
        if let index = fields.firstIndex(where: { $0.name.isSame(as: name) }) {
            fields[index].value = value
        } else {
            fields.append(JSONField(name: name, value: value))
        }
    }

    /// The message as transformers gives it to a template: reasoning, whichever name it has, under
    /// the names that templates read.
    var withReasoning: ChatMessage {
        let names = ["reasoning_content", "thinking", "reasoning"]
        let given = names.lazy.compactMap { self[$0] }.first { $0 != .null }
        guard let reasoning = given else { return self }
        var result = self
        if self["thinking"] == nil {
            result.fields.insert(JSONField(name: "thinking", value: reasoning), at: 0)
        }
        if let index = result.fields.firstIndex(where: { $0.name == "reasoning_content" }) {
            result.fields[index].value = reasoning
        } else {
            result.fields.append(JSONField(name: "reasoning_content", value: reasoning))
        }
        return result
    }

    /// The speaker, as the template names it: "system", "user", "assistant"; empty if it is none.
    package var role: String { self["role"]?.string ?? "" }
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

    mutating func value(of json: JSONValue, origin: Int?, depth: Int = 0) throws -> TemplateValue {
        guard depth < TemplateLimits.valueDepth else {
            throw limit(.valueDepth(TemplateLimits.valueDepth))
        }
        switch json {
        case .null: return .none
        case .bool(let value): return .bool(value)
        case .number(let text): return .number(spelled: text)
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
