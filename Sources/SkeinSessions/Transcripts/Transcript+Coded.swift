import Foundation
import SkeinGrammar
import SkeinJSON

extension Transcript: Codable {
    /// Reads the coded form, strictly: unknown keys, newer versions and a history that no session
    /// can have had are errors.
    ///
    /// - Parameter decoder: of any format.
    /// - Throws: `TranscriptError`; what the decoder throws.
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(coded: decoder)
        let bytes = value.weight
        guard bytes <= TranscriptLimits.codedBytes else {
            throw TranscriptError.tooLarge(bytes: bytes, limit: TranscriptLimits.codedBytes)
        }
        self = try TranscriptReader.transcript(value)
    }

    /// Writes the coded form.
    ///
    /// - Parameter encoder: of any format.
    /// - Throws: `OptionsError` for options out of range; `TranscriptError.tooDeep` for content
    ///   that could not be read again; what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try JSONCoded(TranscriptWriter.coded(self)).encode(to: encoder)
    }

    /// Reads the coded form from JSON that may come from a stranger: it is not looked at if it is
    /// too large, and keys that are there twice are an error.
    ///
    /// - Parameter jsonData: what `jsonData()` or `JSONEncoder` wrote.
    /// - Throws: `TranscriptError`.
    public init(jsonData: Data) throws {
        let limit = TranscriptLimits.codedBytes
        let value: JSONValue
        do {
            let rules = JSONRules(depth: GrammarLimits.jsonDepth, bytes: limit, takesMark: true)
            value = try JSONReader.read(Array(jsonData.prefix(limit + 1)), rules)
        } catch {
            switch error.kind {
            case .tooLarge:
                throw TranscriptError.tooLarge(bytes: jsonData.count, limit: limit)
            case .tooDeep(let limit): throw TranscriptError.tooDeep(limit: limit)
            case .malformed, .notUTF8, .halfOfPair, .repeatedName:
                throw TranscriptError.malformed(offset: error.offset)
            }
        }
        self = try TranscriptReader.transcript(value)
    }

    /// The coded form as JSON on one line; equal transcripts have equal bytes.
    ///
    /// - Returns: UTF-8.
    /// - Throws: `OptionsError` for options out of range; `TranscriptError.tooDeep` for content
    ///   that could not be read again; what a schema throws.
    public func jsonData() throws -> Data {
        Data(try TranscriptWriter.coded(self).written.utf8)
    }
}

extension JSONValue {
    /// What a decoder has, for types whose coded form is a transcript's.
    ///
    /// - Throws: `TranscriptError.tooDeep`; what the decoder throws.
    init(coded decoder: any Decoder) throws {
        do {
            self = try JSONCoded(from: decoder).value
        } catch is JSONCoded.TooDeep {
            throw TranscriptError.tooDeep(limit: GrammarLimits.jsonDepth)
        }
    }

    /// An object of the fields that have a value.
    static func fields(_ fields: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(fields.compactMap { field in field.value.map { JSONField(field.key, $0) } })
    }

    /// About as many bytes as the value takes when it is written.
    fileprivate var weight: Int {
        switch self {
        case .null, .bool: 4
        case .number(let text), .text(let text): text.utf8.count + 2
        case .list(let items): items.reduce(2) { $0 + $1.weight + 1 }
        case .object(let fields):
            fields.reduce(2) { $0 + $1.name.utf8.count + $1.value.weight + 4 }
        }
    }
}
