import FoundationModels
import SampleRunner

/// Kinds 27 and 29: text that is shown while it is written.
@MainActor
final class TextStreams {
    private var label = ""
    private var summary: String?

    func fill(_ text: String) async throws {
        let session = LanguageModelSession(instructions: "Summarise the text.")
        let stream = session.streamResponse(
            to: text, options: GenerationOptions(maximumResponseTokens: 24))
        for try await snapshot in stream {
            label = snapshot.content
        }
        summary = label
    }

    static func run() async throws {
        let view = TextStreams()
        try await view.fill("The mill was built in 1712. It has ground no corn since 1930.")
        print(view.label)
        try expect(view.summary == view.label, "the last snapshot is all of it")

        let options = GenerationOptions(maximumResponseTokens: 16)
        let session = LanguageModelSession()
        // Kind 29: the end alone.
        let whole = try await session.streamResponse(to: "Name a tree.", options: options).collect()
        print(whole.content)

        // Kind 29: all snapshots, and then the end.
        let stream = session.streamResponse(options: options) {
            "Name another tree."
        }
        var last = ""
        for try await snapshot in stream {
            try expect(snapshot.content.hasPrefix(last), "snapshots only grow")
            last = snapshot.content
        }
        let response = try await stream.collect()
        try expect(response.content == last, "the end is the last snapshot")
        print(response.content)
    }
}
