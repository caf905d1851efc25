import Foundation
import Testing

@testable import SkeinBasics

/// JSON as it is written.
@Suite struct JSONLineTests {
    @Test("values are written without spaces, with fields in their order")
    func values() {
        let value = JSONLine.Value.object([
            ("b", .array([.integer(-1), .number(0.5), .number(2), .number(.nan), .null])),
            ("a", .object([])), ("c", .array([])), ("d", .bool(true)), ("", .bool(false)),
        ])
        let text = #"{"b":[-1,0.5,2,null,null],"a":{},"c":[],"d":true,"":false}"#
        #expect(JSONLine.render(value) == text)
        #expect(JSONLine.utf8(value) == Array(text.utf8))
    }

    @Test("texts are quoted with the short escapes, and come back")
    func quotes() throws {
        #expect(JSONLine.quote("") == #""""#)
        #expect(JSONLine.quote(#"a"b\c/"#) == #""a\"b\\c/""#)
        #expect(
            JSONLine.quote("\n\r\t\u{8}\u{C}\u{0}\u{1F}\u{7F}") == #""\n\r\t\b\f\u0000\u001f"#
                + "\u{7F}\"")
        // As code points, not as characters: a quotation mark may carry an accent.
        #expect(JSONLine.quote("\"\u{301}é\u{1F600}") == "\"\\\"\u{301}é\u{1F600}\"")
        let all = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init)))
        for text in [all, "\"", "\"\"", "x\"", "\"x", all + all] {
            let read = try JSONSerialization.jsonObject(
                with: Data(JSONLine.quote(text).utf8), options: .fragmentsAllowed)
            #expect((read as? String)?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        }
    }
}
