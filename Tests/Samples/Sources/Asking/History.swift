import FoundationModels
import SampleRunner

/// Kind 10: two poems, and what a session remembers of them.
enum History {
    static func run() async throws {
        let options = GenerationOptions(maximumResponseTokens: 24)
        let session = LanguageModelSession()
        let poem = try await session.respond(to: "Two lines about a heron", options: options)
        print(poem.content)
        let other = try await session.respond(to: "Now about its fish", options: options)
        print(other.content)
        print(session.transcript)
        let lines = session.transcript.description.split(separator: "\n")
        try expect(lines.count == 4, "one line for each entry")
        try expect(lines.first?.hasPrefix("(Prompt) ") == true, "a line begins with its kind")
        try expect(poem.transcriptEntries.count == 2, "a response has its own entries")
    }
}
