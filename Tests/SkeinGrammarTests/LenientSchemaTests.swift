import SkeinBasics
import SkeinJSON
import Testing

@testable import SkeinGrammar

@Suite("Keywords that are left out")
struct LenientSchemaTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var schema: String
        var dropped: [String]
        var allowed: [String]
        var forbidden: [String]

        var testDescription: String { schema }
    }

    static let rows: [Row] = [
        Row(
            schema: #"{"not":{"type":"null"},"type":["integer","null"]}"#, dropped: ["/not"],
            allowed: ["1", "null"], forbidden: [#""a""#]),
        Row(
            schema: #"""
                {"properties":{"a/b":{"type":"array","contains":{"const":1},"items":{"type":"integer"}}},
                "required":["a/b"],"dependentRequired":{"a/b":["c"]},"if":true,"then":{},"else":{}}
                """#,
            dropped: ["/dependentRequired", "/if", "/then", "/else", "/properties/a~1b/contains"],
            allowed: [#"{"a/b":[2]}"#], forbidden: ["{}", #"{"a/b":["x"]}"#]),
        Row(
            schema: #"{"type":"string","format":"iri","maxLength":2}"#, dropped: ["/format"],
            allowed: [#""ab""#], forbidden: [#""abc""#]),
        Row(
            schema: #"{"type":"string","pattern":"(?<=a)","maxLength":2,"minLength":1}"#,
            dropped: ["/pattern"], allowed: [#""b""#], forbidden: [#""""#, #""abc""#]),
        Row(
            schema: #"{"type":"string","pattern":".*[a-m].{100}"}"#,
            dropped: ["/pattern"], allowed: [#""b""#], forbidden: ["1"]),
        Row(
            schema: #"{"type":"string","pattern":"^(ab)*$","maxLength":100000}"#,
            dropped: ["/maxLength"], allowed: [#""abab""#], forbidden: [#""aba""#]),
        Row(
            schema: #"{"type":"number","multipleOf":0.60001,"minimum":1}"#,
            dropped: ["/multipleOf"], allowed: ["1.5"], forbidden: ["0.5"]),
        Row(
            schema: #"{"type":"integer","allOf":[{"multipleOf":4093},{"multipleOf":4091}]}"#,
            dropped: ["/allOf/1/multipleOf"], allowed: ["4093"], forbidden: ["4091"]),
        Row(
            schema: #"{"type":"number","minimum":1e50,"maximum":1e60}"#,
            dropped: ["/minimum"], allowed: ["1"], forbidden: [#""a""#]),
        Row(
            schema: #"{"oneOf":[{"type":"integer"},{"type":"number","minimum":3}]}"#,
            dropped: ["/oneOf"], allowed: ["2", "4", "3.5"], forbidden: ["2.5"]),
        Row(
            schema: #"{"properties":{"a":{},"b":{}},"minProperties":1,"maxProperties":1}"#,
            dropped: ["/minProperties", "/maxProperties"], allowed: [#"{"a":1}"#, "{}"],
            forbidden: [#"{"c":1}"#]),
        Row(
            schema: #"{"additionalProperties":{"type":"null"},"minProperties":2}"#,
            dropped: ["/minProperties"], allowed: [#"{"a":null}"#], forbidden: ["{}"]),
        Row(
            schema:
                #"{"patternProperties":{"a(?!b)":{"type":"null"}},"additionalProperties":false}"#,
            dropped: ["/patternProperties/a(?!b)"], allowed: ["{}", #"{"x":null}"#],
            forbidden: [#"{"x":1}"#]),
        Row(
            schema: #"{"items":{"$id":"x","type":"integer"},"uniqueItems":true}"#,
            dropped: ["/uniqueItems", "/items/$id"], allowed: ["[1,1]"], forbidden: [#"["a"]"#]),
        Row(
            schema: #"{"type":"object","unevaluatedProperties":false,"properties":{"a":{}}}"#,
            dropped: ["/unevaluatedProperties"], allowed: [#"{"a":1}"#],
            forbidden: [#"{"b":1}"#]),
    ]

    @Test("each by itself, so that the rest is held", arguments: rows)
    func drops(_ row: Row) throws {
        let source = Array(row.schema.utf8)
        let grammar = try CompiledGrammar(schema: source, mode: .lenient, Vocabularies.bytes)
        #expect(Set(grammar.dropped.map(\.pointer)) == Set(row.dropped))
        for text in row.allowed { #expect(try Self.isWritten(text, grammar), "\(text)") }
        for text in row.forbidden { #expect(try !Self.isWritten(text, grammar), "\(text)") }
        #expect(throws: GrammarError.self) {
            try CompiledGrammar(schema: source, Vocabularies.bytes)
        }
    }

    @Test(
        "What is malformed, contradicts itself or leads nowhere is an error",
        arguments: [
            "{", "3", #"{"not":5}"#, #"{"contains":[]}"#, #"{"dependentRequired":{"a":"b"}}"#,
            #"{"patternProperties":{"a":5}}"#, #"{"patternProperties":{"(":{}}}"#,
            #"{"uniqueItems":"yes"}"#, #"{"propertyNames":1}"#, #"{"pattern":"a)"}"#,
            #"{"pattern":"[b-a]"}"#, #"{"pattern":3}"#, #"{"format":3}"#, #"{"multipleOf":0}"#,
            #"{"multipleOf":"a"}"#, #"{"minLength":-1}"#, #"{"type":"strin"}"#,
            ##"{"$ref":"#/$defs/a"}"##, #"{"$ref":"other.json"}"#, #"{"$dynamicRef":1}"#,
            ##"{"items":{"$id":"x","$ref":"#/$defs/a"}}"##,
            ##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{}]}},"$ref":"#/$defs/a"}"##,
            ##"{"properties":{"a":{}},"propertyNames":{"$ref":"#"}}"##,
            #"{"minItems":3,"maxItems":2}"#, #"{"enum":[]}"#, "false",
            #"{"type":"string","minLength":90000000}"#,
            #"{"type":"object","required":["a","b"],"maxProperties":1}"#,
        ])
    func errors(_ schema: String) {
        for mode in [SchemaMode.lenient, .strict] {
            #expect(throws: GrammarError.self) {
                try CompiledGrammar(schema: Array(schema.utf8), mode: mode, Vocabularies.bytes)
            }
        }
    }

    @Test("What is left out says what it is and why, and the list has a limit")
    func list() throws {
        let format = #"{"type":"string","format":"iri","maxLength":9}"#
        let one = try CompiledGrammar(
            schema: Array(format.utf8), mode: .lenient, Vocabularies.bytes)
        let keyword = try #require(one.dropped.first)
        #expect(keyword.pointer == "/format" && keyword.keyword == "format")
        #expect(keyword.reason == #"the format "iri" cannot be enforced"#)
        let long = String(repeating: "n", count: 600)
        let many = (0..<100).map { #""\#(long)\#($0)":\#(format)"# }.joined(separator: ",")
        let grammar = try CompiledGrammar(
            schema: Array(#"{"properties":{\#(many)}}"#.utf8), mode: .lenient, Vocabularies.bytes)
        #expect(grammar.droppedCount == 100)
        #expect(grammar.dropped.count == GrammarLimits.droppedKeywords)
        let most = GrammarLimits.droppedPointerBytes
        #expect(grammar.dropped.allSatisfy { $0.pointer.utf8.count <= most })
    }

    @Test("Long names are cut by their bytes, also where they are one character")
    func longNames() throws {
        let one = "e" + String(repeating: "\u{301}", count: 25_000)
        let schema = #"{"properties":{"\#(one)":{"format":"\#(one)"}}}"#
        let grammar = try CompiledGrammar(
            schema: Array(schema.utf8), mode: .lenient, Vocabularies.bytes)
        let keyword = try #require(grammar.dropped.first)
        let most = GrammarLimits.droppedPointerBytes
        #expect(keyword.pointer.utf8.count <= most && keyword.reason.utf8.count < 300)
        #expect(keyword.pointer.utf8.starts(with: "/properties/e\u{301}".utf8))
        #expect(keyword.pointer.utf8.suffix(3).elementsEqual("...".utf8))
        let said = GrammarError.badReference(pointer: "/" + one, reference: one).explanation
        #expect(said.what.utf8.count < 300 && said.place.utf8.count <= 201)
        for most in 3...12 {
            let cut = "a\u{301}\u{1F600}bcdefgh".cut(toBytes: most)
            #expect(cut.utf8.count <= most && cut.utf8.count > most - 4)
            #expect(!cut.unicodeScalars.contains("\u{FFFD}"))
        }
    }

    @Test("A cache keeps both modes of a schema apart")
    func cache() throws {
        let cache = GrammarCache(Vocabularies.bytes, count: 4)
        let schema = Array(#"{"type":"string","format":"iri"}"#.utf8)
        let lenient = try cache.grammar(.schema(schema, .lenient))
        #expect(try cache.grammar(.schema(schema, .lenient)) === lenient)
        #expect(cache.known(.schema(schema, .lenient)) === lenient)
        #expect(cache.known(.schema(schema)) == nil)
        #expect(throws: GrammarError.self) { try cache.grammar(.schema(schema)) }
    }

    @Test(
        "x-order is the order of properties; those that it does not name follow",
        arguments: [
            (#"["b","a"]"#, #"{"b":1,"a":1,"c":1}"#),
            (#"["c","x","c","b"]"#, #"{"c":1,"b":1,"a":1}"#),
            (#"[]"#, #"{"a":1,"b":1,"c":1}"#), (#"{"a":1}"#, #"{"a":1,"b":1,"c":1}"#),
            (#"[3,"b"]"#, #"{"b":1,"a":1,"c":1}"#),
        ])
    func order(_ order: String, _ text: String) throws {
        let one = #"{"const":1}"#
        let schema = #"""
            {"properties":{"o":{"properties":{"a":\#(one),"b":\#(one),"c":\#(one)},
            "required":["a","b","c"],"x-order":\#(order)}},"required":["o"]}
            """#
        let grammar = try CompiledGrammar(schema: Array(schema.utf8), Vocabularies.bytes)
        #expect(try Self.isWritten(#"{"o":\#(text)}"#, grammar))
        let other = #"{"a":1,"c":1,"b":1}"#
        #expect(try !Self.isWritten(#"{"o":\#(other)}"#, grammar))
    }

    static func isWritten(_ text: String, _ grammar: CompiledGrammar) throws -> Bool {
        guard var matcher = try? GrammarMatcher(grammar, limit: text.utf8.count + 100) else {
            return false
        }
        for byte in text.utf8 {
            guard try matcher.allows(Int32(byte)) else { return false }
            try matcher.accept(Int32(byte))
        }
        return try matcher.isComplete()
    }
}
