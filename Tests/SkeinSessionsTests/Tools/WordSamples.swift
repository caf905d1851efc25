import SkeinSessions

/// Generable types written by hand: the tests of the vocabulary need no macro.
struct Forecast: Generable, Equatable {
    var town: String
    var degrees: Int

    init(town: String, degrees: Int) {
        self.town = town
        self.degrees = degrees
    }

    init(_ content: GeneratedContent) throws {
        town = try content.value(forProperty: "town")
        degrees = try content.value(forProperty: "degrees")
    }

    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Self.self,
            properties: [
                GenerationSchema.Property(name: "town", type: String.self),
                GenerationSchema.Property(name: "degrees", type: Int.self),
            ])
    }

    var generatedContent: GeneratedContent {
        GeneratedContent(properties: ["town": town, "degrees": degrees])
    }
}

/// A type that is no object.
struct SingleWord: Generable {
    var name: String

    init(_ content: GeneratedContent) throws { name = try content.value(String.self) }

    static var generationSchema: GenerationSchema {
        GenerationSchema(type: Self.self, anyOf: ["glad", "sad"])
    }

    var generatedContent: GeneratedContent { GeneratedContent(name) }
}

/// An enum with values: each of them is an object.
struct Outline: Generable {
    init(_ content: GeneratedContent) throws {}

    static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Self.self,
            cases: [
                GenerationSchema.Case(
                    name: "circle",
                    properties: [GenerationSchema.Property(name: "radius", type: Double.self)]),
                GenerationSchema.Case(name: "point"),
            ])
    }

    var generatedContent: GeneratedContent { GeneratedContent(properties: ["type": "point"]) }
}

/// A tool with all defaults.
struct ForecastTool: Tool {
    struct Arguments: Generable {
        var town: String

        init(_ content: GeneratedContent) throws {
            town = try content.value(forProperty: "town")
        }

        static var generationSchema: GenerationSchema {
            GenerationSchema(
                type: Self.self,
                properties: [GenerationSchema.Property(name: "town", type: String.self)])
        }

        var generatedContent: GeneratedContent { GeneratedContent(properties: ["town": town]) }
    }

    let description = "Tells tomorrow's weather"

    func call(arguments: Arguments) -> Forecast { Forecast(town: arguments.town, degrees: 12) }
}

/// A tool that is made at run time.
struct RunTimeTool: Tool {
    var name: String
    var description = "Says what it was asked"
    var parameters = Forecast.generationSchema
    var includesSchemaInInstructions = true

    func call(arguments: GeneratedContent) async throws -> String {
        guard name != "broken" else { throw Broken() }
        return arguments.jsonString
    }

    struct Broken: Error, Equatable {}
}

/// Transcripts for tests.
enum SampleTranscript {
    static func text(_ text: String, _ id: String) -> [Transcript.Segment] {
        [.text(Transcript.TextSegment(id: id, content: text))]
    }

    /// One of each kind of entry, with fixed identities.
    static func full() throws -> Transcript {
        let arguments = try GeneratedContent(json: #"{"town":"Oslo"}"#)
        return Transcript(entries: [
            .instructions(
                Transcript.Instructions(
                    id: "i", segments: text("Be brief.", "i1"),
                    toolDefinitions: [Transcript.ToolDefinition(tool: ForecastTool())])),
            .prompt(
                Transcript.Prompt(
                    id: "p", segments: text("Weather in Oslo\nand Rome?", "p1"),
                    options: GenerationOptions(
                        samplingMode: .random(top: 40, seed: .max), temperature: 0.7,
                        maximumResponseTokens: 100, toolCallingMode: .required,
                        closesAtLimit: true),
                    responseFormat: Transcript.ResponseFormat(type: Forecast.self))),
            .toolCalls(
                Transcript.ToolCalls(
                    id: "t",
                    [
                        Transcript.ToolCall(
                            id: "c1", toolName: "ForecastTool", arguments: arguments),
                        Transcript.ToolCall(
                            id: "c2", toolName: "ForecastTool",
                            arguments: try GeneratedContent(json: #"{"town":"Rome"}"#)),
                    ])),
            .toolOutput(
                Transcript.ToolOutput(
                    id: "c1", toolName: "ForecastTool",
                    segments: [
                        .structure(
                            Transcript.StructuredSegment(
                                id: "o1", source: "Forecast",
                                content: Forecast(town: "Oslo", degrees: -3).generatedContent))
                    ])),
            .toolOutput(
                Transcript.ToolOutput(
                    id: "c2", toolName: "ForecastTool", segments: text("12 degrees", "o2"))),
            .response(
                Transcript.Response(
                    id: "r", assetIDs: ["tiny", "my-adapter"],
                    segments: [
                        .structure(
                            Transcript.StructuredSegment(
                                id: "r1", source: "Forecast",
                                content: Forecast(town: "Oslo", degrees: -3).generatedContent))
                    ])),
        ])
    }
}
