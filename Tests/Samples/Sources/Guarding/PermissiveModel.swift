import FoundationModels
import SampleRunner

@Generable
enum Tone {
    case friendly
    case rude
}

/// Kind 38: a model for texts of others, whatever stands in them.
enum PermissiveModel {
    static func run() async throws {
        let options = GenerationOptions(maximumResponseTokens: 16)
        let model = SystemLanguageModel(guardrails: .permissiveContentTransformations)
        let session = LanguageModelSession(
            model: model, instructions: "Say politely what the text says.")
        let response = try await session.respond(
            to: "Your goats ate my hat, you villain!", options: options)
        print(response.content)

        // Checks that look at requests for a type alone.
        let checks = SystemLanguageModel.Guardrails(
            checks: [try DenyList(["villain"])], permissiveContentTransformations: true)
        let guarded = SystemLanguageModel(guardrails: checks)
        let text = "You villain!"
        print(
            try await LanguageModelSession(model: guarded).respond(to: text, options: options)
                .content)
        do {
            let tone = try await LanguageModelSession(model: guarded).respond(
                to: text, generating: Tone.self, options: options)
            throw Unexpected("a guided request was not checked: \(tone.content)")
        } catch LanguageModelSession.GenerationError.guardrailViolation {
            print("a guided request keeps its checks")
        } catch LanguageModelSession.GenerationError.refusal(let refusal, _) {
            print(try await refusal.explanation.content)
        }
    }
}
