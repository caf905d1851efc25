import SkeinRows
import Testing

/// CSV and TSV: RFC 4180, and what is more than that.
@Suite struct DelimitedTableTests {
    /// A text, and its rows: the line and the JSON.
    private static let good: [(String, [(Int, String)])] = [
        ("a,b\n1,2\n", [(2, #"{"a":"1","b":"2"}"#)]),
        ("a,b\r\n1,2\r\n3,4", [(2, #"{"a":"1","b":"2"}"#), (3, #"{"a":"3","b":"4"}"#)]),
        ("\u{FEFF}a,b\n1,2", [(2, #"{"a":"1","b":"2"}"#)]),
        ("a,b\n,\n", [(2, #"{"a":"","b":""}"#)]),
        ("a,b\n\"\",\"\"\r\n", [(2, #"{"a":"","b":""}"#)]),
        ("a\n\"\"\n\nx\n", [(2, #"{"a":""}"#), (4, #"{"a":"x"}"#)]),
        (
            "\n\r\na,b\n\n1,2\n\r\n\n3,4\n\n",
            [(5, #"{"a":"1","b":"2"}"#), (8, #"{"a":"3","b":"4"}"#)]
        ),
        (
            "a,b\n\"x\ny\",\"p \"\"q\"\", r\"\nz,w\n",
            [(2, #"{"a":"x\ny","b":"p \"q\", r"}"#), (4, #"{"a":"z","b":"w"}"#)]
        ),
        ("a,b\n\"\"\"\",\"\"\"\"\"\"\n", [(2, #"{"a":"\"","b":"\"\""}"#)]),
        ("a,b\n1 \"x\" 2,y\"\n", [(2, #"{"a":"1 \"x\" 2","b":"y\""}"#)]),
        ("a,b\n\t\\,\u{1}é🦙\n", [(2, #"{"a":"\t\\","b":"\u0001é🦙"}"#)]),
        ("a,b\nx\ry,z\r", [(2, #"{"a":"x\ry","b":"z"}"#)]),
        ("\"a,\"\"1\",\" b\"\n1,2", [(2, #"{"a,\"1":"1"," b":"2"}"#)]),
        ("a\n", []), ("a", []),
    ]

    @Test("cells, quotes and line breaks", arguments: good.indices)
    func rows(index: Int) throws {
        let (text, expected) = Self.good[index]
        let rows = try TableRows.delimited(text).map { try $0.get() }
        #expect(rows.map(\.number) == expected.map(\.0))
        #expect(rows.map { String(decoding: $0.json, as: UTF8.self) } == expected.map(\.1))
    }

    @Test("tabs separate the cells of a TSV file, and commas are text")
    func tabs() throws {
        let rows = try TableRows.delimited("a\tb\n1,2\t\"3\t4\"\n", separator: "\t")
        #expect(try rows.map(TableRows.text) == [#"{"a":"1,2","b":"3\t4"}"#])
    }

    private static let list = #"[{""role"": ""user"", ""content"": ""a,\n""}]"#

    @Test("columns of conversations hold JSON arrays, which stay as they are")
    func lists() throws {
        let array = #"[{"role": "user", "content": "a,\n"}]"#
        for name in ["messages", "conversations", "tools", "history"] {
            let rows = try TableRows.delimited(
                "\(name),x\n\"\(Self.list)\",1\n,2\n\" \n\",3\n[],4\n")
            #expect(
                try rows.map(TableRows.text) == [
                    "{\"\(name)\":\(array),\"x\":\"1\"}", #"{"x":"2"}"#, #"{"x":"3"}"#,
                    "{\"\(name)\":[],\"x\":\"4\"}",
                ])
        }
        for name in ["chosen", "rejected", "prompt", "completion"] {
            let rows = try TableRows.delimited(
                "\(name)\n\" \(Self.list)\r\n\"\n[not JSON\n[] x\n\"\"\n")
            #expect(
                try rows.map(TableRows.text) == [
                    "{\"\(name)\": \(array)  }", "{\"\(name)\":\"[not JSON\"}",
                    "{\"\(name)\":\"[] x\"}", "{\"\(name)\":\"\"}",
                ])
        }
        // Others are text.
        #expect(try TableRows.text(TableRows.delimited("text\n[]\n")[0]) == #"{"text":"[]"}"#)
    }

    @Test("line breaks between JSON values become blanks, so that a row is one line")
    func oneLine() throws {
        let rows = try TableRows.delimited("messages\n\"[\n  {}\r\n]\"\n")
        #expect(try rows.map(TableRows.text) == [#"{"messages":[   {}  ]}"#])
    }

    private static let bad: [(String, Int, String)] = [
        ("1\n", 2, "the row has 1 cell, and the first line names 2 columns"),
        ("1,2,3\n", 2, "the row has 3 cells, and the first line names 2 columns"),
        ("\n,,,,,\n", 3, "the row has 6 cells, and the first line names 2 columns"),
        ("\"1\" ,2\n", 2, "cell 1 has text after its closing quote"),
        ("1,\"2\"3\"4\n", 2, "cell 2 has text after its closing quote"),
    ]

    @Test(
        "a column of lists may hold text, of which a reader that needs a list complains",
        arguments: ["[{'role': 'user'}]", "text", "{}", "[1] 2"])
    func textForList(cell: String) throws {
        let rows = try TableRows.delimited("tools\n\"\(cell)\"\n")
        #expect(try TableRows.text(rows[0]) == "{\"tools\":\"\(cell)\"}")
    }

    @Test(
        "an answer that is an array of other objects stays a text",
        arguments: [#"[{"name": "Bob"}]"#, "[1, 2]", "[]", #"["role"]"#])
    func arrays(cell: String) throws {
        let quoted = cell.replacing("\"", with: "\"\"")
        let rows = try TableRows.delimited("completion\n\"\(quoted)\"\n")
        let escaped = cell.replacing("\"", with: "\\\"")
        #expect(try TableRows.text(rows[0]) == "{\"completion\":\"\(escaped)\"}")
    }

    @Test("a bad row, and the row after it", arguments: bad)
    func badRows(text: String, line: Int, problem: String) throws {
        let rows = try TableRows.delimited("a,tools\n" + text + "x,[]\n")
        #expect(rows.count == 2)
        guard case .failure(let bad) = rows.first else {
            Issue.record("\(rows)")
            return
        }
        #expect(bad.number == line && bad.problem == problem, "\(bad)")
        #expect(!bad.remedy.isEmpty)
        #expect(try TableRows.text(rows[1]) == #"{"a":"x","tools":[]}"#)
    }

    @Test("a row that is not UTF-8, or too long")
    func notText() throws {
        let rows = try TableRows.delimited(Array("a\n".utf8) + [0x61, 0xC3, 0x0A, 0x62])
        #expect(rows.count == 2)
        #expect(throws: BadRow.self) { try rows[0].get() }
        #expect(try TableRows.text(rows[1]) == #"{"a":"b"}"#)
        // Escapes count: each of these becomes six bytes.
        let long = [UInt8](repeating: 1, count: 3 << 20)
        let few = try TableRows.delimited(Array("a\n".utf8) + long + Array("\nb\n".utf8))
        #expect(few.count == 2)
        guard case .failure(let bad) = few[0] else {
            Issue.record("a long row was read")
            return
        }
        #expect(bad.problem == "the row is longer than 16 MiB")
    }

    private static let wrong: [(String, TableProblem, String)] = [
        ("", .noHeader, "the file has no line that names its columns"),
        ("\n\r\n", .noHeader, "the file has no line that names its columns"),
        ("a,,c\n", .emptyName(column: 2), "column 2 has no name"),
        (",a\n0,x\n", .emptyName(column: 1), "column 1 has no name"),
        ("a,\" \"\n", .emptyName(column: 2), "column 2 has no name"),
        ("a,b,a\n", .sameName("a", columns: [1, 3]), "columns 1 and 3 have the same name, \"a\""),
        (
            "a,\"b\"c\n", .badName(column: 2, problem: "has text after its closing quote"),
            "the name of column 2 has text after its closing quote"
        ),
        (
            "a,b\r1,2\r",
            .badName(column: 2, problem: "holds a carriage return, which ends no line here"),
            "the name of column 2 holds a carriage return, which ends no line here"
        ),
        ("a,\"b\n1,2\n", .tornQuote(line: 1), "the quote that opens in line 1 is never closed"),
        (
            "a,b\n1,\"2\n3\"\n4,\"5\n6,7\n", .tornQuote(line: 4),
            "the quote that opens in line 4 is never closed"
        ),
        (
            String(repeating: "a,", count: 1024) + "b\n", .tooManyColumns(limit: 1024),
            "the file has more than 1024 columns"
        ),
    ]

    @Test("a file that cannot be read", arguments: wrong)
    func problems(text: String, problem: TableProblem, what: String) {
        let found = TableRows.problem { _ = try TableRows.delimited(text) }
        #expect(found == problem)
        #expect(found?.what == what)
        #expect(found?.remedy.isEmpty == false)
    }

    @Test("names that are not UTF-8, and files of UTF-16")
    func encodings() {
        #expect(
            TableRows.problem { _ = try TableRows.delimited([0xFF, 0x61, 0x0A]) }
                == .badName(column: 1, problem: "is not UTF-8 text"))
        for mark: [UInt8] in [[0xFF, 0xFE, 0x61, 0], [0xFE, 0xFF, 0, 0x61]] {
            #expect(TableRows.problem { _ = try TableRows.delimited(mark) } == .utf16)
        }
    }

    @Test("rows before a torn quote are given, and an error of the caller ends the reading")
    func order() throws {
        struct Enough: Error {}
        var rows: [String] = []
        let bytes = Array("a\n1\n2\n\"3\n".utf8)
        try bytes.withUnsafeBytes { bytes in
            let table = try DelimitedTable(bytes, separator: UInt8(ascii: ","))
            #expect(table.columns == ["a"])
            #expect(throws: TableProblem.tornQuote(line: 4)) {
                try table.forEachRow { rows.append(try TableRows.text($0)) }
            }
            #expect(throws: Enough.self) { try table.forEachRow { _ in throw Enough() } }
        }
        #expect(rows == [#"{"a":"1"}"#, #"{"a":"2"}"#])
    }
}
