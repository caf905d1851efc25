import SkeinJSON

@testable import SkeinSessions

/// A way to tell a model the form of its answer.
struct WordingForm: Sendable {
    let name: String
    /// What follows the question; nil: nothing.
    let text: @Sendable (GenerationSchema) throws -> String?

    static let all = [
        WordingForm(name: "nothing") { _ in nil },
        WordingForm(name: "as sessions write it") { try SchemaBlock($0).text },
        WordingForm(name: "the JSON schema (until 2026-11)") {
            "\n\nAnswer with JSON of this schema:\n\(try $0.jsonText())"
        },
        WordingForm(name: "a TypeScript type") {
            "\n\nAnswer with JSON of this type:\n\(Written(try $0.json()).typeScript())"
        },
        WordingForm(name: "a list of fields") {
            "\n\nAnswer with JSON that has these fields:\n\(Written(try $0.json()).list())"
        },
        WordingForm(name: "an example of JSON") {
            "\n\nAnswer with JSON like this:\n\(Written(try $0.json()).example())"
        },
        WordingForm(name: "sentences on the fields") {
            "\n\nAnswer with JSON. \(Written(try $0.json()).sentences())"
        },
        WordingForm(name: "names alone") {
            "\n\nAnswer with JSON: \(Written(try $0.json()).names().joined(separator: ", "))"
        },
        WordingForm(name: "\"Answer with JSON:\" and the outline") {
            "\n\nAnswer with JSON: \(SchemaOutline(try $0.json()).text)"
        },
        WordingForm(name: "just \"Answer with JSON.\"") { _ in "\n\nAnswer with JSON." },
    ]
}

/// A schema, or a part of it, written in other ways than the one that was kept.
private struct Written {
    let schema: JSONValue
    let root: JSONValue

    init(_ schema: JSONValue, in root: JSONValue? = nil) {
        let root = root ?? schema
        self.root = root
        let name = schema["$ref"]?.string?.dropFirst("#/$defs/".count)
        guard let name, let found = root["$defs"]?[String(name)] else {
            self.schema = schema
            return
        }
        // The first field of a name counts: a property's own description comes before its type's.
        let own = schema["description"].map { [JSONField("description", $0)] } ?? []
        self.schema = .object(own + (found.fields ?? []))
    }

    private var properties: [(name: String, value: Written)] {
        (schema["properties"]?.fields ?? []).map { ($0.name, Written($0.value, in: root)) }
    }

    private var description: String? { schema["description"]?.string }

    func names() -> [String] { properties.map(\.name) }

    func typeScript(_ indent: String = "") -> String {
        if let choices = schema["enum"]?.list {
            return choices.map(\.written).joined(separator: " | ")
        }
        let type = schema["type"]?.string ?? "any"
        if type == "array" {
            return Written(schema["items"] ?? .null, in: root).typeScript() + "[]"
        }
        guard type == "object" else { return type }
        let required = (schema["required"]?.list ?? []).compactMap(\.string)
        let lines = properties.map { name, value in
            "\(indent)  \(name)\(required.contains(name) ? "" : "?"): "
                + value.typeScript(indent + "  ") + (value.description.map { " // \($0)" } ?? "")
        }
        return (["{"] + lines + ["\(indent)}"]).joined(separator: "\n")
    }

    func list(_ indent: String = "") -> String {
        properties.flatMap { name, value in
            let choices = value.schema["enum"]?.list?.map { $0.string ?? $0.written }
            let about = [value.description, choices?.joined(separator: ", ")].compactMap { $0 }
            let line = "\(indent)- \(name)" + (about.isEmpty ? "" : ": ")
            let inner = value.properties.isEmpty ? [] : [value.list(indent + "  ")]
            return [line + about.joined(separator: "; ")] + inner
        }.joined(separator: "\n")
    }

    func example() -> String {
        if schema["enum"] != nil { return "\"...\"" }
        switch schema["type"]?.string {
        case "object":
            let fields = properties.map { "\"\($0)\": \($1.example())" }
            return "{\(fields.joined(separator: ", "))}"
        case "array": return "[\(Written(schema["items"] ?? .null, in: root).example())]"
        case "string": return "\"...\""
        default: return "..."
        }
    }

    func sentences() -> String {
        properties.compactMap { name, value in
            value.description.map {
                "\"\(name)\" is \($0.prefix(1).lowercased())\($0.dropFirst())."
            }
        }.joined(separator: " ")
    }
}
