import Testing

@testable import SkeinMacroKit

@Suite struct JSONReaderTests {
    @Test("what is written is read back")
    func roundTrip() throws {
        let value = JSONValue.object([
            ("a", .list([.null, .bool(true), .bool(false), .whole(-3), .number(1.5)])),
            ("\"\\\n\u{1}é", .text("\u{0}😀/")), ("", .object([])), ("b", .list([])),
        ])
        #expect(try JSONReader.read(value.written) == value)
    }

    @Test("escapes are read")
    func escapes() throws {
        let text = #"  "\"\\\/\b\f\n\r\té😀"  "#
        #expect(
            try JSONReader.read(Array(text.utf8)) == .text("\"\\/\u{8}\u{C}\n\r\té😀"))
    }

    @Test(
        "what is no JSON is refused",
        arguments: [
            "", " ", "{", "}", "[", "[1,", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "nul", "tru",
            "\"", "\"\\", "\"\\u12", #""\ud800""#, #""\ud800\u0041""#, #""\x""#, "1 2", "--1",
            "1e999", "\"\u{1}\"", "{\"a\":1,}", "[,]", "+", ".",
        ])
    func refused(text: String) {
        #expect(throws: JSONReader.Flaw.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test("depth has a limit, and so has a number's length")
    func limits() throws {
        let deep = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        _ = try JSONReader.read(Array(deep(MacroLimits.jsonDepth).utf8))
        #expect(throws: JSONReader.Flaw.self) {
            try JSONReader.read(Array(deep(MacroLimits.jsonDepth + 1).utf8))
        }
        #expect(throws: JSONReader.Flaw.self) {
            try JSONReader.read([UInt8](repeating: UInt8(ascii: "1"), count: 401))
        }
        #expect(throws: JSONReader.Flaw.self) { try JSONReader.read([0x22, 0xFF, 0x22]) }
    }
}
