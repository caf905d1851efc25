import Testing

@testable import SkeinGrammar

@Suite("Texts that a schema allows")
struct AcceptedTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var schema: String
        var allowed: [String]
        var forbidden: [String]

        var testDescription: String { schema }
    }

    static let rows: [Row] = [
        Row(
            schema: #"""
                {"properties":{"a":{"type":"integer"},"b":{"type":"null"}},"required":["b"]}
                """#,
            allowed: [#"{"b":null}"#, #"{"a":1,"b":null}"#, #"{"a": -7, "b": null}"#],
            forbidden: [
                "{}", #"{"b":null,"a":1}"#, #"{"a":1}"#, #"{"a":01,"b":null}"#, #"{ "b":null}"#,
                #"{"b":null,"c":1}"#, #"{"b":  null}"#, #"{"a":-0,"b":null}"#, #"{"b":null} "#,
                #"{"a":1.0,"b":null}"#,
            ]),
        Row(
            schema: #"""
                {"type":"object","properties":{"ab":true},"additionalProperties":{"type":"null"}}
                """#,
            allowed: [
                "{}", #"{"ab":[1]}"#, #"{"x":null}"#, #"{"abc":null,"a":null}"#, #"{"":null}"#,
                #"{"\u0061":null}"#,
            ],
            forbidden: [#"{"x":1}"#, #"{"x":null,"ab":1}"#, #"{"\u0061b":null}"#]),
        Row(
            schema: #"""
                {"allOf":[{"properties":{"a":{"minimum":3}}},{"properties":{"a":{"type":"integer",
                "maximum":5}}}],"type":"object"}
                """#,
            allowed: ["{}", #"{"a":3}"#, #"{"a":5}"#],
            forbidden: [#"{"a":2}"#, #"{"a":6}"#, #"{"a":3.5}"#, #"{"a":"x"}"#]),
        Row(
            schema: #"{"type":["string","null"],"minLength":1,"maxLength":2}"#,
            allowed: ["null", #""a""#, #""日本""#, #""\ud83d\ude00x""#, #""\"\\""#, #""\/""#],
            forbidden: [
                #""""#, #""abc""#, #""\ud83d""#, #""\ude00""#, "\"\u{1}\"", #""\x""#,
                #""\ud83dxx""#,
            ]),
        Row(
            schema: #"{"enum":[1,"a",null,{"k":[true,1.50]},1e2,"é"]}"#,
            allowed: [
                "1", #""a""#, "null", #"{"k":[true,1.5]}"#, #"{"k": [true, 1.5]}"#, "100",
                #""é""#,
            ],
            forbidden: ["2", #""b""#, #"{"k":[true]}"#, "1e2"]),
        Row(
            schema: #"{"enum":[1,2,"three",30],"type":"integer","minimum":2}"#,
            allowed: ["2", "30"], forbidden: ["1", #""three""#, "3"]),
        Row(
            schema: #"""
                {"prefixItems":[{"type":"null"},{"const":2}],"items":{"type":"boolean"},
                "maxItems":4}
                """#,
            allowed: ["[]", "[null]", "[null,2]", "[null, 2, true, false]"],
            forbidden: ["[2]", "[null,3]", "[null,2,true,true,true]", "[null,]"]),
        Row(
            schema: #"{"prefixItems":[{"type":"null"}]}"#,
            allowed: ["[]", "[null]"], forbidden: ["[null,1]"]),
        Row(
            schema: ##"""
                {"$ref":"#/$defs/list","$defs":{"list":{"anyOf":[{"type":"null"},
                {"type":"object","properties":{"next":{"$ref":"#/$defs/list"}},
                "required":["next"]}]}}}
                """##,
            allowed: ["null", #"{"next":{"next":null}}"#],
            forbidden: ["{}", #"{"next":1}"#]),
        Row(
            schema: ##"""
                {"$id":"https://example.com/tree","type":"object","properties":{
                "whole":{"$ref":"https://example.com/tree"},
                "again":{"$ref":"https://example.com/tree#"},
                "part":{"$ref":"https://example.com/tree#/$defs/a"},
                "named":{"$ref":"https://example.com/tree#b"}},
                "$defs":{"a":{"const":1},"x":{"$anchor":"b","const":2}}}
                """##,
            allowed: [#"{"whole":{"again":{}},"part":1,"named":2}"#],
            forbidden: [#"{"whole":1}"#, #"{"again":1}"#, #"{"part":2}"#, #"{"named":1}"#]),
        Row(
            schema: ##"{"$id":"t#","anyOf":[{"type":"null"},{"items":{"$ref":"t#"}}]}"##,
            allowed: ["null", "[null,[[]]]"], forbidden: ["[1]"]),
        Row(
            schema: #"{"type":"string","pattern":"^\\d{2}-[A-Z\"]+$","maxLength":5}"#,
            allowed: [#""12-A""#, #""12-AB""#, #""12-\"""#, #""1\u0032-Z""#],
            forbidden: [#""12-""#, #""12-ABC""#, #""1-A""#, #""12-a""#]),
        Row(
            schema: #"{"type":"string","pattern":"b"}"#,
            allowed: [#""b""#, #""abc""#, #""日b\n""#], forbidden: [#""""#, #""ac""#]),
        Row(
            schema: #"{"properties":{"a\"b":{},"ü":{}},"type":"object"}"#,
            allowed: [#"{"a\"b":1,"ü":2}"#], forbidden: [#"{"a":1}"#]),
        Row(
            schema: #"{"const":{"a":[],"b":{}}}"#,
            allowed: [#"{"a":[],"b":{}}"#, #"{"a": [], "b": {}}"#],
            forbidden: [#"{"b":{},"a":[]}"#]),
        Row(
            schema: #"""
                {"type":"object","properties":{"a":{},"b":{}},"minProperties":0,
                "maxProperties":2}
                """#,
            allowed: ["{}", #"{"a":[{"x":"y"}],"b":1.25}"#], forbidden: [#"{"c":1}"#]),
        Row(
            schema: #"{"type":"integer","oneOf":[{"minimum":5},{"maximum":4}]}"#,
            allowed: ["4", "5"], forbidden: ["4.5"]),
        Row(
            schema: #"{"type":"integer","minimum":7,"maximum":1.8e308}"#,
            allowed: ["7", "9000000000000000000"], forbidden: ["6"]),
        Row(
            schema: ##"""
                {"default":{"$anchor":"x","type":"null"},"$defs":{"enum":{"$anchor":"x",
                "type":"integer"}},"$ref":"#x"}
                """##,
            allowed: ["3"], forbidden: ["null"]),
        Row(
            schema: ##"""
                {"type":"object","properties":{"z":{"allOf":[{"$ref":"#/$defs/A"},
                {"$ref":"#/$defs/B"}]},"x":{"$ref":"#/$defs/B"}},"$defs":{"A":{"type":"object",
                "properties":{"a":{"type":"integer"}}},"B":{"type":"object",
                "properties":{"b":{"type":"integer"}}}}}
                """##,
            allowed: [#"{"z":{"a":1,"b":2}}"#], forbidden: [#"{"z":{"b":1,"a":2}}"#]),
        Row(
            schema: #"{"items":{"enum":["a",1,null]},"uniqueItems":true,"minItems":2}"#,
            allowed: [#"["a",1]"#, #"[null, 1, "a"]"#],
            forbidden: [#"["a"]"#, #"["a","a"]"#, #"["a",1,null,1]"#, "[]"]),
        Row(
            schema: #"{"items":{"type":["boolean","null"]},"uniqueItems":true,"maxItems":2}"#,
            allowed: ["[]", "[true,null]", "[false,true]"],
            forbidden: ["[true,true]", "[true,false,null]"]),
        Row(
            schema: #"{"items":{"type":"integer"},"uniqueItems":true,"maxItems":1}"#,
            allowed: ["[]", "[7]"], forbidden: ["[7,8]"]),
        Row(
            schema: #"""
                {"patternProperties":{"^[a-z]+$":{"type":"integer"},"^x":{"minimum":5}},
                "properties":{"a":{"maximum":3},"B":{}},"additionalProperties":false}
                """#,
            allowed: ["{}", #"{"a":3,"b":7}"#, #"{"B":"x"}"#, #"{"xy":5,"b":6}"#, #"{"x1":9}"#],
            forbidden: [#"{"a":4}"#, #"{"a":"x"}"#, #"{"C":1}"#, #"{"xy":4}"#, #"{"b":1.5}"#]),
        Row(
            schema: #"""
                {"propertyNames":{"pattern":"^[a-c]$"},"properties":{"a":{"const":1},"d":{}},
                "additionalProperties":{"type":"null"}}
                """#,
            allowed: ["{}", #"{"a":1}"#, #"{"a":1,"b":null}"#, #"{"c":null}"#],
            forbidden: [#"{"d":1}"#, #"{"dd":null}"#, #"{"b":1}"#]),
        Row(
            schema: #"""
                {"propertyNames":{"anyOf":[{"enum":["x",1]},{"maxLength":1,"minLength":1}]},
                "type":"object","additionalProperties":{"type":"integer"},"maxProperties":2,
                "minProperties":1}
                """#,
            allowed: [#"{"x":1}"#, #"{"y":1,"x":2}"#],
            forbidden: ["{}", #"{"":1}"#, #"{"xy":1}"#, #"{"x":1,"y":2,"z":3}"#]),
        Row(
            schema:
                #"{"type":"object","required":["a"],"additionalProperties":true,"maxProperties":2}"#,
            allowed: [#"{"a":1}"#, #"{"a":1,"b":2}"#], forbidden: [#"{"a":1,"b":2,"c":3}"#]),
        Row(
            schema: #"{"type":"object","minProperties":1}"#,
            allowed: [#"{"a":1}"#, #"{"a":1,"b":[]}"#], forbidden: ["{}"]),
        Row(
            schema:
                #"{"oneOf":[{"patternProperties":{"^a":{"type":"null"}},"required":["a"],"type":"object","additionalProperties":false},{"properties":{"a":{"type":"integer"}},"required":["a"],"type":"object"}]}"#,
            allowed: [#"{"a":null}"#, #"{"a":3}"#], forbidden: [#"{"a":"x"}"#, "{}"]),
        Row(
            schema: #"{"type":"number","multipleOf":0.5,"minimum":-1}"#,
            allowed: ["-1", "-0.5", "2.5", "3.0"], forbidden: ["-1.5", "0.25", "2.50"]),
        Row(
            schema: #"{"type":"string","format":"password","maxLength":1}"#,
            allowed: [#""a""#], forbidden: [#""ab""#]),
    ]

    @Test("exactly the texts that the documents promise", arguments: rows)
    func accepts(_ row: Row) throws {
        let grammar = try CompiledGrammar(schema: Array(row.schema.utf8), Vocabularies.bytes)
        for text in row.allowed {
            #expect(try Self.isAllowed(text, grammar), "\(text)")
        }
        for text in row.forbidden {
            #expect(try !Self.isAllowed(text, grammar), "\(text)")
        }
    }

    /// Byte by byte, with room for more.
    private static func isAllowed(_ text: String, _ grammar: CompiledGrammar) throws -> Bool {
        var matcher = try GrammarMatcher(grammar, limit: text.utf8.count + 100)
        for byte in text.utf8 {
            guard try matcher.allows(Int32(byte)) else { return false }
            try matcher.accept(Int32(byte))
        }
        return try matcher.isComplete()
    }
}
