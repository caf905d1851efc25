import Foundation
import SkeinGrammar
import SkeinJSON

/// Any JSON value, for encoders and decoders.
///
/// Decoders do not tell the order of an object's keys, so it is the alphabetical one here.
struct CodedText: Codable {
    var value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count < GrammarLimits.jsonDepth else {
            throw TranscriptError.tooDeep(limit: GrammarLimits.jsonDepth)
        }
        // A wrong guess is an error that the decoder must make, so what is frequent comes first.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            // Before texts: property lists have a text for it.
            value = .null
        } else if let text = try? container.decode(String.self) {
            value = .text(text)
        } else if let object = try Self.object(decoder) {
            value = object
        } else if let list = try Self.list(decoder) {
            value = list
        } else {
            value = try Self.scalar(container)
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if let flag = try? container.decode(Bool.self) { return .bool(flag) }
        if let number = try? container.decode(Int64.self) { return .number("\(number)") }
        if let number = try? container.decode(UInt64.self) { return .number("\(number)") }
        if let number = (try? container.decode(Decimal.self)).flatMap(NumberText.init) {
            return .number(number.text)
        }
        guard let number = NumberText(try container.decode(Double.self)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "not a finite number"))
        }
        return .number(number.text)
    }

    private static func object(_ decoder: any Decoder) throws -> JSONValue? {
        guard let container = try? decoder.container(keyedBy: Key.self) else { return nil }
        let keys = container.allKeys.sorted { $0.stringValue.precedes($1.stringValue) }
        // What has no long decimals, such as a property list, writes one as an object.
        if keys.contains(where: { $0.stringValue == "mantissa" }),
            let number = (try? decoder.singleValueContainer().decode(Decimal.self))
                .flatMap(NumberText.init)
        {
            return .number(number.text)
        }
        return .object(
            try keys.map { key in
                let isNull = try container.decodeNil(forKey: key)
                return JSONField(
                    name: key.stringValue,
                    value: isNull ? .null : try container.decode(Self.self, forKey: key).value)
            })
    }

    private static func list(_ decoder: any Decoder) throws -> JSONValue? {
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
                try container.encode(Self(field.value), forKey: Key(stringValue: field.name))
            }
        case .list(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(Self(item)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(to: &container)
        }
    }

    private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
        switch value {
        case .bool(let flag): try container.encode(flag)
        case .text(let text): try container.encode(text)
        case .number(let text):
            let number = NumberText(checked: text)
            if let integer = number.int {
                try container.encode(integer)
            } else if let decimal = number.decimal, NumberText(number.double) != number {
                // More digits than a Double has; only JSON has numbers for these.
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

extension JSONValue {
    /// About as many bytes as the value takes when it is written.
    var weight: Int {
        switch self {
        case .null, .bool: 4
        case .number(let text), .text(let text): text.utf8.count + 2
        case .list(let items): items.reduce(2) { $0 + $1.weight + 1 }
        case .object(let fields):
            fields.reduce(2) { $0 + $1.name.utf8.count + $1.value.weight + 4 }
        }
    }

    /// Whether arrays and objects are not nested deeper, the value itself being the first level.
    func isNested(atMost depth: Int) -> Bool {
        guard depth > 0 else { return false }
        return switch self {
        case .list(let items): items.allSatisfy { $0.isNested(atMost: depth - 1) }
        case .object(let fields): fields.allSatisfy { $0.value.isNested(atMost: depth - 1) }
        default: true
        }
    }

    /// An object of the fields that have a value.
    static func fields(_ fields: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(
            fields.compactMap { field in
                field.value.map { JSONField(name: field.key, value: $0) }
            })
    }
}
