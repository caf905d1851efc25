import SkeinJSON

/// A schema in few words: `{name (The person's full name), age, home {city, country}}`.
///
/// It says what the grammar cannot force: names and descriptions. Choices, bounds and types hold anyway,
/// and a small model copies what it reads of them into its answer (docs/SESSIONS.md has the measurement).
/// Each definition is spelled out once, so that the text is never longer than the schema.
struct SchemaOutline {
    private let root: JSONValue
    private var spelled: Set<String> = []
    private(set) var text = ""

    init(_ schema: JSONValue) {
        root = schema
        let form = form(schema, depth: 0)
        let value = form.isEmpty ? Self.plainForm(schema) : form
        text = [schema["description"]?.string.map(Self.line), value]
            .compactMap { $0 }.joined(separator: " ")
    }

    /// The properties of an object, of a list's elements or of what may be chosen; else nothing.
    private mutating func form(_ schema: JSONValue, depth: Int) -> String {
        // A schema that was read as JSON may be deeper than any type.
        guard depth < SessionLimits.formDepth else { return "" }
        if let name = schema["$ref"]?.string {
            guard let definition = definition(name), spelled.insert(name).inserted else {
                return ""
            }
            return form(definition, depth: depth + 1)
        }
        if let fields = schema["properties"]?.fields {
            if depth == 0 { spelled.insert("#") }
            let parts = fields.map { property($0, depth: depth) }
            return "{\(parts.joined(separator: ", "))}"
        }
        if let items = schema["items"] {
            let form = form(items, depth: depth + 1)
            return form.isEmpty ? "" : "[\(form)]"
        }
        let members = schema["anyOf"]?.list ?? schema["oneOf"]?.list ?? []
        return members.map { form($0, depth: depth + 1) }.filter { !$0.isEmpty }
            .joined(separator: " or ")
    }

    private mutating func property(_ field: JSONField, depth: Int) -> String {
        var text = Self.name(field.name)
        if let constant = field.value["const"] {
            text += ": " + (constant.string ?? constant.written)
        }
        let form = form(field.value, depth: depth + 1)
        if !form.isEmpty { text += " " + form }
        if let description = description(of: field.value) { text += " (\(description))" }
        return text
    }

    /// What a property's description is, or else that of its type.
    private func description(of schema: JSONValue) -> String? {
        let own = schema["description"]?.string
        let text = own ?? schema["$ref"]?.string.flatMap { definition($0)?["description"]?.string }
        return text.map(Self.line).flatMap { $0.isEmpty ? nil : $0 }
    }

    private func definition(_ reference: String) -> JSONValue? {
        if reference == "#" { return root }
        let prefix = "#/$defs/"
        guard reference.hasPrefix(prefix) else { return nil }
        return root["$defs"]?[String(reference.dropFirst(prefix.count))]
    }

    /// A value that is no object.
    private static func plainForm(_ schema: JSONValue) -> String {
        if let choices = schema["enum"]?.list {
            return choices.map { $0.string ?? $0.written }.joined(separator: " or ")
        }
        return switch schema["type"]?.string {
        case "string": "a text"
        case "integer": "a whole number"
        case "number": "a number"
        case "boolean": "true or false"
        case "array": "a list"
        default: "a value"
        }
    }

    /// A name that could be taken for something else is in quotes.
    private static func name(_ name: String) -> String {
        let isPlain = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return isPlain ? name : JSONValue.text(name).written
    }

    /// A description on one line.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
