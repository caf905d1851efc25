import SkeinRows
import Testing

/// Files that pyarrow writes and Skein does not read, and rows of files that it reads.
@Suite struct ParquetRefusalTests {
    @Test(
        "codecs, encodings and encryption are refused by name",
        arguments: [
            ("gzip", "column \"prompt\" is compressed with GZIP"),
            ("brotli", "column \"prompt\" is compressed with BROTLI"),
            ("lz4", "column \"prompt\" is compressed with LZ4_RAW"),
            ("DELTA_BYTE_ARRAY", "column \"prompt\" is encoded with DELTA_BYTE_ARRAY"),
            (
                "DELTA_LENGTH_BYTE_ARRAY",
                "column \"completion\" is encoded with DELTA_LENGTH_BYTE_ARRAY"
            ),
            ("DELTA_BINARY_PACKED", "column \"n\" is encoded with DELTA_BINARY_PACKED"),
            ("BYTE_STREAM_SPLIT", "column \"x\" is encoded with BYTE_STREAM_SPLIT"),
            ("encrypted", "the Parquet file is encrypted"),
            ("encrypted-columns", "the Parquet file is encrypted"),
        ])
    func files(name: String, what: String) throws {
        let bytes = try TableRows.bytes("refused-\(name).parquet")
        #expect(bytes.withUnsafeBytes { ParquetTable.isParquet($0) })
        let problem = TableRows.problem { _ = try TableRows.parquet(bytes) }
        #expect(problem?.what == what)
        #expect(
            problem?.remedy
                == (name.hasPrefix("encrypted")
                    ? "write it without encryption"
                    : "write it again with pyarrow: pq.write_table(t, path, compression='snappy')"))
    }

    @Test("a column whose encoding is refused does not hurt when it is not wanted")
    func unwantedEncoding() throws {
        let bytes = try TableRows.bytes("refused-BYTE_STREAM_SPLIT.parquet")
        let rows = try TableRows.parquet(bytes, columns: ["prompt", "n", "other"])
        #expect(try TableRows.text(rows[1]) == #"{"prompt":"p1","n":1}"#)
    }

    @Test(
        "types are refused by name, and only when their column is wanted",
        arguments: [
            ("time", "TIMESTAMP"), ("day", "DATE"), ("hour", "TIME"), ("price", "DECIMAL"),
            ("fixed", "FIXED_LEN_BYTE_ARRAY"), ("half", "FLOAT16"), ("pairs", "MAP"),
            ("nested", "DATE"),
        ])
    func types(column: String, type: String) throws {
        let bytes = try TableRows.bytes("types.parquet")
        let problem = TableRows.problem {
            _ = try TableRows.parquet(bytes, columns: ["prompt", column])
        }
        #expect(problem == .unsupported(column: column, feature: .type(type)))
        #expect(problem?.what == "column \"\(column)\" has the type \(type)")
        let rows = try TableRows.parquet(bytes, columns: ["prompt"]).map(TableRows.text)
        #expect(rows == [#"{"prompt":"p"}"#])
    }

    @Test("INT96 is refused by name")
    func int96() throws {
        let bytes = try TableRows.bytes("types-int96.parquet")
        let problem = TableRows.problem { _ = try TableRows.parquet(bytes, columns: ["time"]) }
        #expect(problem == .unsupported(column: "time", feature: .type("INT96")))
        #expect(try TableRows.parquet(bytes, columns: ["prompt"]).count == 1)
    }

    @Test("none of the wanted columns is there")
    func noColumn() throws {
        let bytes = try TableRows.bytes("bad-rows.parquet")
        let problem = TableRows.problem { _ = try TableRows.parquet(bytes, columns: ["text"]) }
        #expect(problem == .noWantedColumn(found: ["prompt", "x", "y"]))
    }

    @Test("text that is not UTF-8, NaN and infinity make a bad row, and the rows after it are read")
    func badRows() throws {
        let rows = try TableRows.parquet(try TableRows.bytes("bad-rows.parquet"))
        #expect(rows.count == 5)
        #expect(try TableRows.text(rows[0]) == #"{"prompt":"good","x":1.0,"y":1.0}"#)
        #expect(try TableRows.text(rows[4]) == #"{"prompt":"good","x":2.0,"y":0.1}"#)
        let problems = rows[1...3].map { row -> String in
            guard case .failure(let bad) = row else { return "" }
            return "\(bad.number): \(bad.problem)"
        }
        #expect(
            problems == [
                "2: column \"prompt\" holds bytes that are not UTF-8 text",
                "3: column \"x\" holds NaN or infinity", "4: column \"y\" holds NaN or infinity",
            ])
        // Only what is wanted can be wrong.
        let prompts = try TableRows.parquet(
            try TableRows.bytes("bad-rows.parquet"), columns: ["prompt"])
        #expect(try TableRows.text(prompts[2]) == #"{"prompt":"nan"}"#)
    }

    @Test("facts of the file, and an error of the caller that ends the reading")
    func table() throws {
        struct Enough: Error {}
        let bytes = try TableRows.bytes("messages-default.parquet")
        try bytes.withUnsafeBytes { bytes in
            let table = try ParquetTable(bytes)
            #expect(table.columns == ["id", "messages", "tools", "tags", "grid", "meta"])
            #expect(table.rowCount == 50)
            var count = 0
            #expect(throws: Enough.self) {
                try table.forEachRow(columns: nil) { _ in
                    count += 1
                    if count == 3 { throw Enough() }
                }
            }
            #expect(count == 3)
        }
    }
}
