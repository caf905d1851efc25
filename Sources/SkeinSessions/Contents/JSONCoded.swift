import Foundation
import SkeinGrammar
import SkeinJSON

/// Any JSON value, for encoders and decoders of any format.
///
/// Decoders do not tell the order of an object's keys, so it is the alphabetical one here.
struct JSONCoded: Codable {
    /// Lists and objects are nested deeper than `GrammarLimits.jsonDepth`.
    struct TooDeep: Error {
        var path: [any CodingKey]
    }

    let value: JSONValue
    /// Whether each number that is not whole is encoded as a `Decimal`, which JSON has without an
    /// exponent; else only one that no `Double` has. Property lists have objects for these.
    private let prefersDecimals: Bool

    init(_ value: JSONValue, prefersDecimals: Bool = false) {
        self.value = value
        self.prefersDecimals = prefersDecimals
    }

    /// - Throws: `TooDeep`; what the decoder throws.
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count < GrammarLimits.jsonDepth else {
            throw TooDeep(path: decoder.codingPath)
        }
        // A wrong guess is an error that the decoder must make, so what is frequent comes first.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            // Before texts: property lists have a text for it.
            self.init(.null)
        } else if let text = Self.guess(String.self, container) {
            self.init(.text(text))
        } else if let object = try Self.object(decoder) {
            self.init(object)
        } else if let list = try Self.list(decoder) {
            self.init(list)
        } else {
            self.init(try Self.scalar(container))
        }
    }

    /// The value as one type; nil: it is of another. The last guess of all throws what is wrong.
    private static func guess<Value: Decodable>(
        _ type: Value.Type, _ container: any SingleValueDecodingContainer
    ) -> Value? {
        // Only a refusal tells of what type a value is not.
        try? container.decode(type)
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if let flag = guess(Bool.self, container) { return .bool(flag) }
        if let number = guess(Int64.self, container) { return .number("\(number)") }
        if let number = guess(UInt64.self, container) { return .number("\(number)") }
        if let number = decimal(container) { return number }
        guard let number = NumberText(try container.decode(Double.self)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "not a finite number"))
        }
        return .number(number.text)
    }

    private static func decimal(_ container: any SingleValueDecodingContainer) -> JSONValue? {
        guess(Decimal.self, container).flatMap(NumberText.init).map { .number($0.text) }
    }

    private static func object(_ decoder: any Decoder) throws -> JSONValue? {
        // What is no object is guessed anew.
        guard let container = try? decoder.container(keyedBy: Key.self) else { return nil }
        let keys = container.allKeys.sorted { $0.stringValue.precedes($1.stringValue) }
        // What has no long decimals, such as a property list, writes one as an object.
        if keys.contains(where: { $0.stringValue == "mantissa" }),
            let number = decimal(try decoder.singleValueContainer())
        {
            return number
        }
        return .object(
            try keys.map { key in
                let isNull = try container.decodeNil(forKey: key)
                return JSONField(
                    key.stringValue,
                    isNull ? .null : try container.decode(Self.self, forKey: key).value)
            })
    }

    private static func list(_ decoder: any Decoder) throws -> JSONValue? {
        // What is no list is guessed anew.
        guard var container = try? decoder.unkeyedContainer() else { return nil }
        var items: [JSONValue] = []
        while !container.isAtEnd {
            items.append(
                try container.decodeNil() ? .null : try container.decode(Self.self).value)
        }
        return .list(items)
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .object(let fields):
            var container = encoder.container(keyedBy: Key.self)
            for field in fields {
                try container.encode(part(field.value), forKey: Key(stringValue: field.name))
            }
        case .list(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(part(item)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(to: &container)
        }
    }

    private func part(_ value: JSONValue) -> JSONCoded {
        JSONCoded(value, prefersDecimals: prefersDecimals)
    }

    private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
        switch value {
        case .bool(let flag): try container.encode(flag)
        case .text(let text): try container.encode(text)
        case .number(let text):
            let number = NumberText(checked: text)
            if let integer = number.int {
                try container.encode(integer)
            } else if let decimal = number.decimal,
                prefersDecimals || NumberText(number.double) != number
            {
                try container.encode(decimal)
            } else {
                try container.encode(number.double)
            }
        default: try container.encodeNil()
        }
    }

    private struct Key: CodingKey {
        let stringValue: String

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }

        var intValue: Int? { nil }
    }
}

extension String {
    /// Order by code points, which is that of the UTF-8 bytes.
    func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
