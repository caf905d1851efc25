import FoundationModels
import SampleRunner

/// The type of kind 54.
@Generable
struct Greeting {
    @Guide(description: "Of the day", .anyOf(["morning", "noon", "evening"]))
    var time: String
    @Guide(.range(1...3))
    var warmth: Int
}

/// Kind 54: a model that is ready when it is asked.
enum WarmUp {
    static func run() async throws {
        let session = LanguageModelSession(instructions: "You greet people at a door.")
        session.prewarm()
        try expect(!session.isResponding, "warming up is no request")

        let prefix = Prompt("Greet the person who comes in: ")
        session.prewarm(promptPrefix: prefix)
        let options = GenerationOptions(maximumResponseTokens: 12)
        let response = try await session.respond(
            to: "Greet the person who comes in: an old friend", options: options)
        print(response.content)

        let room = GenerationOptions(maximumResponseTokens: 48)
        // The schema stood in the first prompt; the form holds without it, too.
        let first = try await session.respond(
            to: "Greet the postman.", generating: Greeting.self, options: room)
        let second = try await session.respond(
            to: "Greet the neighbour.", generating: Greeting.self, includeSchemaInPrompt: false,
            options: room)
        print(first.content, second.content)
        try expect((1...3).contains(second.content.warmth), "the guide holds without the schema")
        try expect(
            second.usage.input.totalTokenCount > first.usage.input.totalTokenCount,
            "the second prompt has all turns before")
    }
}
