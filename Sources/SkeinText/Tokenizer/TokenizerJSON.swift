import Foundation
import SkeinBasics
import SkeinFormats

/// Reads a JSON file into a type, and says by path what is wrong with it.
enum TokenizerJSON {
    /// Decodes the file at `path`.
    ///
    /// - Throws: `TokenizerError` for what it holds; `ForeignFileError` for a file of another kind;
    ///   `FileError` when it cannot be read.
    static func decode<Value: Decodable>(_ type: Value.Type, at path: String) throws -> Value {
        try decode(type, from: contents(of: path), source: path)
    }

    /// The bytes of the file at `path`.
    ///
    /// - Throws: `TokenizerError.fileTooLarge`; `ForeignFileError`; `FileError`.
    static func contents(of path: String) throws -> Data {
        let file = try MappedFile(path: path)
        guard file.count <= TokenizerLimits.fileBytes else {
            throw TokenizerError.fileTooLarge(
                path: path, bytes: file.count, limit: TokenizerLimits.fileBytes)
        }
        let data = Data(file.bytes)
        // The decoder reads wide text, too.
        if let error = foreign(data, path: path), !error.kind.isWideText { throw error }
        return data
    }

    /// What a file is if it is no JSON and no tokenizer.model.
    static func foreign(_ data: Data, path: String) -> ForeignFileError? {
        data.withUnsafeBytes { ForeignFileError(path: path, bytes: $0, use: .text) }
    }

    /// Decodes JSON text that came from `source`. Python may have written it: numbers that are not read
    /// may be NaN or infinite.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, source: String
    ) throws(TokenizerError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch DecodingError.typeMismatch(let type, let context) {
            let flaw = TokenizerError.Flaw.wrongType(
                path: text(context.codingPath), expected: name(of: type))
            throw .invalid(flaw, source: source)
        } catch DecodingError.valueNotFound(let type, let context) {
            let flaw = TokenizerError.Flaw.wrongType(
                path: text(context.codingPath), expected: name(of: type))
            throw .invalid(flaw, source: source)
        } catch DecodingError.keyNotFound(let key, let context) {
            throw .invalid(.missingValue(path: text(context.codingPath + [key])), source: source)
        } catch {
            if let python = PythonJSON(data) {
                return try decode(type, from: python.text, source: source)
            }
            // The decoder reports a number that does not fit, such as an id of 1.5, like text that
            // is not JSON, without a place. Ids are the only whole numbers here.
            let flaw: TokenizerError.Flaw =
                isJSON(data) ? .wrongType(path: "an id", expected: "a whole number") : .notJSON
            throw .invalid(flaw, source: source)
        }
    }

    private static func isJSON(_ data: Data) -> Bool {
        do {
            _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
            return true
        } catch {
            return false
        }
    }

    /// "model.merges[3]"; "the file" for the top.
    private static func text(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return text.isEmpty ? "the file" : text
    }

    private static func name(of type: any Any.Type) -> String {
        if type is Int.Type { return "a whole number" }
        if type is Double.Type { return "a number" }
        if type is String.Type { return "a text" }
        if type is Bool.Type { return "true or false" }
        if type is (String, String).Type { return "a list of pairs of texts" }
        return "\(type)".contains("Array") ? "a list" : "an object"
    }
}
