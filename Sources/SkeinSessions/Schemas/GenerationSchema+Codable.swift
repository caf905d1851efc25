import Foundation
import SkeinGrammar
import SkeinJSON

extension GenerationSchema: Codable {
    /// A schema from its coded form. Any JSON Schema is taken; whether a model can be held to it
    /// shows when it is used.
    ///
    /// - Throws: `DecodingError` if it is no JSON object, or nested too deep.
    public init(from decoder: any Decoder) throws {
        let json = try CodedJSON(from: decoder).value
        guard json.fields != nil else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a schema is an object"))
        }
        self.init(.document(CodedSchema.ordered(json)))
    }

    /// Writes the schema as JSON Schema, draft 2020-12. Encoders do not keep the order of keys, so
    /// `x-order` lists the names of an object's properties.
    ///
    /// - Throws: `SchemaError` if the schema contradicts itself; what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try CodedJSON(value: CodedSchema.withOrder(try json())).encode(to: encoder)
    }

    /// A schema from JSON text.
    ///
    /// - Parameter text: a JSON Schema. The order of properties is that of the text, or of `x-order`.
    /// - Throws: `GrammarError` if it is no JSON, or too large; `DecodingError` if it is no object.
    package init(jsonText text: String) throws {
        let json = try GrammarJSON.read(Array(text.utf8))
        guard json.fields != nil else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a schema is an object"))
        }
        self.init(.document(CodedSchema.ordered(json)))
    }
}

extension GenerationSchema: Equatable {
    /// Whether two schemas are written as the same JSON.
    public static func == (a: GenerationSchema, b: GenerationSchema) -> Bool {
        func text(_ schema: GenerationSchema) -> Result<String, SchemaError> {
            do { return .success(try schema.jsonText()) } catch { return .failure(error) }
        }
        return text(a) == text(b)
    }
}

extension GenerationSchema: CustomDebugStringConvertible {
    /// The JSON text, or what is wrong with the schema.
    public var debugDescription: String {
        do {
            return try jsonText()
        } catch {
            return "invalid schema: \(error.errorDescription ?? "")"
        }
    }

    /// The name of the type, or of the dynamic schema.
    package var name: String { form.name }
}

/// JSON in an encoder's or decoder's form.
private struct CodedJSON: Codable {
    let value: JSONValue

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    init(value: JSONValue) {
        self.value = value
    }

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count < GrammarLimits.jsonDepth else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "nested too deep"))
        }
        if let container = try? decoder.container(keyedBy: Key.self) {
            // Keys come in the order of a hash table: here in one that does not change.
            let keys = container.allKeys.sorted {
                $0.stringValue.utf8.lexicographicallyPrecedes($1.stringValue.utf8)
            }
            value = .object(
                try keys.map { key in
                    JSONField(
                        key.stringValue, try container.decode(CodedJSON.self, forKey: key).value)
                })
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var items: [JSONValue] = []
            while !container.isAtEnd { items.append(try container.decode(CodedJSON.self).value) }
            value = .list(items)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let bool = try? container.decode(Bool.self) {
            value = .bool(bool)
        } else if let text = try? container.decode(String.self) {
            value = .text(text)
        } else if let int = try? container.decode(Int.self) {
            value = .number(String(int))
        } else if let number = (try? container.decode(Decimal.self)).flatMap(NumberText.init) {
            value = .number(number.normal.description)
        } else if let number = NumberText(try container.decode(Double.self)) {
            value = .number(number.normal.description)
        } else {
            value = .null
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .object(let fields):
            var container = encoder.container(keyedBy: Key.self)
            for field in fields {
                try container.encode(
                    CodedJSON(value: field.value), forKey: Key(stringValue: field.name))
            }
        case .list(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(CodedJSON(value: item)) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let bool): try Self.encode(bool, to: encoder)
        case .text(let text): try Self.encode(text, to: encoder)
        case .number(let text):
            let number = NumberText(checked: text)
            if let int = number.int {
                try Self.encode(int, to: encoder)
            } else if let decimal = number.decimal {
                try Self.encode(decimal, to: encoder)
            } else {
                try Self.encode(number.double, to: encoder)
            }
        }
    }

    private static func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
