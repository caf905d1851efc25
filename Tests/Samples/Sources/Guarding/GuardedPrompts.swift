import FoundationModels
import SampleRunner

/// Declines questions that a doctor should answer: a check of this library's kind, as it brings none.
struct AskADoctor: GuardrailCheck {
    func check(_ text: String, on stage: GuardrailStage) -> GuardrailVerdict {
        guard stage == .input, text.contains("fever") else { return .pass }
        return .refusal(explanation: "Please ask a doctor about that.")
    }
}

@Generable
struct HomeRemedy {
    @Guide(.anyOf(["tea", "broth", "rest"]))
    var name: String
}

/// Kind 32: a check that stops a request, and a model that declines one.
enum GuardedPrompts {
    static func run() async throws {
        let guardrails = SystemLanguageModel.Guardrails(
            checks: [try DenyList(["poacher"]), AskADoctor()])
        let model = SystemLanguageModel(guardrails: guardrails)
        let options = GenerationOptions(maximumResponseTokens: 16)
        let session = LanguageModelSession(model: model, instructions: "You know the woods.")
        do {
            let response = try await session.respond(
                to: "How does a poacher work?", options: options)
            throw Unexpected("the check let it pass: \(response.content)")
        } catch LanguageModelSession.GenerationError.guardrailViolation(let context) {
            print("Let us talk about something else. (\(context.debugDescription))")
        }
        try expect(session.transcript.count == 1, "the prompt is not kept")
        print(try await session.respond(to: "How does an owl hunt?", options: options).content)

        do {
            let remedy = try await session.respond(
                to: "What helps against fever?", generating: HomeRemedy.self, options: options)
            throw Unexpected("nothing was declined: \(remedy.content)")
        } catch LanguageModelSession.GenerationError.refusal(let refusal, _) {
            let explanation = try await refusal.explanation
            print(explanation.content)
            try expect(explanation.content.contains("doctor"), "it says why")
            for try await snapshot in refusal.explanationStream { print(snapshot.content) }
        }

        // Where text is asked for, the explanation is the answer.
        let plain = try await session.respond(to: "What helps against fever?", options: options)
        print(plain.content)
    }
}
