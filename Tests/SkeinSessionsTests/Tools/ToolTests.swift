import Foundation
import SkeinSessions
import Testing

@Suite("Tools")
struct ToolTests {
    @Test("Name, parameters and schema in instructions have defaults")
    func defaults() throws {
        let tool = ForecastTool()
        #expect(tool.name == "ForecastTool")
        #expect(tool.includesSchemaInInstructions)
        #expect(tool.parameters == ForecastTool.Arguments.generationSchema)
        let definition = Transcript.ToolDefinition(tool: tool)
        #expect(definition.name == "ForecastTool")
        #expect(definition.description == "Tells tomorrow's weather")
        #expect(definition.parameters == tool.parameters)
    }

    @Test("A tool of any type is called with content and answers with text and a segment")
    func calling() async throws {
        let tools: [any Tool] = [ForecastTool(), RunTimeTool(name: "echo")]
        let content = try GeneratedContent(json: #"{"town":"Oslo"}"#)
        let forecast = try await tools[0].callErased(content)
        #expect(forecast.prompt.text == #"{"town":"Oslo","degrees":12}"#)
        guard case .structure(let segment) = forecast.segments.first else {
            Issue.record("no structure")
            return
        }
        #expect(segment.source == "Forecast")
        #expect(segment.content == Forecast(town: "Oslo", degrees: 12).generatedContent)

        let echo = try await tools[1].callErased(content)
        guard case .text(let text) = echo.segments.first else {
            Issue.record("no text")
            return
        }
        #expect(text.content == #"{"town":"Oslo"}"#)
        #expect(echo.segments.count == 1)
    }

    @Test("What a tool throws comes out as it is; arguments that do not fit are a typed error")
    func failing() async throws {
        let content = try GeneratedContent(json: #"{"city":"Oslo"}"#)
        await #expect(throws: RunTimeTool.Broken()) {
            try await RunTimeTool(name: "broken").callErased(content)
        }
        do {
            _ = try await ForecastTool().callErased(content)
            Issue.record("arguments were taken that do not fit")
        } catch let error as ToolError {
            guard case .badArguments(tool: "ForecastTool", _) = error else { throw error }
        }
    }

    @Test(
        "Names that a session can present",
        arguments: ["a", "find contacts", "fetch_weather-2", "Wetter für heute", "天気"])
    func goodNames(name: String) throws {
        try [RunTimeTool(name: name) as any Tool].check()
        try [RunTimeTool(name: String(repeating: "x", count: 64)) as any Tool].check()
    }

    static let badNames: [(String, ToolError)] = [
        ("", .emptyName), (" a", .badName(" a")), ("a ", .badName("a ")), (" ", .badName(" ")),
        ("a\nb", .badName("a\nb")), ("a\"b", .badName("a\"b")), ("a\\b", .badName("a\\b")),
        ("a\u{0}b", .badName("a\u{0}b")), ("a\u{202E}b", .badName("a\u{202E}b")),
        ("a\u{2028}b", .badName("a\u{2028}b")),
        (
            String(repeating: "x", count: 65),
            .longName(String(repeating: "x", count: 65), characters: 65, limit: 64)
        ),
    ]

    @Test("Names that no session can present")
    func refusedNames() {
        for (name, error) in Self.badNames {
            #expect(throws: error) { try [RunTimeTool(name: name) as any Tool].check() }
            #expect(error.errorDescription?.isEmpty == false)
            #expect(error.recoverySuggestion?.isEmpty == false)
        }
    }

    @Test("Two tools of one session have different names")
    func duplicates() {
        let tools: [any Tool] = [
            RunTimeTool(name: "a"), RunTimeTool(name: "b"), RunTimeTool(name: "a"),
        ]
        #expect(throws: ToolError.duplicateName("a")) { try tools.check() }
        #expect(
            ToolError.duplicateName("a").errorDescription
                == #"tool "a": two tools have this name"#)
    }

    @Test("Parameters are objects")
    func parameters() throws {
        try [RunTimeTool(name: "a", parameters: Outline.generationSchema) as any Tool].check()
        for schema in [
            SingleWord.generationSchema, String.generationSchema, [Forecast].generationSchema,
        ] {
            #expect(throws: ToolError.parametersNotObject(tool: "a")) {
                try [RunTimeTool(name: "a", parameters: schema) as any Tool].check()
            }
        }
        let coded: [(String, Bool)] = [
            (##"{"$ref":"#/$defs/A~1B~01","$defs":{"A/B~1":{"type":"object"}}}"##, true),
            (
                ##"{"anyOf":[{"type":"object"},{"$ref":"#/$defs/A"}],"##
                    + ##""$defs":{"A":{"type":"object"}}}"##,
                true
            ),
            (##"{"anyOf":[{"type":"object"},{"type":"string"}]}"##, false),
            (##"{"anyOf":[]}"##, false), (##"{"$ref":"#/$defs/A"}"##, false),
            (##"{"$ref":"#"}"##, false), ("{}", false), (##"{"type":7}"##, false),
        ]
        for (text, isObject) in coded {
            let schema = try JSONDecoder().decode(
                GenerationSchema.self, from: Data(text.utf8))
            let tools: [any Tool] = [RunTimeTool(name: "a", parameters: schema)]
            if isObject {
                try tools.check()
            } else {
                #expect(throws: ToolError.self, "\(text)") { try tools.check() }
            }
        }
        struct Twice: Generable {
            init(_ content: GeneratedContent) throws {}
            static var generationSchema: GenerationSchema {
                let property = GenerationSchema.Property(name: "a", type: Int.self)
                return GenerationSchema(type: Self.self, properties: [property, property])
            }
            var generatedContent: GeneratedContent { GeneratedContent(properties: [:]) }
        }
        let bad: [any Tool] = [RunTimeTool(name: "a", parameters: Twice.generationSchema)]
        do {
            try bad.check()
            Issue.record("a schema was taken that contradicts itself")
        } catch {
            guard case .badSchema(tool: "a", _) = error else { throw error }
        }
    }

    @Test("The older kind of output says what it was made of")
    func older() throws {
        try (OlderOutputs() as any OlderToolOutput).check()
    }
}

private protocol OlderToolOutput { func check() throws }

private struct OlderOutputs {}

extension OlderOutputs: OlderToolOutput {
    @available(*, deprecated)
    func check() throws {
        #expect(Prompt(ToolOutput("rain")).text == "rain")
        #expect(Prompt(ToolOutput.string("sun")).text == "sun")
        let content = GeneratedContent(properties: ["town": "Oslo"])
        #expect(Prompt(ToolOutput(content)).text == #"{"town":"Oslo"}"#)
    }

    @Test("A schema whose parts lead to each other again and again is looked at once")
    func manyReferences() throws {
        var definitions: [String] = []
        for number in 0..<28 {
            let next = ##"{"$ref":"#/$defs/D\##(number + 1)"}"##
            definitions.append(#""D\#(number)":{"anyOf":[\#(next),\#(next)]}"#)
        }
        definitions.append(#""D28":{"type":"object"}"#)
        let text = ##"{"$ref":"#/$defs/D0","$defs":{\##(definitions.joined(separator: ","))}}"##
        let schema = try JSONDecoder().decode(GenerationSchema.self, from: Data(text.utf8))
        try [RunTimeTool(name: "a", parameters: schema) as any Tool].check()
    }
}
