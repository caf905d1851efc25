import Testing

@testable import SkeinMacros

@Suite struct JSONReaderTests {
    @Test("what is written is read back")
    func roundTrip() throws {
        let value = JSONValue.object([
            ("a", .list([.null, .bool(true), .whole(-3), .number(1.5)])),
            ("\"\\\n\u{1}é", .text("\u{0}😀/")),
        ])
        #expect(try JSONReader.read(value.written) == value)
    }
}
