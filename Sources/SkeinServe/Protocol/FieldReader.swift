import SkeinBasics
import SkeinGrammar
import SkeinJSON
import SkeinText

/// Reads the fields of a request's JSON object. A field that is null counts as missing, as clients
/// mean it; one that is not asked for is ignored, as other servers do.
struct FieldReader {
    private static let rules = JSONRules(
        depth: GrammarLimits.jsonDepth, bytes: Limits.bodyBytes, names: .last, takesMark: true)

    private let object: JSONValue
    /// Where the object stands in the request, such as `messages[0].`.
    private let prefix: String

    init(_ object: JSONValue, at place: String = "") {
        self.object = object
        prefix = place.isEmpty ? "" : place + "."
    }

    /// Reads a request's body.
    init(body: [UInt8]) throws(APIError) {
        let json: JSONValue
        do {
            json = try JSONReader.read(body, Self.rules)
        } catch {
            let what =
                switch error.kind {
                case .malformed, .notUTF8, .halfOfPair, .repeatedName:
                    "the body is no JSON (RFC 8259, UTF-8): byte \(error.offset) does not belong"
                case .tooDeep(let limit): "the body's JSON is nested deeper than \(limit)"
                case .tooLarge(let limit): "the body is longer than \(limit) bytes"
                }
            throw .invalid(nil, what, code: "invalid_json")
        }
        guard json.fields != nil else {
            throw .invalid(nil, "the body is a JSON object", code: "invalid_json")
        }
        self.init(json)
    }

    /// The fields that are not null, in their order.
    var given: [(name: String, value: JSONValue)] {
        (object.fields ?? []).compactMap { field in
            if case .null = field.value { return nil }
            return (field.name, field.value)
        }
    }

    func place(_ name: String) -> String { prefix + name }

    /// The field; nil if it is missing or null.
    subscript(_ name: String) -> JSONValue? {
        guard let value = object[name] else { return nil }
        if case .null = value { return nil }
        return value
    }

    func wrong(_ name: String, _ expected: String) -> APIError {
        .invalid(place(name), "\(place(name)) is \(expected)")
    }

    func bool(_ name: String) throws(APIError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard case .bool(let flag) = value else { throw wrong(name, "true or false") }
        return flag
    }

    func string(_ name: String) throws(APIError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw wrong(name, "a string") }
        return text
    }

    func integer(_ name: String, _ range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let value = self[name] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A number of the range, or the one that it begins above: a `top_p` of 0.
    func number(_ name: String, _ range: NumberRange) throws(APIError) -> Float? {
        guard let value = self[name] else { return nil }
        guard let number = value.double, number == range.first || range.contains(number) else {
            throw wrong(name, "a number from \(NumberRange(range.first, to: range.last).text)")
        }
        return Float(number)
    }

    /// A string, or a list of strings.
    func strings(_ name: String, atMost limit: Int) throws(APIError) -> [String]? {
        guard let value = self[name] else { return nil }
        if let text = value.string { return [text] }
        guard let items = value.list, items.count <= limit else {
            throw wrong(name, "a string or a list of at most \(limit) strings")
        }
        var texts: [String] = []
        for item in items {
            guard let text = item.string else { throw wrong(name, "a list of strings") }
            texts.append(text)
        }
        return texts
    }

    /// A list of token ids, which are whole numbers from 0.
    func tokens(_ name: String, atMost limit: Int) throws(APIError) -> Set<Int32> {
        guard let value = self[name] else { return [] }
        guard let items = value.list, items.count <= limit else {
            throw wrong(name, "a list of at most \(limit) token ids")
        }
        var tokens: Set<Int32> = []
        for item in items {
            guard let token = item.integer.flatMap({ Int32(exactly: $0) }), token >= 0 else {
                throw wrong(name, "a list of token ids, which are whole numbers from 0")
            }
            tokens.insert(token)
        }
        return tokens
    }

    func object(_ name: String) throws(APIError) -> FieldReader? {
        guard let value = self[name] else { return nil }
        guard value.fields != nil else { throw wrong(name, "an object") }
        return FieldReader(value, at: place(name))
    }
}
