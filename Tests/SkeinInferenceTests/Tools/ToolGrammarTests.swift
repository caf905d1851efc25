import SkeinBasics
import SkeinGrammar
import SkeinText
import Testing

@testable import SkeinInference

@Suite("The grammar of calls")
struct ToolGrammarTests {
    private static func tool(_ name: String, _ parameters: String, strict: Bool = false) -> String {
        """
        {"type":"function","function":{"name":"\(name)","strict":\(strict),\
        "parameters":\(parameters)}}
        """
    }

    private static func grammar(_ definitions: [String]) throws -> CompiledGrammar {
        let tools = try Tool.list(TestTools.json("[\(definitions.joined(separator: ","))]"))
        let bytes = TokenVocabulary(tokens: (0...255).map { [UInt8($0)] })
        return try ToolGrammar.make(
            tools.enumerated().map { ($0, $1) }, key: "arguments",
            GrammarCache(bytes, count: 4)
        ).grammar
    }

    /// Whether the grammar of bytes allows a whole text.
    private static func allows(_ grammar: CompiledGrammar, _ text: String) throws -> Bool {
        var matcher = try GrammarMatcher(grammar, limit: 4096)
        for byte in text.utf8 {
            guard try matcher.allows(Int32(byte)) else { return false }
            try matcher.accept(Int32(byte))
        }
        return try matcher.isFinal() && matcher.isComplete()
    }

    @Test("what a schema refers to moves with it")
    func references() throws {
        let list = ##"""
            {"type":"object","$id":"https://example.com/a","properties":{"next":{"$ref":"#"},
            "v":{"$ref":"#/$defs/v"},"w":{"$ref":"#here"},"x":{"$ref":"#/parts/x"},
            "y":{"const":{"$ref":"#"}},"$ref":{"type":"null"}},"$defs":{"v":{"enum":[1,2]},
            "w":{"$anchor":"here","const":"w"}},"parts":{"x":{"$ref":"#/$defs/v"}}}
            """##
        let other = ##"""
            {"type":"object","properties":{"w":{"$ref":"#here"}},
            "$defs":{"w":{"$anchor":"here","const":"other"}}}
            """##
        let grammar = try Self.grammar([Self.tool("a", list), Self.tool("b", other)])
        for (text, isAllowed) in [
            (##"{"name":"a","arguments":{"next":{"next":{"v":2}},"v":1}}"##, true),
            (##"{"name":"a","arguments":{"v":3}}"##, false),
            (##"{"name":"a","arguments":{"w":"w"}}"##, true),
            (##"{"name":"a","arguments":{"w":"other"}}"##, false),
            (##"{"name":"b","arguments":{"w":"other"}}"##, true),
            (##"{"name":"b","arguments":{"w":"w"}}"##, false),
            (##"{"name":"a","arguments":{"x":2}}"##, true),
            (##"{"name":"a","arguments":{"y":{"$ref":"#"}}}"##, true),
            (##"{"name":"a","arguments":{"$ref":null}}"##, true),
            (##"{"name":"b","arguments":{"v":1}}"##, false),
            (##"{"name":"c","arguments":{}}"##, false),
            (##"{"arguments":{},"name":"a"}"##, false),
            (##"{"name":"a","arguments":{},"id":"1"}"##, false),
        ] {
            #expect(try Self.allows(grammar, text) == isAllowed, "\(text)")
        }
    }

    @Test("what of a schema cannot be enforced is left out, unless it is strict")
    func impossible() throws {
        let schema = #"{"type":"object","properties":{"a":{"not":{"type":"null"}}}}"#
        let good = #"{"type":"object","properties":{"a":{"const":1}}}"#
        let grammar = try Self.grammar([Self.tool("f", schema), Self.tool("g", good, strict: true)])
        #expect(try Self.allows(grammar, #"{"name":"f","arguments":{"a":null}}"#))
        #expect(try !Self.allows(grammar, #"{"name":"f","arguments":[]}"#))
        #expect(try !Self.allows(grammar, #"{"name":"g","arguments":{"a":2}}"#))
        let problem = ToolProblem(
            path: "tools[1].function.parameters",
            flaw: .cannotBeEnforced(
                GrammarError.unsupported(pointer: "/properties/a/not", reason: .keyword)
                    .explanation))
        #expect(throws: problem) {
            try Self.grammar([Self.tool("g", good), Self.tool("f", schema, strict: true)])
        }
        #expect(problem.explanation.what.contains("#/properties/a/not"))
        let never = #"{"type":"object","properties":{"a":false},"required":["a"]}"#
        let any = try Self.grammar([Self.tool("f", never)])
        #expect(try Self.allows(any, #"{"name":"f","arguments":{}}"#))
        #expect(
            throws: ToolProblem(
                path: "tools", flaw: .cannotBeEnforced(GrammarError.empty(pointer: "").explanation))
        ) {
            try Self.grammar([Self.tool("f", never, strict: true)])
        }
    }

    @Test("many impossible schemas do not take many tries")
    func manyImpossible() throws {
        let schema = #"{"type":"object","properties":{"a":{"not":{}}}}"#
        let grammar = try Self.grammar((0..<128).map { Self.tool("f\($0)", schema) })
        #expect(try Self.allows(grammar, #"{"name":"f127","arguments":{"a":1}}"#))
    }
}
