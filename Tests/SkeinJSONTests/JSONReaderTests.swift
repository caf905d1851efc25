import SkeinJSON
import Testing

@Suite("JSON is read and written without losing anything")
struct JSONReaderTests {
    private static func read(
        _ text: String, _ rules: JSONRules = JSONRules(depth: 8)
    ) throws(JSONFlaw) -> JSONValue {
        try JSONReader.read(Array(text.utf8), rules)
    }

    @Test(
        "what is read is written as it was",
        arguments: [
            #"{"b":1,"a":[true,false,null]}"#, "[1000000000000000000000,-0,1.50,1e+21,1E5]",
            #""caf\u0000""#, #"{"":{}}"#, "[[],{}]", #""é""#, #""\\\"\n\r\t\b\f""#,
            "[" + String(repeating: "1", count: 401) + "]",
        ])
    func roundTrip(_ text: String) throws {
        #expect(try Self.read(text).written == text)
    }

    @Test("escapes are read, surrogates too")
    func escapes() throws {
        #expect(try Self.read(#""\u00e9\uD83E\udd99\/""#) == .text("é🦙/"))
    }

    @Test("Python's reader takes numbers that are none, and so do its rules")
    func nonFinite() throws {
        let value = try Self.read("[NaN,Infinity,-Infinity]", .python(depth: 4))
        #expect(value == .list([.number("NaN"), .number("Infinity"), .number("-Infinity")]))
        #expect(value.list?.allSatisfy { $0.double == nil && $0.integer == nil } == true)
        for (text, offset) in [("[-Infinite]", 9), ("[Nax]", 3), ("-NaN", 1), ("[Infinity", 9)] {
            #expect { try Self.read(text, .python(depth: 4)) } throws: {
                ($0 as? JSONFlaw)?.offset == offset
            }
        }
    }

    @Test("of equal names the last value counts, or they are refused; equal is equal bytes")
    func names() throws {
        let text = #"{"a":1,"b":2,"a":3}"#
        #expect(try Self.read(text, .python(depth: 4)).written == #"{"a":3,"b":2}"#)
        #expect(throws: JSONFlaw(.repeatedName, at: 13)) { try Self.read(text) }
        #expect(throws: JSONFlaw(.repeatedName, at: 7)) { try Self.read(#"{"a":1,"\u0061":2}"#) }
        #expect(
            try Self.read(text, JSONRules(depth: 4, names: .first)).written == #"{"a":1,"b":2}"#)
        #expect(try Self.read(text, JSONRules(depth: 4, names: .all)).written == text)
        // The same letter as one code point and as two.
        let twice = "{\"caf\u{E9}\":1,\"cafe\u{301}\":2}"
        #expect(try Self.read(twice).fields?.count == 2)
        #expect(try Self.read(twice)["cafe\u{301}"] == .integer(2))
        #expect(JSONValue.text("caf\u{E9}") != .text("cafe\u{301}"))
        let many = "{" + (0..<40).map { "\"k\($0 % 20)\":\($0)" }.joined(separator: ",") + "}"
        let found = try Self.read(many, .python(depth: 4))
        #expect(found.fields?.map(\.value.integer) == (20..<40).map { $0 })
        let first = try Self.read(many, JSONRules(depth: 4, names: .first))
        #expect(first.fields?.map(\.value.integer) == (0..<20).map { $0 })
        #expect(try Self.read(many, JSONRules(depth: 4, names: .all)).written == many)
        #expect(throws: JSONFlaw(.repeatedName, at: 161)) { try Self.read(many) }
    }

    @Test("numbers are whole or not, whatever their spelling")
    func numbers() {
        #expect(JSONValue.number("3.0").integer == 3 && JSONValue.number("3.5").integer == nil)
        #expect(JSONValue.number("1000000000000000000000").integer == nil)
        #expect(JSONValue.decimal(2) == .number("2") && JSONValue.decimal(0.1) == .number("0.1"))
        #expect(JSONValue.decimal(-0.0) == .number("-0") && JSONValue.decimal(.nan) == .null)
        #expect(JSONValue.decimal(1e300) == .number("1e+300"))
    }

    @Test("a whole number with a point or an exponent is read exactly, or not at all")
    func wholeNumbers() {
        for (text, value) in [
            ("9007199254740993.0", 9_007_199_254_740_993), ("2.0000000000000000001", nil),
            ("-9223372036854775808.000", Int.min), ("9223372036854775807.0", Int.max),
            ("9223372036854775808.0", nil), ("92233720368547758.07e2", Int.max),
            ("1e18", 1_000_000_000_000_000_000), ("1e19", nil), ("1.5E+1", 15), ("150e-1", 15),
            ("-0.0", 0), ("0e99999999999999999999", 0), ("1e99999999999999999999", nil),
            ("1e-99999999999999999999", nil), ("0.10", nil), ("1200.00e-2", 12),
            ("1e9223372036854775807", nil), ("1e-9223372036854775808", nil),
            ("", nil), ("-", nil), (".", nil), ("--1.0", nil), ("inf", nil), ("0x10", nil),
        ] as [(String, Int?)] {
            #expect(JSONValue.number(text).integer == value, "\(text)")
        }
        #expect(JSONValue.isInteger("-12") && !JSONValue.isInteger("1.0"))
        #expect(!JSONValue.isInteger("-") && !JSONValue.isInteger("1e3"))
        #expect(JSONValue.number("1e999").double == nil)
    }
}
