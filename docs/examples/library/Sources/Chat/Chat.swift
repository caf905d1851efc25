import Foundation
import Skein

/// Tells the time; the model decides when to ask for it.
struct Clock: Tool {
    let description = "Tells the date and the time of day"

    @Generable
    struct Arguments {}

    func call(arguments: Arguments) async throws -> String {
        Date.now.formatted(date: .complete, time: .shortened)
    }
}

/// `Chat MODEL [ADAPTER]`: a conversation on the command line. An empty line ends it; when it fills the
/// window, its oldest turns leave.
@main enum Chat {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 1 else {
            print("usage: Chat MODEL [ADAPTER]")
            exit(64)
        }
        let adapter =
            words.count > 2
            ? try SystemLanguageModel.Adapter(fileURL: URL(filePath: words[2])) : nil
        let model = SystemLanguageModel(model: URL(filePath: words[1]), adapter: adapter)
        var session = LanguageModelSession(
            model: model, tools: [Clock()], instructions: "You are a friendly assistant.")
        session.prewarm()
        while true {
            print("> ", terminator: "")
            guard let line = readLine(), !line.isEmpty else { return }
            do {
                try await answer(line, in: session)
            } catch LanguageModelSession.GenerationError.exceededContextWindowSize {
                // Half of the window stays for what comes.
                let rest = try await session.transcript.trimmed(to: model.contextSize / 2) {
                    try await model.tokenCount(for: [$0])
                }
                print("(the oldest turns were left behind)")
                session = LanguageModelSession(model: model, tools: [Clock()], transcript: rest)
                try await answer(line, in: session)
            }
        }
    }

    /// Prints a reply while it is written.
    static func answer(_ prompt: String, in session: LanguageModelSession) async throws {
        let options = GenerationOptions(temperature: 0.4, maximumResponseTokens: 200)
        var shown = 0
        for try await snapshot in session.streamResponse(to: prompt, options: options) {
            print(
                String(decoding: snapshot.content.utf8.dropFirst(shown), as: UTF8.self),
                terminator: "")
            fflush(nil)
            shown = snapshot.content.utf8.count
        }
        print()
    }
}
