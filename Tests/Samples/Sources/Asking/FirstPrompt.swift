import FoundationModels
import SampleRunner

/// Kinds 5 and 6: a session, a prompt, an answer.
enum FirstPrompt {
    static let short = GenerationOptions(maximumResponseTokens: 24)

    static func run() async throws {
        // Kind 5.
        let session = LanguageModelSession()
        let response = try await session.respond(to: "Name a river.", options: short)
        print(response.content)

        let question = "Where does it flow?"
        let answer: String = try await session.respond(to: question, options: short).content
        print(answer)
        try expect(session.transcript.count == 4, "two prompts and two answers were kept")

        // Kind 6.
        let instructions = """
            You look after the boats of a small harbour.
            Answer guests in one short, friendly sentence.

            Never promise good weather.
            """
        let harbour = LanguageModelSession(instructions: instructions)
        let prompt = "May I moor here until Sunday?"
        print(try await harbour.respond(to: prompt, options: short).content)
        guard case .instructions(let first)? = harbour.transcript.first else {
            throw Unexpected("the transcript does not begin with instructions")
        }
        try expect(first.segments.first?.description == instructions, "all lines are kept")
    }
}
