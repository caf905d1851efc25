import FoundationModels
import SampleRunner

/// Kind 35: a talk that outgrows the window and goes on with a summary.
enum FullWindow {
    static func run() async throws {
        let options = GenerationOptions(maximumResponseTokens: 24)
        let instructions = "You help to write the chronicle of a village."
        var session = LanguageModelSession(instructions: instructions)
        _ = try await session.respond(to: "The mill burned down in 1811.", options: options)
        let chronicle = String(repeating: "In that year the river rose again. ", count: 700)
        do {
            _ = try await session.respond(to: chronicle, options: options)
            throw Unexpected("the window has no end")
        } catch LanguageModelSession.GenerationError.exceededContextWindowSize(let context) {
            print(context.debugDescription)
        }
        try expect(session.transcript.count == 3, "nothing of the long prompt is kept")

        // The beginning and the end of what was said.
        var kept: [Transcript.Entry] = []
        if let first = session.transcript.first { kept.append(first) }
        if let last = session.transcript.last, session.transcript.count > 1 { kept.append(last) }
        let short = LanguageModelSession(transcript: Transcript(entries: kept))
        try expect(short.transcript.count == 2, "two entries stay")

        // A summary for a new session.
        let summary = try await session.respond(
            to: "Sum up what we have so far in one sentence.", options: options
        ).content
        session = LanguageModelSession {
            instructions
            "So far: \(summary)"
        }
        print(try await session.respond(to: "How does it go on?", options: options).content)
        try expect(session.transcript.count == 3, "the new session is short")
    }
}
