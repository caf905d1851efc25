import FoundationModels
import SampleRunner

/// Kind 40: what a baker has written down.
struct FindLoaves: Tool {
    let name = "findLoaves"
    let description = "Finds kinds of bread in the baker's book."

    @Generable
    struct Arguments {
        @Guide(description: "The flour", .anyOf(["rye", "spelt", "wheat"]))
        var flour: String
        @Guide(description: "How many loaves", .range(1...6))
        var limit: Int
    }

    @Generable
    struct Loaf {
        var name: String
        var hours: Int
    }

    func call(arguments: Arguments) async throws -> [Loaf] {
        let loaves = [
            Loaf(name: "\(arguments.flour) crown", hours: 5),
            Loaf(name: "\(arguments.flour) tin", hours: 3),
        ]
        return Array(loaves.prefix(arguments.limit))
    }
}

enum Loaves {
    static func run() async throws {
        let session = LanguageModelSession(
            model: .default, tools: [FindLoaves()], instructions: "You advise a baker.")
        // As a program for a larger model would ask: the model decides.
        let response = try await session.respond(
            to: "What can I bake of rye?",
            options: GenerationOptions(
                samplingMode: .random(top: 40, seed: 3), temperature: 0.5,
                maximumResponseTokens: 40))
        print(response.content)
        print("calls: \(Calling.calls(of: session).count)")
        let entries = session.transcript.count
        _ = try await session.respond(to: "And of spelt?", options: Calling.certain())
        print(session.transcript.dropFirst(entries).map(\.description).joined(separator: "\n"))
        try expect(!Calling.calls(of: session).isEmpty, "the tool was called")
    }
}
