import Foundation
import SkeinBasics
import SkeinRows
import SkeinTestSupport
import Testing

/// What the tests do with tables.
enum TableRows {
    static func path(_ name: String) -> String { TestPaths.fixture("tables/" + name) }

    static func names(_ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path("")).filter {
            $0.hasPrefix(prefix) && $0.hasSuffix(".parquet")
        }.sorted()
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    static func parquet(
        _ bytes: [UInt8], columns: Set<String>? = nil, lists: Set<String> = []
    ) throws -> [RowResult] {
        var rows: [RowResult] = []
        try bytes.withUnsafeBytes { bytes in
            try ParquetTable(bytes).forEachRow(columns: columns, lists: lists) { rows.append($0) }
        }
        return rows
    }

    static func delimited(_ text: String, separator: Character = ",") throws -> [RowResult] {
        try delimited(Array(text.utf8), separator: separator)
    }

    static func delimited(_ bytes: [UInt8], separator: Character = ",") throws -> [RowResult] {
        var rows: [RowResult] = []
        try bytes.withUnsafeBytes { bytes in
            let separator = try #require(separator.asciiValue)
            try DelimitedTable(bytes, separator: separator).forEachRow { rows.append($0) }
        }
        return rows
    }

    static func list(_ bytes: [UInt8]) throws -> [RowResult] {
        var rows: [RowResult] = []
        try bytes.withUnsafeBytes { bytes in
            try JSONList(bytes).forEachRow { rows.append($0) }
        }
        return rows
    }

    /// The problem that `body` throws.
    static func problem(_ body: () throws -> Void) -> TableProblem? {
        do {
            try body()
            return nil
        } catch {
            return error as? TableProblem
        }
    }

    static func text(_ result: RowResult) throws -> String {
        String(decoding: try result.get().json, as: UTF8.self)
    }

    static func object(_ json: [UInt8]) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(json)) as? NSDictionary)
    }
}
