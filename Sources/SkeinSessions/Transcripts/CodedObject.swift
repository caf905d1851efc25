import SkeinGrammar
import SkeinJSON

/// An object of a coded transcript with known keys: any other key is an error, and so is a value of
/// another kind than what is asked for.
struct CodedObject {
    let place: String
    private let fields: [String: JSONValue]

    /// - Parameters:
    ///   - value: what should be an object.
    ///   - place: where it stands.
    ///   - required: the keys that must be there.
    ///   - optional: the keys that may be there.
    /// - Throws: `TranscriptError.wrongValue`, `.unknownKey`, `.missingKey`.
    init(
        _ value: JSONValue, at place: String, required: [String], optional: [String] = []
    ) throws(TranscriptError) {
        guard let list = value.fields else {
            throw .wrongValue(place: place, expected: "an object")
        }
        var fields: [String: JSONValue] = [:]
        for field in list {
            guard required.contains(field.name) || optional.contains(field.name) else {
                throw .unknownKey(name: field.name, place: place)
            }
            fields[field.name] = field.value
        }
        for name in required where fields[name] == nil {
            throw .missingKey(name: name, place: place)
        }
        self.place = place
        self.fields = fields
    }

    /// A value as it stands; nil if the key is not there.
    subscript(_ name: String) -> JSONValue? { fields[name] }

    /// Where the value of a key stands.
    func place(of name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    func wrong(_ name: String, _ expected: String) -> TranscriptError {
        .wrongValue(place: place(of: name), expected: expected)
    }

    /// A value that is read by `body`, which learns its place.
    func value<Value>(
        _ name: String, _ body: (JSONValue, String) throws(TranscriptError) -> Value
    ) throws(TranscriptError) -> Value? {
        guard let value = fields[name] else { return nil }
        return try body(value, place(of: name))
    }

    /// The items of a list, each read by `body`; empty if the key is not there.
    func list<Item>(
        _ name: String, _ body: (JSONValue, String) throws(TranscriptError) -> Item
    ) throws(TranscriptError) -> [Item] {
        guard let value = fields[name] else { return [] }
        guard let list = value.list else { throw wrong(name, "an array") }
        var items: [Item] = []
        for (index, item) in list.enumerated() {
            items.append(try body(item, "\(place(of: name))[\(index)]"))
        }
        return items
    }

    func text(_ name: String) throws(TranscriptError) -> String? {
        guard let value = fields[name] else { return nil }
        guard let text = value.string else { throw wrong(name, "a string") }
        return text
    }

    /// A text whose key is required.
    func requiredText(_ name: String) throws(TranscriptError) -> String {
        guard let text = try text(name) else { throw .missingKey(name: name, place: place) }
        return text
    }

    func flag(_ name: String) throws(TranscriptError) -> Bool? {
        guard let value = fields[name] else { return nil }
        guard case .bool(let flag) = value else { throw wrong(name, "true or false") }
        return flag
    }

    func number(_ name: String) throws(TranscriptError) -> Double? {
        guard let value = fields[name] else { return nil }
        guard let number = value.double else { throw wrong(name, "a finite number") }
        return number
    }

    func integer(_ name: String) throws(TranscriptError) -> Int? {
        guard let value = fields[name] else { return nil }
        // Not by way of a Double: it does not hold all 64 bits.
        guard let integer = value.integer else { throw wrong(name, "a whole number") }
        return integer
    }

    /// A number of 64 bits, which no Double can hold in full.
    func seed(_ name: String) throws(TranscriptError) -> UInt64? {
        guard let value = fields[name] else { return nil }
        guard case .number(let text) = value, let number = UInt64(text) else {
            throw wrong(name, "a whole number from 0 to \(UInt64.max)")
        }
        return number
    }
}
