import Foundation
import SkeinGrammar
import SkeinJSON

extension GenerationSchema: Codable {
    /// A schema from its coded form. Any JSON Schema is taken; whether a model can be held to it
    /// shows when it is used.
    ///
    /// - Throws: `DecodingError` if it is no JSON object, or nested too deep.
    public init(from decoder: any Decoder) throws {
        do {
            let json = try JSONCoded(from: decoder).value.withNormalNumbers
            try self.init(document: json, at: decoder.codingPath)
        } catch let error as JSONCoded.TooDeep {
            throw DecodingError.dataCorrupted(
                .init(codingPath: error.path, debugDescription: "nested too deep"))
        }
    }

    /// Writes the schema as JSON Schema, draft 2020-12. Encoders do not keep the order of keys, so
    /// `x-order` lists the names of an object's properties.
    ///
    /// - Throws: `SchemaError` if the schema contradicts itself; what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try JSONCoded(CodedSchema.withOrder(try json()), prefersDecimals: true).encode(to: encoder)
    }

    /// A schema from JSON text.
    ///
    /// - Parameter text: a JSON Schema. The order of properties is that of the text, or of `x-order`.
    /// - Throws: `GrammarError` if it is no JSON, or too large; `DecodingError` if it is no object.
    package init(jsonText text: String) throws {
        try self.init(document: GrammarJSON.read(Array(text.utf8)), at: [])
    }

    private init(document json: JSONValue, at place: [any CodingKey]) throws(DecodingError) {
        guard json.fields != nil else {
            throw .dataCorrupted(
                .init(codingPath: place, debugDescription: "a schema is an object"))
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

extension JSONValue {
    /// The value with its numbers in the one spelling that equal numbers have.
    fileprivate var withNormalNumbers: JSONValue {
        switch self {
        case .number(let text): .number(NumberText(checked: text).normal.description)
        case .list(let items): .list(items.map(\.withNormalNumbers))
        case .object(let fields):
            .object(fields.map { JSONField($0.name, $0.value.withNormalNumbers) })
        default: self
        }
    }
}
