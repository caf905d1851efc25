import SkeinJSON

/// One keyword's value.
struct KeywordReader {
    let value: JSONValue
    let pointer: String
    let document: SchemaDocument

    private func bad(_ expected: String) -> GrammarError {
        .badKeyword(pointer: pointer, expected: expected)
    }

    func string() throws(GrammarError) -> String {
        guard let string = value.string else { throw bad("a string") }
        return string
    }

    func bool() throws(GrammarError) -> Bool {
        guard case .bool(let bool) = value else { throw bad("true or false") }
        return bool
    }

    func list() throws(GrammarError) -> [JSONValue] {
        guard let list = value.list else { throw bad("a list") }
        return list
    }

    func strings() throws(GrammarError) -> [String] {
        let strings = try list().compactMap(\.string)
        guard strings.count == value.list?.count else { throw bad("a list of strings") }
        return strings
    }

    /// A whole number from 0, written as one or as 2.0.
    func count() throws(GrammarError) -> Int {
        guard case .number(let text) = value, let number = ExactDecimal(json: text),
            let count = number.int, count >= 0
        else { throw bad("a whole number from 0 to \(Int.max)") }
        return count
    }

    func number() throws(GrammarError) -> ExactDecimal {
        guard case .number(let text) = value, let number = ExactDecimal(json: text) else {
            throw bad("a number")
        }
        return number
    }

    static func isSchema(_ value: JSONValue) -> Bool {
        switch value {
        case .bool, .object: true
        default: false
        }
    }

    func schema() throws(GrammarError) -> SchemaDocument.ID {
        guard Self.isSchema(value) else { throw bad("a schema: an object, true or false") }
        return document.number(of: value, at: pointer)
    }

    func schemas() throws(GrammarError) -> [SchemaDocument.ID] {
        guard let list = value.list, !list.isEmpty, list.allSatisfy(Self.isSchema) else {
            throw bad("a list of schemas")
        }
        return list.enumerated().map { document.number(of: $1, at: "\(pointer)/\($0)") }
    }

    func namedSchemas() throws(GrammarError) -> [(
        name: String, schema: SchemaDocument.ID
    )] {
        guard let fields = value.fields, fields.allSatisfy({ Self.isSchema($0.value) }) else {
            throw bad("an object of schemas")
        }
        return fields.map {
            let place = pointer + "/" + SchemaDocument.escaped($0.name)
            return ($0.name, document.number(of: $0.value, at: place))
        }
    }
}
