import SkeinBasics
import SkeinJSON

/// Reads the JSON records that Skein writes: run.json, a session's record, state.json, manifest.json,
/// the lines of ledger.jsonl and metrics.jsonl, and the configuration in a coordinator's offer.
package enum RecordFile {
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
            return try JSONTree.decode(type, from: bytes)
        } catch {
            throw TrainingError.damagedRecord(path: path, line: line, detail: detail(of: error))
        }
    }

    /// Objects in objects; a configuration is one in run.json, and nothing in it is deeper.
    private static let depth = 16

    /// An object whose fields are read by name, with numbers as they are spelled. Foundation's
    /// JSONSerialization reads some of more than 17 characters as the double beside, so that a
    /// worker and a resumed run had another configuration than a run whose dropout is
    /// 0.1111111111111111. A mark at the beginning is what an editor leaves.
    ///
    /// - Throws: `TrainingError.damagedRecord`.
    package static func object(from bytes: [UInt8], path: String) throws -> [JSONField] {
        let value: JSONValue
        do throws(JSONFlaw) {
            value = try JSONReader.read(bytes, JSONRules(depth: depth, takesMark: true))
        } catch {
            throw TrainingError.damagedRecord(
                path: path, line: line(of: error, in: bytes), detail: detail(of: error))
        }
        guard let fields = value.fields else {
            throw TrainingError.damagedRecord(
                path: path, line: nil, detail: "\(value.kind), not an object")
        }
        return fields
    }

    /// The line of a flaw in a text of several lines, counted from 1.
    private static func line(of flaw: JSONFlaw, in bytes: [UInt8]) -> Int? {
        switch flaw.kind {
        case .malformed, .notUTF8, .halfOfPair, .repeatedName:
            bytes.contains(0x0A) ? bytes.prefix(flaw.offset).count { $0 == 0x0A } + 1 : nil
        case .tooDeep, .tooLarge: nil
        }
    }

    /// What is wrong, for people.
    package static func detail(of flaw: JSONFlaw) -> String {
        switch flaw.kind {
        case .malformed, .halfOfPair: "not JSON (at byte \(flaw.offset))"
        case .notUTF8: "not JSON (the text at byte \(flaw.offset) is not UTF-8)"
        case .repeatedName: "the name at byte \(flaw.offset) is there twice"
        case .tooDeep(let limit): "more than \(limit) objects or lists in each other"
        case .tooLarge(let limit): "more than \(limit) bytes"
        }
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
            return "\"\(name(context.codingPath))\" has the wrong type"
        case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "\"\(name(context.codingPath))\" is not valid"
        default: return "not JSON"
        }
    }
}
