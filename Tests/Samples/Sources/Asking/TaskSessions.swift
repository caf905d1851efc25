import FoundationModels
import SampleRunner

/// Kind 13: three tasks in a row, each with a session of its own.
enum TaskSessions {
    static func run() async throws {
        let note = "the roof of the boat house leaks since tuesday, call the joiner"
        let options = GenerationOptions(temperature: 0.2, maximumResponseTokens: 24)

        let proofreader = LanguageModelSession(instructions: "Correct the spelling of the text.")
        let corrected = try await proofreader.respond(to: note, options: options).content

        let shortener = LanguageModelSession(instructions: "Say it in at most five words.")
        let title = try await shortener.respond(to: corrected, options: options).content

        let asker = LanguageModelSession(instructions: "Ask one question about the text.")
        let question = try await asker.respond(to: corrected, options: options).content

        for text in [corrected, title, question] { print("- \(text)") }
        for session in [proofreader, shortener, asker] {
            try expect(session.transcript.count == 3, "each session knows its own task alone")
        }
    }
}
