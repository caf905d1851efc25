import SkeinBasics
import SkeinJSON

/// Reads JSON of bounded size into typed values, and says by file and field what is wrong with it.
package enum JSONFile {
    /// What the files of a model may be: Python wrote them, so numbers that are not read may be NaN or
    /// infinite, and of equal names the first counts.
    package static let rules = JSONRules(
        depth: 512, names: .all, leavesCount: false, takesMark: true, takesNonFinite: true)

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
    ///
    /// - Throws: `FormatError`; `ForeignFileError` for a file of another kind.
    static func decode<Value: Decodable>(
        _ type: Value.Type, file: MappedFile, limit: Int
    ) throws -> Value {
        try check(file.count, limit: limit, path: file.path)
        return try file.withBytes { bytes in
            do {
                return try decode(type, bytes: bytes, path: file.path, rules)
            } catch let error as FormatError {
                guard case .badJSON = error,
                    let foreign = ForeignFileError(path: file.path, bytes: bytes, use: .text)
                else { throw error }
                throw foreign
            }
        }
    }

    /// RFC 8259's numbers alone, for JSON inside of another file.
    static var strictRules: JSONRules {
        var rules = rules
        rules.takesNonFinite = false
        return rules
    }

    /// Decodes JSON text from the file `path`.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, bytes: UnsafeRawBufferPointer, path: String,
        _ rules: JSONRules = strictRules
    ) throws -> Value {
        do {
            return try JSONTree.decode(type, from: JSONReader.read(bytes, rules))
        } catch let flaw as JSONFlaw {
            throw FormatError.badJSON(path: path, reason: flaw.sentence)
        } catch let error as DecodingError {
            throw formatError(error, path: path)
        }
    }

    private static func formatError(_ error: DecodingError, path: String) -> FormatError {
        func bad(
            _ context: DecodingError.Context, _ expected: String, _ found: String
        ) -> FormatError {
            .badField(
                path: path, field: fieldName(context.codingPath), expected: expected, found: found)
        }
        switch error {
        case .keyNotFound(let key, let context):
            return .missingField(path: path, field: fieldName(context.codingPath + [key]))
        case .typeMismatch(let type, let context):
            return bad(context, typeName(type), "another type")
        case .valueNotFound(let type, let context): return bad(context, typeName(type), "null")
        case .dataCorrupted(let context):
            guard let misfit = context.underlyingError as? JSONMisfit else {
                return bad(context, "a value in range", context.debugDescription)
            }
            let kind = misfit.isWhole ? "an integer" : "a finite number"
            return bad(context, "\(kind) of 64 bits", misfit.number)
        @unknown default: return .badJSON(path: path, reason: "it cannot be decoded")
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

    package init?(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { return nil }
}
