import Foundation
import FoundationModels
import Testing

// Kind 57: what a program of one's own tests of its use of a model.

/// What a program shows; nil: there is no model, and it does without.
struct Greeter {
    var isAvailable: Bool

    func greeting(for name: String, ask: (String) async throws -> String) async -> String {
        guard isAvailable else { return "Welcome, \(name)." }
        do {
            return try await ask("Greet \(name) in three words.")
        } catch {
            return "Welcome, \(name)."
        }
    }
}

@Suite("What a program does without a model")
struct FallbackTests {
    @Test("The model is not asked where there is none")
    func fallback() async {
        let text = await Greeter(isAvailable: false).greeting(for: "Ola") { _ in
            Issue.record("a model was asked")
            return ""
        }
        #expect(text == "Welcome, Ola.")
    }

    @Test("An error leads to the same text", arguments: [1, 2])
    func errors(number: Int) async {
        let text = await Greeter(isAvailable: true).greeting(for: "Ola") { _ in
            let context = LanguageModelSession.GenerationError.Context(debugDescription: "busy")
            throw number == 1
                ? LanguageModelSession.GenerationError.rateLimited(context)
                : LanguageModelSession.GenerationError.guardrailViolation(context)
        }
        #expect(text == "Welcome, Ola.")
    }

    @Test("Availability is a value that can be compared")
    func availability() {
        let ready = SystemLanguageModel.Availability.available
        #expect(ready != .unavailable(.modelNotReady))
        #expect(
            SystemLanguageModel.Availability.unavailable(.modelNotReady)
                != .unavailable(.deviceNotEligible))
    }
}
