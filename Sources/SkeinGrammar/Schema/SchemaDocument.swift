import SkeinJSON

/// The schemas inside of a document, by number, with their places.
final class SchemaDocument {
    /// Number of a schema.
    typealias ID = Int32

    struct Schema {
        let value: JSONValue
        /// JSON pointer (RFC 6901).
        let pointer: String
    }

    /// The schema that nothing satisfies.
    static let nothing: ID = 0

    private var schemas = [Schema(value: .bool(false), pointer: "")]
    private var numbers: [[UInt8]: ID] = [:]
    private let root: JSONValue
    /// Places of `$anchor`, found when one is first asked for.
    private var anchors: [[UInt8]: (JSONValue, String)]?

    init(_ root: JSONValue) {
        self.root = root
    }

    /// The whole document.
    var whole: ID { number(of: root, at: "") }

    subscript(_ id: ID) -> Schema { schemas[Int(id)] }

    /// The schema at a place.
    func number(of value: JSONValue, at pointer: String) -> ID {
        let key = Array(pointer.utf8)
        if let known = numbers[key] { return known }
        let number = ID(schemas.count)
        schemas.append(Schema(value: value, pointer: pointer))
        numbers[key] = number
        return number
    }

    /// The schema that a `$ref` names.
    ///
    /// - Throws: `GrammarError` if it is not in this document.
    func target(of reference: String, at pointer: String) throws(GrammarError) -> ID {
        guard let encoded = ownFragment(of: reference) else {
            throw .unsupported(pointer: pointer, reason: .remote(reference))
        }
        let bad = GrammarError.badReference(pointer: pointer, reference: reference)
        guard let fragment = Self.percentDecoded(encoded) else { throw bad }
        if fragment.isEmpty { return number(of: root, at: "") }
        guard fragment.utf8.first == UInt8(ascii: "/") else {
            if anchors == nil {
                var found: [[UInt8]: (JSONValue, String)] = [:]
                Self.collectAnchors(root, "", &found)
                anchors = found
            }
            guard let (value, place) = anchors?[Array(fragment.utf8)] else { throw bad }
            return number(of: value, at: place)
        }
        var value = root
        var place = ""
        let steps = fragment.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for step in steps.dropFirst() {
            let name = Self.unescaped(String(decoding: step, as: UTF8.self))
            switch value {
            case .object(let fields):
                guard let field = fields.first(where: { $0.name.isSame(as: name) }) else {
                    throw bad
                }
                value = field.value
            case .list(let items):
                guard let index = Int(name), items.indices.contains(index), "\(index)" == name
                else { throw bad }
                value = items[index]
            default: throw bad
            }
            place += "/" + Self.escaped(name)
        }
        return number(of: value, at: place)
    }

    /// What stands behind `#`; nil if the reference leads to another document. One may name this
    /// document by its own `$id`, with or without a fragment behind.
    private func ownFragment(of reference: String) -> Substring.UTF8View? {
        var rest = reference.utf8[...]
        if rest.first != UInt8(ascii: "#") {
            guard var name = root["$id"]?.string?.utf8[...] else { return nil }
            if name.last == UInt8(ascii: "#") { name.removeLast() }
            guard !name.isEmpty, rest.starts(with: name) else { return nil }
            rest = rest.dropFirst(name.count)
            if rest.isEmpty { return rest }
        }
        return rest.first == UInt8(ascii: "#") ? rest.dropFirst() : nil
    }

    /// A name inside of a JSON pointer.
    static func escaped(_ name: String) -> String {
        var out = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": out += "~0"
            case "/": out += "~1"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    private static func unescaped(_ name: String) -> String {
        var out = String.UnicodeScalarView()
        var rest = name.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "~", let code = rest.first, code == "0" || code == "1" {
                rest.removeFirst()
                out.append(code == "0" ? "~" : "/")
            } else {
                out.append(scalar)
            }
        }
        return String(out)
    }

    private static func percentDecoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap {
                Character(Unicode.Scalar($0)).hexDigitValue
            }
            guard digits.count == 2 else { return nil }
            bytes.append(UInt8(16 * digits[0] + digits[1]))
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Keywords whose values are schemas, lists of schemas, and schemas by name.
    private static let schemaKeywords: Set<String> = [
        "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
        "unevaluatedItems", "unevaluatedProperties",
    ]
    private static let listKeywords: Set<String> = ["allOf", "anyOf", "oneOf", "prefixItems"]
    private static let nameKeywords: Set<String> = [
        "properties", "$defs", "definitions", "patternProperties", "dependentSchemas",
    ]

    /// `$anchor` of a schema and of the schemas inside of it.
    private static func collectAnchors(
        _ schema: JSONValue, _ pointer: String, _ found: inout [[UInt8]: (JSONValue, String)]
    ) {
        guard let fields = schema.fields else { return }
        if let name = schema["$anchor"]?.string, found[Array(name.utf8)] == nil {
            found[Array(name.utf8)] = (schema, pointer)
        }
        for field in fields {
            let place = pointer + "/" + escaped(field.name)
            if schemaKeywords.contains(field.name) {
                collectAnchors(field.value, place, &found)
            } else if listKeywords.contains(field.name) {
                for (index, item) in (field.value.list ?? []).enumerated() {
                    collectAnchors(item, "\(place)/\(index)", &found)
                }
            } else if nameKeywords.contains(field.name) {
                for inner in field.value.fields ?? [] {
                    collectAnchors(inner.value, place + "/" + escaped(inner.name), &found)
                }
            }
        }
    }
}
