import FoundationModels
import SampleRunner

/// What of a tool can be tried without a model: its schema and its `call`.
enum ToolsByHand {
    static func run() async throws {
        let rowers = FindRowers()
        let found = try await rowers.call(arguments: .init(boat: "eight", limit: 1))
        try expect(
            try found.value([String].self, forProperty: "names") == ["Grete Holm"],
            "the limit counts")
        let arguments = try FindRowers.Arguments(
            GeneratedContent(properties: ["boat": "double", "limit": 3]))
        print(try await rowers.call(arguments: arguments).jsonString)
        try expect(rowers.includesSchemaInInstructions, "models are shown the schema")
        let session = LanguageModelSession(tools: [rowers, HighWater(), FestivalDate()])
        guard case .instructions(let instructions)? = session.transcript.first else {
            throw Unexpected("the tools stand in no instructions")
        }
        print(instructions.toolDefinitions.map { "\($0.name): \($0.description)" })
        try expect(instructions.toolDefinitions.count == 3, "all tools are in the transcript")
        let definition = Transcript.ToolDefinition(tool: rowers)
        try expect(definition == instructions.toolDefinitions[0], "a definition says the same")
    }
}
