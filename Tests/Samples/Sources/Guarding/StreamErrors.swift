import FoundationModels
import SampleRunner

/// Kind 31: each error of a stream by its case.
enum StreamErrors {
    /// What a person is shown.
    static func text(of prompt: String, from session: LanguageModelSession) async -> String {
        var text = ""
        do {
            let stream = session.streamResponse(
                to: prompt, options: GenerationOptions(maximumResponseTokens: 16))
            for try await snapshot in stream { text = snapshot.content }
            return text
        } catch let error as LanguageModelSession.GenerationError {
            switch error {
            case .rateLimited(let context):
                return "Busy, please wait: \(context.debugDescription)"
            case .exceededContextWindowSize:
                return "That is too long for one talk."
            case .guardrailViolation:
                return "Let us talk about something else."
            default:
                return "No answer: \(error.localizedDescription)"
            }
        } catch {
            return "Something else went wrong: \(error)"
        }
    }

    static func run() async throws {
        print(await text(of: "Name a flower.", from: LanguageModelSession()))
        let long = String(repeating: "one more sheep, ", count: 6000)
        let tooLong = await text(of: long, from: LanguageModelSession())
        print(tooLong)
        try expect(tooLong == "That is too long for one talk.", "the window has an end")
        let guarded = LanguageModelSession(
            model: SystemLanguageModel(guardrails: .init(checks: [try DenyList(["toadstool"])])))
        let refused = await text(of: "Cook a toadstool.", from: guarded)
        print(refused)
        try expect(refused == "Let us talk about something else.", "the list is looked at")

        // A second request while one runs.
        let session = LanguageModelSession()
        let first = session.streamResponse(
            to: "Tell me a long tale.", options: GenerationOptions(maximumResponseTokens: 100))
        let second = await text(of: "Count to five.", from: session)
        print(second)
        try expect(second.hasPrefix("No answer: "), "one request at a time")
        print(try await first.collect().content)
    }
}
