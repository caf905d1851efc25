import FoundationModels
import SampleRunner

/// Kind 34: a service for texts whose callers need not know that there is a model.
final class Polisher: Sendable {
    private let model: SystemLanguageModel

    init(model: SystemLanguageModel = .default) {
        self.model = model
    }

    /// The text, polished; as it was, if that is not possible.
    func polish(_ text: String) async -> String {
        guard !text.allSatisfy(\.isWhitespace), model.isAvailable else { return text }
        let session = LanguageModelSession(
            model: model, instructions: "Correct mistakes and change nothing else.")
        do {
            let response = try await session.respond(
                to: text, options: GenerationOptions(temperature: 0.1, maximumResponseTokens: 16))
            return response.content.isEmpty ? text : response.content
        } catch {
            print("not polished: \(error.localizedDescription)")
            return text
        }
    }
}

enum NeverThrows {
    static func run() async throws {
        let polisher = Polisher()
        try expect(await polisher.polish("  \n") == "  \n", "blank text comes back as it was")
        print(await polisher.polish("We was at the sea."))
        let strict = Polisher(
            model: SystemLanguageModel(guardrails: .init(checks: [try DenyList(["damn"])])))
        let cross = "This damn door squeaks."
        try expect(await strict.polish(cross) == cross, "what fails comes back as it was")
    }
}
