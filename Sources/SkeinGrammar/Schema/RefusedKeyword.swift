import SkeinJSON

/// A keyword that a model cannot be held to while it writes, whatever its value is.
struct RefusedKeyword {
    /// What JSON Schema asks its value to be.
    private enum Form: String {
        case schema = "a schema: an object, true or false"
        case text = "a string"
        case schemas = "an object of schemas"
        case names = "an object of lists of strings"
        case either = "an object of schemas or lists of strings"
    }

    private let form: Form
    /// Values that ask for nothing.
    private var isIdle: @Sendable (JSONValue) -> Bool = { _ in false }

    static let all: [String: RefusedKeyword] = [
        "not": .init(form: .schema, isIdle: isFalse),
        "if": .init(form: .schema), "then": .init(form: .schema), "else": .init(form: .schema),
        "dependentRequired": .init(form: .names, isIdle: isEmpty),
        "dependentSchemas": .init(form: .schemas, isIdle: isEmpty),
        "dependencies": .init(form: .either, isIdle: isEmpty),
        "contains": .init(form: .schema),
        "unevaluatedItems": .init(form: .schema, isIdle: isTrue),
        "unevaluatedProperties": .init(form: .schema, isIdle: isTrue),
        "additionalItems": .init(form: .schema, isIdle: isTrue),
        "$dynamicRef": .init(form: .text), "$recursiveRef": .init(form: .text),
    ]

    @Sendable static func isFalse(_ value: JSONValue) -> Bool {
        if case .bool(false) = value { return true }
        return false
    }

    @Sendable static func isTrue(_ value: JSONValue) -> Bool {
        if case .bool(true) = value { return true }
        return value.fields?.isEmpty ?? false
    }

    @Sendable private static func isEmpty(_ value: JSONValue) -> Bool {
        value.fields?.isEmpty ?? false
    }

    /// Leaves the keyword out unless it asks for nothing.
    ///
    /// - Throws: `GrammarError` where keywords are not left out, or for a malformed value.
    func refuse(_ reader: KeywordReader, _ drops: KeywordDrops) throws(GrammarError) {
        if isIdle(reader.value) { return }
        if drops.isLenient, !hasForm(reader.value) {
            throw .badKeyword(pointer: reader.pointer, expected: form.rawValue)
        }
        try drops.drop(.unsupported(pointer: reader.pointer, reason: .keyword))
    }

    private func hasForm(_ value: JSONValue) -> Bool {
        func isNames(_ value: JSONValue) -> Bool {
            value.list?.allSatisfy { $0.string != nil } ?? false
        }
        return switch form {
        case .schema: KeywordReader.isSchema(value)
        case .text: value.string != nil
        case .schemas: value.fields?.allSatisfy { KeywordReader.isSchema($0.value) } ?? false
        case .names: value.fields?.allSatisfy { isNames($0.value) } ?? false
        case .either:
            value.fields?.allSatisfy { KeywordReader.isSchema($0.value) || isNames($0.value) }
                ?? false
        }
    }
}

extension JSONValue {
    /// Whether a field has this name, here or inside.
    func mentions(_ name: String) -> Bool {
        switch self {
        case .list(let items): items.contains { $0.mentions(name) }
        case .object(let fields): fields.contains { $0.name == name || $0.value.mentions(name) }
        default: false
        }
    }
}
