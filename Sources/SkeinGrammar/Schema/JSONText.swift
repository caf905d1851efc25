import SkeinBasics

/// A JSON value as it was written: fields in order, numbers as their text.
package indirect enum JSONText: Sendable {
    case null
    case bool(Bool)
    case number(String)
    case text(String)
    case list([JSONText])
    case object([JSONField])

    package subscript(_ name: String) -> JSONText? {
        guard case .object(let fields) = self else { return nil }
        return fields.first { $0.name.isSame(as: name) }?.value
    }

    package var string: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    package var list: [JSONText]? {
        if case .list(let items) = self { return items }
        return nil
    }

    package var fields: [JSONField]? {
        if case .object(let fields) = self { return fields }
        return nil
    }

    /// The value as JSON without spaces.
    package var written: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .text(let text): JSONText.quoted(text)
        case .list(let items): "[" + items.map(\.written).joined(separator: ",") + "]"
        case .object(let fields):
            "{"
                + fields.map { JSONText.quoted($0.name) + ":" + $0.value.written }
                .joined(separator: ",") + "}"
        }
    }
}

package struct JSONField: Sendable {
    package var name: String
    package var value: JSONText

    package init(name: String, value: JSONText) {
        self.name = name
        self.value = value
    }
}

extension String {
    /// Whether two names or texts have the same code points. `==` also holds for other spellings of
    /// the same characters, which JSON tells apart.
    func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension JSONText {
    /// A text as a JSON string.
    static func quoted(_ text: String) -> String { JSONLine.quote(text) }
}
