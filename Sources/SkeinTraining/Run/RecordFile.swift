import Foundation
import SkeinBasics

/// Reads the JSON records that Skein itself wrote: run.json, state.json, manifest.json, and the
/// lines of ledger.jsonl and metrics.jsonl.
enum RecordFile {
    /// The bytes of a small record.
    ///
    /// - Throws: `FileError`; `TrainingError.damagedRecord` above the limit.
    static func bytes(of path: String, in store: any Store) throws -> [UInt8] {
        let limit = Limits.recordFileBytes
        let file = try store.file(copying: path) { file in
            guard file.count <= limit else {
                throw TrainingError.damagedRecord(
                    path: path, line: nil, detail: "\(file.count) bytes, more than \(limit)")
            }
        }
        return file.withBytes { Array($0) }
    }

    /// Decodes one record.
    ///
    /// - Throws: `TrainingError.damagedRecord` that names the field.
    static func decode<Record: Decodable>(
        _ type: Record.Type, from bytes: some Sequence<UInt8>, path: String, line: Int? = nil
    ) throws -> Record {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw TrainingError.damagedRecord(path: path, line: line, detail: detail(of: error))
        }
    }

    /// An object whose fields are read by name.
    static func object(from bytes: [UInt8], path: String) throws -> [String: Any] {
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: Data(bytes))
        } catch {
            throw TrainingError.damagedRecord(
                path: path, line: nil, detail: "not JSON (\(JSONKind.remark(on: error)))")
        }
        guard let object = value as? [String: Any] else {
            throw TrainingError.damagedRecord(
                path: path, line: nil, detail: "\(JSONKind.name(of: value)), not an object")
        }
        return object
    }

    private static func detail(of error: any Error) -> String {
        func name(_ path: [any CodingKey]) -> String {
            path.map(\.stringValue).joined(separator: ".")
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            return "\"\(name(context.codingPath + [key]))\" is missing"
        case DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            return "\"\(name(context.codingPath))\" has another type than expected"
        case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "\"\(name(context.codingPath))\" is not valid"
        default: return "not JSON"
        }
    }

    /// An object with one field on each line, for people who read run.json.
    static func text(_ fields: [JSONLine.Field], indent: String = "") -> String {
        let inner = indent + "  "
        let lines = fields.map { name, value in
            let text: String
            if case .object(let fields) = value {
                text = self.text(fields, indent: inner)
            } else {
                text = JSONLine.render(value)
            }
            return inner + JSONLine.quote(name) + ": " + text
        }
        return "{\n" + lines.joined(separator: ",\n") + "\n" + indent + "}"
    }
}

/// Names the type of a value that JSONSerialization returned, for error messages.
enum JSONKind {
    static func name(of value: Any) -> String {
        switch value {
        case is String: "a string"
        case is [Any]: "a list"
        case is [String: Any]: "an object"
        case is NSNull: "null"
        case let number as NSNumber: isBool(number) ? "true or false" : "a number"
        default: "something else"
        }
    }

    /// JSONSerialization gives booleans as numbers; only their C type tells them apart.
    static func isBool(_ number: NSNumber) -> Bool {
        number.objCType.pointee == CChar(UInt8(ascii: "c"))
    }

    /// The parser's own remark on where the text stops being JSON.
    static func remark(on error: any Error) -> String {
        let detail = (error as NSError).userInfo["NSDebugDescription"] as? String
        return (detail ?? "unexpected character").trimmingCharacters(in: ["."])
    }
}
