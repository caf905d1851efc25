import SkeinJSON
import Testing

@Suite("JSON is written as most programs write it")
struct JSONWriterTests {
    @Test("each byte of a string is escaped as it must be, wherever it stands")
    func escapes() throws {
        let short: [UInt8: String] = [
            0x22: "\\\"", 0x5C: "\\\\", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r",
            0x09: "\\t",
        ]
        for byte in UInt8(0)..<0x80 {
            let digits = String(byte, radix: 16)
            let long = "\\u00" + (digits.count < 2 ? "0" : "") + digits
            let own = String(Unicode.Scalar(byte))
            let escape = short[byte] ?? (byte < 0x20 ? long : own)
            for place in 0..<20 {
                let before = String(repeating: "a", count: place)
                let after = String(repeating: "é", count: 20 - place)
                let text = before + own + after
                let expected = "\"" + before + escape + after + "\""
                #expect(JSONValue.quoted(text) == expected)
                #expect(
                    try JSONReader.read(Array(expected.utf8), JSONRules(depth: 1)) == .text(text))
            }
        }
        #expect(JSONWriter.key("a\"b") == Array("\"a\\\"b\":".utf8))
        #expect(JSONValue.quoted("") == "\"\"")
    }

    @Test("an object has a line for each field, and as many objects in it are broken as wanted")
    func lines() {
        let value = JSONValue.fields([
            ("a", .integer(1)), ("b", .list([.fields([("x", .null)]), .text("\n")])),
            ("c", .fields([("d", .decimal(0.5)), ("e", .object([])), ("f", .list([]))])),
        ])
        #expect(
            value.lines(levels: 2) == """
                {
                  "a": 1,
                  "b": [{"x":null},"\\n"],
                  "c": {
                    "d": 0.5,
                    "e": {},
                    "f": []
                  }
                }
                """)
        #expect(
            value.lines() == """
                {
                  "a": 1,
                  "b": [{"x":null},"\\n"],
                  "c": {"d":0.5,"e":{},"f":[]}
                }
                """)
        #expect(JSONValue.integer(1).lines() == "1")
        let numbers = JSONValue.list([.decimal(2), .decimal(.nan), .decimal(1e-7)])
        #expect(numbers.written == "[2,null,1e-07]")
        #expect(value.spaced().hasPrefix(#"{"a": 1, "b": [{"x": null}, "\n"], "c": {"d": 0.5"#))
    }
}
