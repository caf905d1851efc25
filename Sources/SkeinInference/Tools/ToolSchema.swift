import SkeinGrammar
import SkeinJSON

/// A tool's schema inside of the schema of all calls: what it refers to has moved.
struct ToolSchema {
    /// JSON pointer of the schema's new place, as a fragment: "#/anyOf/0/properties/arguments".
    let place: String
    /// Comes before names of anchors, of which the whole document has only one each.
    let anchorPrefix: String

    /// The schema with its `$ref`s and anchors as they must be at its new place.
    ///
    /// Values (`const`, `enum`, `default`, `examples`) stay as they are. An object under a keyword that
    /// JSON Schema does not have may hold schemas that a `$ref` names, so it is taken for one.
    func moved(_ schema: JSONValue) -> JSONValue {
        guard case .object(let fields) = schema else { return schema }
        // It names the document, and the grammar knows one document.
        return movedInside(.object(fields.filter { $0.name != "$id" && $0.name != "$schema" }))
    }

    private static let values: Set<String> = ["const", "enum", "default", "examples"]
    private static let named: Set<String> = [
        "properties", "$defs", "definitions", "patternProperties", "dependentSchemas",
    ]

    /// Goes no deeper than a definition, whose depth was checked.
    private func movedInside(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let fields):
            .object(
                fields.map { field in
                    JSONField(name: field.name, value: moved(field))
                })
        case .list(let items): .list(items.map { movedInside($0) })
        default: value
        }
    }

    private func moved(_ field: JSONField) -> JSONValue {
        switch (field.name, field.value) {
        case ("$ref", .text(let reference)): return .text(moved(reference: reference))
        case ("$anchor", .text(let name)): return .text(anchorPrefix + name)
        case (let name, .object(let inner)) where Self.named.contains(name):
            return .object(
                inner.map { JSONField(name: $0.name, value: movedInside($0.value)) })
        case (let name, let value) where Self.values.contains(name): return value
        default: return movedInside(field.value)
        }
    }

    private func moved(reference: String) -> String {
        guard reference.utf8.first == UInt8(ascii: "#") else { return reference }
        let fragment = reference.unicodeScalars.dropFirst()
        if fragment.isEmpty { return place }
        return fragment.first == "/"
            ? place + String(fragment) : "#" + anchorPrefix + String(fragment)
    }
}

extension GrammarError {
    /// The error as seen from the schema at `place`, a JSON pointer; nil if it is about something else.
    func seen(from place: String) -> GrammarError? {
        guard let pointer, pointer.utf8.starts(with: place.utf8) else { return nil }
        let rest = pointer.utf8.dropFirst(place.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
        let inner = String(decoding: rest, as: UTF8.self)
        return switch self {
        case .tooLarge(let what, let limit, _):
            .tooLarge(what: what, limit: limit, pointer: inner)
        case .unsupported(_, let reason): .unsupported(pointer: inner, reason: reason)
        case .badKeyword(_, let expected): .badKeyword(pointer: inner, expected: expected)
        case .badReference(_, let reference):
            .badReference(pointer: inner, reference: reference)
        case .overlap(_, let first, let second):
            .overlap(pointer: inner, first: first, second: second)
        case .pattern(_, let offset, let reason):
            .pattern(pointer: inner, offset: offset, reason: reason)
        case .empty: .empty(pointer: inner)
        default: self
        }
    }
}
