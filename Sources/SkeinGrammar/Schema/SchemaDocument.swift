/// The schemas inside of a document, by number, with their places.
final class SchemaDocument {
    /// Number of a schema.
    typealias ID = Int32

    struct Schema {
        let value: JSONText
        /// JSON pointer (RFC 6901).
        let pointer: String
    }

    /// The schema that nothing satisfies.
    static let nothing: ID = 0

    private var schemas = [Schema(value: .bool(false), pointer: "")]
    private var numbers: [[UInt8]: ID] = [:]
    private let root: JSONText
    /// Places of `$anchor`, found when one is first asked for.
    private var anchors: [[UInt8]: (JSONText, String)]?

    init(_ root: JSONText) {
        self.root = root
    }

    /// The whole document.
    var whole: ID { number(of: root, at: "") }

    subscript(_ id: ID) -> Schema { schemas[Int(id)] }

    /// The schema at a place.
    func number(of value: JSONText, at pointer: String) -> ID {
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
        guard reference.utf8.first == UInt8(ascii: "#") else {
            throw .unsupported(pointer: pointer, reason: .remote(reference))
        }
        let bad = GrammarError.badReference(pointer: pointer, reference: reference)
        guard let fragment = Self.percentDecoded(reference.utf8.dropFirst()) else { throw bad }
        if fragment.isEmpty { return number(of: root, at: "") }
        guard fragment.utf8.first == UInt8(ascii: "/") else {
            if anchors == nil {
                var found: [[UInt8]: (JSONText, String)] = [:]
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
            guard rest.count >= 2, let code = UInt8(String(rest.prefix(2)) ?? "", radix: 16) else {
                return nil
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// `$anchor` in every object that is no value of `enum` or `const`.
    private static func collectAnchors(
        _ value: JSONText, _ pointer: String, _ found: inout [[UInt8]: (JSONText, String)]
    ) {
        switch value {
        case .object(let fields):
            if let name = value["$anchor"]?.string, found[Array(name.utf8)] == nil {
                found[Array(name.utf8)] = (value, pointer)
            }
            for field in fields where field.name != "enum" && field.name != "const" {
                collectAnchors(field.value, pointer + "/" + escaped(field.name), &found)
            }
        case .list(let items):
            for (index, item) in items.enumerated() {
                collectAnchors(item, pointer + "/\(index)", &found)
            }
        default: break
        }
    }
}
