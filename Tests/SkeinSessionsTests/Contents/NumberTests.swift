import Foundation
import Testing

@testable import SkeinSessions

@Suite("Numbers of contents")
struct NumberTests {
    private static func content(_ text: String) throws -> GeneratedContent {
        try GeneratedContent(json: text)
    }

    @Test(
        "whole numbers keep all their bits, however they are written",
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", Int.max),
            ("-9223372036854775808", Int.min), ("9007199254740993", 9_007_199_254_740_993),
            ("3.0", 3), ("3e0", 3), ("-30e-1", -3), ("1.5e1", 15),
            ("1e18", 1_000_000_000_000_000_000),
            ("922337203685477580.7e1", Int.max), ("0e999999999999999999999", 0), ("0.000", 0),
        ])
    func whole(_ text: String, _ expected: Int) throws {
        #expect(try Int(Self.content(text)) == expected)
    }

    @Test(
        "what is no whole number of 64 bits is an error",
        arguments: [
            "1.5", "9223372036854775808", "-9223372036854775809", "1e19", "1e999999999999999999",
            "1e-1", "0.1",
        ])
    func notWhole(_ text: String) throws {
        #expect(
            throws: GeneratedContentError.numberDoesNotFit(path: "", number: text, type: "Int"),
            performing: { try Int(Self.content(text)) })
    }

    @Test("floating point takes the nearest value, and an error beyond all")
    func floatingPoint() throws {
        #expect(try Double(Self.content("0.1")) == 0.1)
        #expect(try Double(Self.content("1e-400")) == 0)
        #expect(try Double(Self.content("12345678901234567890")) == 12_345_678_901_234_567_168)
        #expect(try Float(Self.content("0.1")) == 0.1)
        #expect(try Float(Self.content("16777217")) == 16_777_216)
        #expect(try Float(Self.content("3.4028235e38")) == .greatestFiniteMagnitude)
        #expect(try Float(Self.content("1e-60")) == 0)
        for text in ["1e309", "-1e309", "1e999999999999"] {
            #expect(
                throws: GeneratedContentError.numberDoesNotFit(
                    path: "", number: text, type: "Double"),
                performing: { try Double(Self.content(text)) })
        }
        for text in ["1e39", "-1e39"] {
            #expect(
                throws: GeneratedContentError.numberDoesNotFit(
                    path: "", number: text, type: "Float"),
                performing: { try Float(Self.content(text)) })
        }
    }

    @Test(
        "decimals keep their digits",
        arguments: [
            "0.1", "-0.001", "12345678901234567890123456789012345678", "1e127", "1e130",
            "9.99e-126",
            "0.12345678901234567890123456789012345678", "-99999999999999999999999999999999999999",
            "100", "0",
        ])
    func decimals(_ text: String) throws {
        let value = try Decimal(Self.content(text))
        #expect(try value.generatedContent == Self.content(text))
    }

    @Test(
        "decimals of more digits than Decimal has are an error",
        arguments: [
            "999999999999999999999999999999999999999", "1e200", "9.99e-127", "1e999999999999999999",
        ])
    func longDecimals(_ text: String) throws {
        #expect(
            throws: GeneratedContentError.numberDoesNotFit(path: "", number: text, type: "Decimal"),
            performing: { try Decimal(Self.content(text)) })
    }

    @Test("other kinds are errors")
    func otherKinds() throws {
        let kinds = [
            ("null", "null"), ("true", "a boolean"), ("\"1\"", "a string"), ("[1]", "an array"),
            ("{}", "an object"),
        ]
        for (text, found) in kinds {
            let error = GeneratedContentError.wrongKind(
                path: "", expected: "a number", found: found)
            #expect(throws: error, performing: { try Int(Self.content(text)) })
            #expect(throws: error, performing: { try Float(Self.content(text)) })
            #expect(throws: error, performing: { try Double(Self.content(text)) })
            #expect(throws: error, performing: { try Decimal(Self.content(text)) })
        }
        #expect(
            throws: GeneratedContentError.wrongKind(
                path: "", expected: "a string", found: "a number"),
            performing: { try String(Self.content("1")) })
        #expect(
            throws: GeneratedContentError.wrongKind(
                path: "", expected: "a boolean", found: "a number"),
            performing: { try Bool(Self.content("1")) })
        #expect(
            throws: GeneratedContentError.wrongKind(
                path: "", expected: "an array", found: "an object"),
            performing: { try [Int](Self.content("{}")) })
        #expect(
            throws: GeneratedContentError.wrongKind(
                path: "[1]", expected: "a number", found: "null"),
            performing: { try [Int](Self.content("[1,null]")) })
        #expect(
            throws: GeneratedContentError.numberDoesNotFit(
                path: "[0].rating", number: "4.5", type: "Int"),
            performing: { try [Review](Self.content(#"[{"rating":4.5,"summary":""}]"#)) })
        #expect(throws: GeneratedContentError.self, performing: { try Never(Self.content("1")) })
    }

    @Test("numbers are compared exactly")
    func order() {
        let texts = [
            "-1e400", "-9223372036854775809", "-9223372036854775808", "-1.5", "-1e-400", "0",
            "1e-400", "0.1", "0.10000000000000001", "1", "1.5", "9", "10", "1e400",
        ]
        let numbers = texts.map { NumberText(checked: $0) }
        for (first, second) in zip(numbers, numbers.dropFirst()) {
            #expect(first < second && second > first && first != second)
        }
    }

    @Test("every Decimal round-trips, those of 39 digits included")
    func largeDecimals() throws {
        for value in [
            Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude,
            Decimal(string: "340282366920938463463374607431768211455") ?? 0,
        ] {
            #expect(try Decimal(value.generatedContent) == value)
        }
        #expect(throws: GeneratedContentError.self) {
            try Decimal(Self.content("340282366920938463463374607431768211456"))
        }
    }
}
