import SkeinBasics
import SkeinFormats
import SkeinJSON

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
    static func contents(of path: String) throws -> [UInt8] {
        let file = try MappedFile(path: path)
        guard file.count <= TokenizerLimits.fileBytes else {
            throw TokenizerError.fileTooLarge(
                path: path, bytes: file.count, limit: TokenizerLimits.fileBytes)
        }
        return try file.withBytes { bytes in
            if let foreign = ForeignFileError(path: path, bytes: bytes, use: .text) {
                throw foreign
            }
            return Array(bytes)
        }
    }

    /// Decodes JSON text that came from `source`.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from json: [UInt8], source: String
    ) throws(TokenizerError) -> Value {
        try decode(type, from: tree(json, source: source), source: source)
    }

    /// JSON text that came from `source` as a value; of equal names, all are there.
    static func tree(_ json: [UInt8], source: String) throws(TokenizerError) -> JSONValue {
        do {
            return try JSONReader.read(json, JSONFile.rules)
        } catch {
            throw .invalid(.notJSON(error.sentence(in: json)), source: source)
        }
    }

    /// Decodes a value that came from `source`.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from tree: JSONValue, source: String
    ) throws(TokenizerError) -> Value {
        func wrong(_ context: DecodingError.Context, _ expected: String) -> TokenizerError {
            let path = text(context.codingPath)
            return .invalid(.wrongType(path: path, expected: expected), source: source)
        }
        do {
            return try JSONTree.decode(type, from: tree)
        } catch DecodingError.typeMismatch(let type, let context) {
            throw wrong(context, name(of: type))
        } catch DecodingError.valueNotFound(let type, let context) {
            throw wrong(context, name(of: type))
        } catch DecodingError.keyNotFound(let key, let context) {
            throw .invalid(.missingValue(path: text(context.codingPath + [key])), source: source)
        } catch DecodingError.dataCorrupted(let context) {
            let isWhole = (context.underlyingError as? JSONMisfit)?.isWhole ?? false
            throw wrong(context, isWhole ? "a whole number" : "a finite number")
        } catch {
            // No type that is decoded here throws another error.
            throw .invalid(.notJSON("\(error)"), source: source)
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
        return "\(type)".contains("Array") ? "a list" : "an object"
    }
}
