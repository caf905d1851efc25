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
        let value = try CodedText(from: decoder).value
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
        try CodedText(TranscriptWriter.coded(self)).encode(to: encoder)
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
            value = try GrammarJSON.read(Array(jsonData.prefix(limit + 1)), limit: limit)
        } catch {
            switch error {
            case .tooLarge:
                throw TranscriptError.tooLarge(bytes: jsonData.count, limit: limit)
            case .tooDeep(let limit): throw TranscriptError.tooDeep(limit: limit)
            case .malformed(let offset): throw TranscriptError.malformed(offset: offset)
            default: throw TranscriptError.malformed(offset: 0)
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
