import SkeinRows
import Testing

/// Files that are one JSON array.
@Suite struct JSONListTests {
    private static func rows(_ text: String) throws -> [RowResult] {
        try TableRows.list(Array(text.utf8))
    }

    private static let good: [(String, [String])] = [
        ("[]", []), (" [ \n ] \n", []), ("\u{FEFF}[{}]", ["{}"]),
        (
            #"[{"a": 1.50, "b": "é\u00e9]},"} , {"a":[{}]}]"#,
            [#"{"a": 1.50, "b": "é\u00e9]},"}"#, #"{"a":[{}]}"#]
        ),
        (
            "[\n  {\n    \"a\": [1, -2e+5, true, false, null]\n  }\n]\n",
            ["{\n    \"a\": [1, -2e+5, true, false, null]\n  }"]
        ),
    ]

    @Test("each row is its own text", arguments: good)
    func rows(text: String, expected: [String]) throws {
        let rows = try Self.rows(text).map { try $0.get() }
        #expect(rows.map { String(decoding: $0.json, as: UTF8.self) } == expected)
        #expect(rows.map(\.number) == Array(1..<(1 + rows.count)))
    }

    private static let bad: [(String, String)] = [
        ("1", "the row is not a JSON object"), ("[]", "the row is not a JSON object"),
        (#""a,]""#, "the row is not a JSON object"),
        ("{'a': 1}", "the row is not JSON: expected a key at byte 2"),
        ("{\"a\": }", "the row is not JSON: expected a value at byte 7"),
        ("{\"a\" 1}", "the row is not JSON: expected a colon at byte 6"),
        ("{\"a\": 1 2}", "the row is not JSON: expected a comma or } at byte 9"),
        ("{\"a\": [1 2]}", "the row is not JSON: expected a comma or ] at byte 10"),
        ("", "the row is not JSON: expected a value at byte 1"),
        ("{\"a\": 1,}", "the row is not JSON: expected a key at byte 9"),
        ("{\"a\": 01}", "the row is not JSON: expected a comma or } at byte 8"),
        ("{\"a\": 1.}", "the row is not JSON: expected a digit at byte 9"),
        ("{\"a\": 1e}", "the row is not JSON: expected a digit at byte 9"),
        ("{\"a\": -}", "the row is not JSON: expected a value at byte 8"),
        ("{\"a\": nul}", "the row is not JSON: expected a value at byte 10"),
        ("{\"a\": Nan}", "the row is not JSON: expected a value at byte 9"),
        ("{\"a\": -Infinite}", "the row is not JSON: expected a value at byte 15"),
        ("{\"a\": +Infinity}", "the row is not JSON: expected a value at byte 7"),
        (#"{"a": "\x"}"#, "the row is not JSON: expected an escape of JSON at byte 9"),
        (#"{"a": "\u12g4"}"#, "the row is not JSON: expected four hexadecimal digits at byte 12"),
        (
            "{\"a\": \"\n\"}",
            "the row is not JSON: expected no line break or other control character in a string at byte 8"
        ),
        (
            String(repeating: "[", count: 513) + String(repeating: "]", count: 513),
            "the row is not JSON: expected at most 512 arrays and objects in each other at byte 513"
        ),
        (
            "{\"a\": \"\u{1}\\\"\"}",
            "the row is not JSON: expected no line break or other control character in a string at byte 8"
        ),
    ]

    @Test("a row that is no JSON object, and the row after it", arguments: bad)
    func badRows(text: String, problem: String) throws {
        let rows = try Self.rows("[" + text + ", {}]")
        #expect(rows.count == 2)
        guard case .failure(let bad) = rows.first else {
            Issue.record("\(rows)")
            return
        }
        #expect(bad.number == 1 && bad.problem == problem, "\(bad)")
        #expect(try TableRows.text(rows[1]) == "{}")
    }

    @Test("NaN and infinity are values, as Python writes them")
    func notFinite() throws {
        let text = #"{"a": NaN, "b": [Infinity, -Infinity], "c": {"d":NaN}}"#
        let rows = try Self.rows("[" + text + ", {}]")
        #expect(try rows.map(TableRows.text) == [text, "{}"])
    }

    @Test("a row that is not UTF-8")
    func notText() throws {
        let rows = try TableRows.list(Array("[{\"a\": \"".utf8) + [0xFF] + Array("\"}, {}]".utf8))
        #expect(rows.count == 2)
        #expect(throws: BadRow.self) { try rows[0].get() }
    }

    private static let wrong: [(String, TableProblem)] = [
        ("", .notAList), ("{}", .notAList), ("{}\n{}\n", .notAList), ("  x", .notAList),
        ("[", .brokenList(row: 1, offset: 1, expected: "]")),
        ("[{}", .brokenList(row: 1, offset: 3, expected: "a comma or ] after it")),
        ("[{} {}]", .brokenList(row: 1, offset: 4, expected: "a comma or ] after it")),
        ("[{},]", .brokenList(row: 2, offset: 4, expected: "a value")),
        ("[{\"a\": [1}]}, {}]", .brokenList(row: 1, offset: 11, expected: "a value")),
        ("[{}] x", .brokenList(row: 1, offset: 5, expected: "nothing after the array")),
        ("[] []", .brokenList(row: 0, offset: 3, expected: "nothing after the array")),
        ("[{}, {\"a\": 1", .brokenList(row: 2, offset: 12, expected: "]")),
        ("[{}, {\"a", .brokenList(row: 2, offset: 8, expected: "the end of a string")),
        ("[}]", .brokenList(row: 1, offset: 1, expected: "a value")),
    ]

    @Test("a list that cannot be read", arguments: wrong)
    func problems(text: String, problem: TableProblem) {
        let found = TableRows.problem { _ = try Self.rows(text) }
        #expect(found == problem)
        #expect(found?.what.isEmpty == false && found?.remedy.isEmpty == false)
    }

    @Test("brackets without end, a million deep, take no stack")
    func depth() {
        let text = String(repeating: "[", count: 1_000_000)
        #expect(
            TableRows.problem { _ = try Self.rows(text) }
                == .brokenList(row: 1, offset: 1_000_000, expected: "]"))
    }
}
