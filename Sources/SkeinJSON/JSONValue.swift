/// A JSON value as it was written: fields in their order, numbers as their digits.
///
/// Nothing is lost between reader and writer: an integer of thirty digits keeps all of them, and
/// 1.0 stays another spelling than 1. Code that computes asks for `integer` or `double`.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// As it was spelled; also "NaN", "Infinity" and "-Infinity", if the reader was to take them.
    case number(String)
    case text(String)
    case list([JSONValue])
    case object([JSONField])

    /// The first field of this name; nil if there is none, or if this is no object.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let fields) = self else { return nil }
        return fields[name]
    }

    package var string: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    package var list: [JSONValue]? {
        if case .list(let items) = self { return items }
        return nil
    }

    package var fields: [JSONField]? {
        if case .object(let fields) = self { return fields }
        return nil
    }

    /// Lists and objects in each other: 1 for a value that is neither.
    package var depth: Int {
        switch self {
        case .list(let items): 1 + (items.lazy.map(\.depth).max() ?? 0)
        case .object(let fields): 1 + (fields.lazy.map(\.value.depth).max() ?? 0)
        default: 1
        }
    }

    /// What kind of value this is, for errors.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .text: "a string"
        case .list: "a list"
        case .object: "an object"
        }
    }
}

/// A field of an object.
package struct JSONField: Sendable, Equatable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }

    /// Names are equal when their code points are.
    package static func == (left: JSONField, right: JSONField) -> Bool {
        left.name.isSame(as: right.name) && left.value == right.value
    }
}

extension [JSONField] {
    /// The first field of this name.
    package subscript(_ name: String) -> JSONValue? {
        first { $0.name.isSame(as: name) }?.value
    }
}

extension JSONValue: Equatable {
    /// Whether two values are spelled alike: texts by their code points, numbers by their digits.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left.isSame(as: right)
        case (.text(let left), .text(let right)): left.isSame(as: right)
        case (.list(let left), .list(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension String {
    /// Whether two names or texts have the same code points. `==` also holds for other spellings of
    /// the same characters (an e with an accent as one code point or as two), which JSON, tokenizers and
    /// models tell apart.
    package func isSame(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
