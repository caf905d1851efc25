import SkeinGrammar
import SkeinJSON

/// The order of things in a schema whose coded form has none.
enum CodedSchema {
    private static let order = "x-order"

    /// Keywords in the order in which `SchemaResolver` writes them.
    private static let ranks: [String: Int] = Dictionary(
        uniqueKeysWithValues: [
            "title", "description", "type", "const", "enum", "pattern", "allOf", "minimum",
            "maximum", "items", "minItems", "maxItems", "properties", "required",
            "additionalProperties", "anyOf", "$ref", "$defs",
        ].enumerated().map { ($1, $0) })

    /// Applies `change` to the schemas inside of a schema.
    private static func mapped(
        _ schema: JSONValue, _ change: (JSONValue) -> JSONValue
    ) -> [JSONField]? {
        schema.fields?.map { field in
            switch field.name {
            case "properties", "$defs":
                guard let inner = field.value.fields else { return field }
                return JSONField(
                    field.name, .object(inner.map { JSONField($0.name, change($0.value)) }))
            case "items", "additionalProperties":
                return JSONField(field.name, change(field.value))
            case "anyOf", "allOf", "oneOf", "prefixItems":
                return JSONField(
                    field.name, field.value.list.map { .list($0.map(change)) } ?? field.value)
            default: return field
            }
        }
    }

    /// The schema with `x-order` beside each `properties`.
    static func withOrder(_ schema: JSONValue) -> JSONValue {
        guard var fields = mapped(schema, withOrder) else { return schema }
        if let properties = schema["properties"]?.fields {
            fields.append(JSONField(order, .list(properties.map { .text($0.name) })))
        }
        return .object(fields)
    }

    /// The schema with its properties in the order of `x-order`, which is left out, and everything
    /// else as `SchemaResolver` writes it, so that equal schemas have equal texts.
    static func ordered(_ schema: JSONValue) -> JSONValue {
        let json = inOrder(schema)
        guard var fields = json.fields,
            let place = fields.firstIndex(where: { $0.name == "$defs" }),
            let definitions = fields[place].value.fields
        else { return json }
        let root = JSONValue.object(fields.filter { $0.name != "$defs" })
        fields[place].value = .object(byAppearance(definitions, from: root))
        return .object(fields)
    }

    private static func inOrder(_ schema: JSONValue) -> JSONValue {
        guard let fields = mapped(schema, inOrder) else { return schema }
        let names = schema[order]?.list?.compactMap(\.string)
        let kept = fields.compactMap { field -> JSONField? in
            if field.name == order, names != nil { return nil }
            guard field.name == "properties", let names, let properties = field.value.fields else {
                return field
            }
            let ranks = Dictionary(
                names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
            return JSONField(field.name, .object(sorted(properties, by: ranks)))
        }
        return .object(sorted(kept, by: ranks))
    }

    private static func sorted(_ fields: [JSONField], by ranks: [String: Int]) -> [JSONField] {
        fields.sorted { a, b in
            let (first, second) = (ranks[a.name] ?? .max, ranks[b.name] ?? .max)
            return first == second ? a.name < b.name : first < second
        }
    }

    /// Definitions in the order in which they are first referred to.
    private static func byAppearance(
        _ definitions: [JSONField], from root: JSONValue
    ) -> [JSONField] {
        let all = Dictionary(
            definitions.map { ("#/$defs/" + $0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        var found: [JSONField] = []
        func visit(_ json: JSONValue) {
            switch json {
            case .list(let items): items.forEach(visit)
            case .object(let fields):
                for field in fields {
                    if field.name == "$ref", let reference = field.value.string,
                        let definition = all[reference], seen.insert(reference).inserted
                    {
                        found.append(definition)
                    } else {
                        visit(field.value)
                    }
                }
            default: break
            }
        }
        visit(root)
        var next = 0
        while next < found.count {
            visit(found[next].value)
            next += 1
        }
        let others = definitions.filter { !seen.contains("#/$defs/" + $0.name) }
        return found + others.sorted { $0.name < $1.name }
    }
}
