import Foundation
import SkeinBasics

/// Reads JSON of bounded size into typed values, and turns Foundation's errors into `FormatError`.
package enum JSONFile {
    /// Decodes the file at `path`.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, path: String, limit: Int, in store: any Store = DiskStore()
    ) throws -> Value {
        try decode(type, file: read(path, limit: limit, in: store), limit: limit)
    }

    /// The file at `path` in memory, of at most `limit` bytes.
    static func read(
        _ path: String, limit: Int, in store: any Store = DiskStore()
    ) throws -> MappedFile {
        try store.file(copying: path) { try check($0.count, limit: limit, path: path) }
    }

    private static func check(_ count: Int, limit: Int, path: String) throws {
        guard count <= limit else {
            throw FormatError.overLimit(
                path: path, field: "file size", limit: UInt64(limit), found: UInt64(count))
        }
    }

    /// Decodes a mapped file of at most `limit` bytes.
    static func decode<Value: Decodable>(
        _ type: Value.Type, file: MappedFile, limit: Int
    ) throws -> Value {
        try check(file.count, limit: limit, path: file.path)
        return try file.withBytes { try decode(type, python: $0, path: file.path) }
    }

    /// Decodes JSON text from the file `path`.
    static func decode<Value: Decodable>(
        _ type: Value.Type, bytes: UnsafeRawBufferPointer, path: String
    ) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw formatError(error, path: path)
        }
    }

    /// The same of a whole file, which Python may have written: numbers that are not read may be NaN or
    /// infinite.
    ///
    /// - Throws: `FormatError`; `ForeignFileError` for a file of another kind.
    private static func decode<Value: Decodable>(
        _ type: Value.Type, python bytes: UnsafeRawBufferPointer, path: String
    ) throws -> Value {
        do {
            return try decode(type, bytes: bytes, path: path)
        } catch let error as FormatError {
            guard case .badJSON = error else { throw error }
            if let foreign = ForeignFileError(path: path, bytes: bytes, use: .text) {
                throw foreign
            }
            guard let python = PythonJSON(bytes) else { throw error }
            return try decode(type, python, path: path)
        }
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ python: PythonJSON, path: String
    ) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: python.text)
        } catch let error as DecodingError {
            // The decoder reports a number that does not fit like text that is not JSON.
            if case .dataCorrupted = error, isJSON(python.text) {
                throw FormatError.badJSON(path: path, reason: python.flaw)
            }
            throw formatError(error, path: path)
        }
    }

    /// Whether a text is an object whose values need not be looked at.
    private static func isJSON(_ text: Data) -> Bool {
        do {
            _ = try JSONDecoder().decode(Unread.self, from: text)
            return true
        } catch {
            return false
        }
    }

    private struct Unread: Decodable {}

    private static func formatError(_ error: DecodingError, path: String) -> FormatError {
        switch error {
        case .keyNotFound(let key, let context):
            return .missingField(path: path, field: fieldName(context.codingPath + [key]))
        case .typeMismatch(let type, let context):
            return .badField(
                path: path, field: fieldName(context.codingPath), expected: typeName(type),
                found: "another type")
        case .valueNotFound(let type, let context):
            return .badField(
                path: path, field: fieldName(context.codingPath), expected: typeName(type),
                found: "null")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            return .badField(
                path: path, field: fieldName(context.codingPath), expected: "a value in range",
                found: context.debugDescription)
        case .dataCorrupted(let context):
            // Foundation puts line and column into the underlying error.
            let detail = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"]
            return .badJSON(path: path, reason: detail as? String ?? context.debugDescription)
        @unknown default:
            return .badJSON(path: path, reason: "it cannot be decoded")
        }
    }

    private static func fieldName(_ codingPath: [any CodingKey]) -> String {
        codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            .joined(separator: ".")
    }

    private static func typeName(_ type: Any.Type) -> String {
        switch type {
        case is Int.Type: "an integer"
        case is Double.Type, is Float.Type: "a number"
        case is Bool.Type: "true or false"
        case is String.Type: "a string"
        default: String(describing: type).hasPrefix("Array") ? "an array" : "an object"
        }
    }
}

/// A key of a JSON object whose keys are data.
package struct NamedKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    package init?(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { return nil }
}
