import Foundation
import SkeinBasics
import SkeinRows
import SkeinTestSupport
import Testing

/// Files of pyarrow 26.0.1 and fastparquet 2026.9.0 against the same rows as JSON lines;
/// Scripts/tables/parquet-fixtures.py and fastparquet-fixtures.py beside it made both.
@Suite struct ParquetFileTests {
    private static func twin(_ name: String) throws -> [NSDictionary] {
        let kind = name.prefix { $0 != "-" }
        let bytes = try TableRows.bytes(kind + ".jsonl")
        return try bytes.split(separator: UInt8(ascii: "\n")).map {
            try TableRows.object([UInt8]($0))
        }
    }

    @Test(
        "each codec, page version and encoding gives the rows that were written",
        arguments: try TableRows.names("flat-") + TableRows.names("messages-")
            + TableRows.names("fastparquet-"))
    func files(name: String) throws {
        let rows = try TableRows.parquet(try TableRows.bytes(name))
        let expected = name == "flat-empty.parquet" ? [] : try Self.twin(name)
        #expect(rows.count == expected.count)
        for (number, (row, expected)) in zip(rows, expected).enumerated() {
            let row = try row.get()
            #expect(row.number == number + 1)
            let object = try TableRows.object(row.json)
            #expect(object == expected, "\(String(decoding: row.json, as: UTF8.self)) \(expected)")
        }
    }
}
