import SkeinBasics
import SkeinGrammar
import SkeinJSON
import SkeinText
import Testing

@testable import SkeinInference

@Suite("Tools as clients send them")
struct ToolReadingTests {
    private static func function(_ fields: String) -> String {
        #"[{"type":"function","function":{\#(fields)}}]"#
    }

    @Test("a tool is read, and its definition stays as it came")
    func reading() throws {
        let tools = try TestTools.all
        #expect(tools.map(\.name) == ["get_weather", "get", "plant-tree_2", "nothing"])
        #expect(tools[0].description == "Weather of a place." && tools[1].description == nil)
        #expect(tools[0].definition.written == TestTools.weather)
        #expect(tools.allSatisfy { !$0.strict })
        #expect(
            tools[3].parameters.written
                == #"{"type":"object","properties":{},"additionalProperties":false}"#)
        let strict = try Tool.list(
            TestTools.json(Self.function(#""name":"f","strict":true,"parameters":{}"#)))
        #expect(strict[0].strict && strict[0].parameters.written == #"{"type":"object"}"#)
        #expect(try Tool.list(nil).isEmpty && Tool.list(.null).isEmpty)
        #expect(try Tool.list(.list([])).isEmpty)
    }

    private static let refused: [(json: String, path: String, flaw: ToolProblem.Flaw)] = [
        (#"{}"#, "tools", .wrongType(expected: "a list")),
        (#""get""#, "tools", .wrongType(expected: "a list")),
        ("[7]", "tools[0]", .wrongType(expected: "an object")),
        ("[{}]", "tools[0].type", .missing(expected: #""function""#)),
        (#"[{"type":7}]"#, "tools[0].type", .wrongType(expected: #""function""#)),
        (
            #"[{"type":"code_interpreter"}]"#, "tools[0].type",
            .notAFunction(found: "code_interpreter")
        ),
        (
            #"[{"type":"function"}]"#, "tools[0].function", .missing(expected: "an object")
        ),
        (
            #"[{"type":"function","function":[]}]"#, "tools[0].function",
            .wrongType(expected: "an object")
        ),
        (function(""), "tools[0].function.name", .missing(expected: "a name")),
        (function(#""name":null"#), "tools[0].function.name", .wrongType(expected: "a string")),
        (function(#""name":"""#), "tools[0].function.name", .badName),
        (function(#""name":"a b""#), "tools[0].function.name", .badName),
        (function(#""name":"é""#), "tools[0].function.name", .badName),
        (function(#""name":"a\"""#), "tools[0].function.name", .badName),
        (
            function(#""name":"\#(String(repeating: "a", count: 65))""#),
            "tools[0].function.name", .badName
        ),
        (
            function(#""name":"f","description":7"#), "tools[0].function.description",
            .wrongType(expected: "a string")
        ),
        (
            function(#""name":"f","strict":"yes""#), "tools[0].function.strict",
            .wrongType(expected: "true or false")
        ),
        (
            function(#""name":"f","parameters":[]"#), "tools[0].function.parameters",
            .notAnObjectSchema
        ),
        (
            function(#""name":"f","parameters":true"#), "tools[0].function.parameters",
            .notAnObjectSchema
        ),
        (
            function(#""name":"f","parameters":{"type":"array"}"#),
            "tools[0].function.parameters.type", .notAnObjectSchema
        ),
        (
            function(#""name":"f","parameters":{"type":["object","null"]}"#),
            "tools[0].function.parameters.type", .notAnObjectSchema
        ),
        (
            "[\(TestTools.get),\(TestTools.weather),\(TestTools.get)]", "tools[2].function.name",
            .repeatedName("get", first: 0)
        ),
        (
            "[" + (0..<129).map { _ in TestTools.get }.joined(separator: ",") + "]", "tools",
            .tooMany(found: 129, limit: 128)
        ),
        (
            function(
                #""name":"f","description":"\#(String(repeating: "a", count: 1 << 19))""#),
            "tools", .tooLarge(limit: 1 << 19)
        ),
        (
            function(
                #""name":"f","parameters":"# + String(repeating: #"{"properties":"#, count: 40)
                    + "{}" + String(repeating: "}", count: 40)), "tools[0]", .tooDeep(limit: 31)
        ),
    ]

    @Test("what is no tool is refused with its place", arguments: refused.indices)
    func refusing(_ index: Int) throws {
        let (json, path, flaw) = Self.refused[index]
        let problem = ToolProblem(path: path, flaw: flaw)
        #expect(throws: problem) { try Tool.list(TestTools.json(json)) }
        let words = problem.explanation
        #expect(!words.what.isEmpty && words.place == path && !words.remedy.isEmpty)
        #expect(words.what.utf8.count < 400)
    }

    @Test("a choice is one of four")
    func choices() throws {
        let tools = try TestTools.all
        func read(_ json: String?, _ tools: [Tool]) throws -> ToolChoice {
            try ToolChoice.read(json.map(TestTools.json), tools: tools)
        }
        #expect(try read(nil, tools) == .auto && read(nil, []) == .none)
        #expect(try read("null", tools) == .auto && read(#""auto""#, tools) == .auto)
        #expect(try read(#""auto""#, []) == .none && read(#""none""#, tools) == .none)
        #expect(try read(#""required""#, tools) == .required)
        let named = #"{"type":"function","function":{"name":"get"}}"#
        #expect(try read(named, tools) == .named("get"))
        for (json, path, flaw) in [
            (#""required""#, "tool_choice", ToolProblem.Flaw.noTools),
            (#""any""#, "tool_choice", .unknownChoice("any")),
            ("7", "tool_choice", .wrongType(expected: "a string or an object")),
            ("{}", "tool_choice.type", .missing(expected: #""function""#)),
            (#"{"type":"allowed_toys"}"#, "tool_choice.type", .unknownChoice("allowed_toys")),
            (
                #"{"type":"function"}"#, "tool_choice.function.name",
                .missing(expected: "a tool's name")
            ),
            (named, "tool_choice.function.name", .unknownTool("get")),
        ] {
            #expect(throws: ToolProblem(path: path, flaw: flaw)) { try read(json, []) }
        }
        #expect(try ToolChoice.isParallel(nil) && ToolChoice.isParallel(.null))
        #expect(try ToolChoice.isParallel(.bool(true)) && !ToolChoice.isParallel(.bool(false)))
        #expect(
            throws: ToolProblem(
                path: "parallel_tool_calls", flaw: .wrongType(expected: "true or false"))
        ) { try ToolChoice.isParallel(.number("1")) }
    }

    @Test("names of calls are functions of the request and the number")
    func ids() {
        let ids = (0..<200).map { CallID.make(request: "r", index: $0) }
        #expect(Set(ids).count == 200 && ids[7] == CallID.make(request: "r", index: 7))
        #expect(ids.allSatisfy { $0.hasPrefix("call_") && $0.utf8.count == 29 })
        #expect(CallID.make(request: "s", index: 0) != ids[0])
        let short = (0..<200).map { CallID.make(request: "r", index: $0, style: .mistral) }
        #expect(Set(short).count == 200)
        for id in short {
            #expect(id.utf8.count == 9 && CallID.restyled(id, .mistral) == id)
            #expect(id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        }
        #expect(CallID.restyled(ids[0], .openAI) == ids[0])
        #expect(CallID.restyled(ids[0], .mistral).utf8.count == 9)
    }
}
