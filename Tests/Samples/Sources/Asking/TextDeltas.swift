import FoundationModels
import SampleRunner

/// Kind 30: snapshots turned into what is new in each.
enum TextDeltas {
    static func deltas(
        of prompt: String, from session: LanguageModelSession, options: GenerationOptions
    ) -> AsyncThrowingStream<String, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    var known = ""
                    let stream = session.streamResponse(to: prompt, options: options)
                    for try await snapshot in stream {
                        let text = snapshot.content
                        guard text.count > known.count else { continue }
                        continuation.yield(String(text.dropFirst(known.count)))
                        known = text
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    static func run() async throws {
        let options = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 24)
        let prompt = "Tell me about the tide."
        let whole = try await LanguageModelSession().respond(to: prompt, options: options).content
        var pieces: [String] = []
        let session = LanguageModelSession()
        for try await piece in deltas(of: prompt, from: session, options: options) {
            pieces.append(piece)
        }
        print(pieces.joined(separator: "|"))
        try expect(pieces.joined() == whole, "the pieces make the whole text")
        try expect(!session.isResponding, "the request has ended")
    }
}
