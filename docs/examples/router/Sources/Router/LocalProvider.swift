import Foundation
import FoundationModels
import Routing

/// A model in this process. Its prefix cache is the model's: a turn does not pay for those before it.
struct LocalProvider: Provider {
    let name: String
    let isLocal = true
    let model: SystemLanguageModel
    /// Paths of the model and its adapter.
    let identity: String

    var window: Int { model.contextSize }

    func hindrance() async -> String? {
        switch model.availability {
        // What is being loaded can be asked: the request waits for it.
        case .available, .unavailable(.modelNotReady): nil
        case .unavailable(.deviceNotEligible): "this machine has too little memory for it"
        case .unavailable(.appleIntelligenceNotEnabled): "no model is configured"
        }
    }

    func tokenCount(of messages: [Message]) async throws -> Int {
        do {
            return try await model.tokenCount(for: Self.entries(messages))
        } catch {
            throw Self.failure(error)
        }
    }

    func answer(
        to messages: [Message], tokens: Int
    ) -> AsyncThrowingStream<String, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let session = LanguageModelSession(
                        model: model,
                        transcript: Transcript(entries: Self.entries(messages.dropLast())))
                    let options = GenerationOptions(maximumResponseTokens: tokens)
                    var known = 0
                    for try await snapshot in session.streamResponse(
                        to: messages.last?.text ?? "", options: options)
                    {
                        // Snapshots only grow, and by whole characters of UTF-8.
                        let text = snapshot.content.utf8
                        continuation.yield(String(decoding: text.dropFirst(known), as: UTF8.self))
                        known = text.count
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: Self.failure(error))
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private static func entries(_ messages: some Sequence<Message>) -> [Transcript.Entry] {
        messages.map { message in
            let segments = [Transcript.Segment.text(.init(content: message.text))]
            return switch message.role {
            case .system: .instructions(.init(segments: segments, toolDefinitions: []))
            case .user: .prompt(.init(segments: segments))
            case .assistant: .response(.init(assetIDs: [], segments: segments))
            }
        }
    }

    private static func failure(_ error: any Error) -> any Error {
        switch error {
        case LanguageModelSession.GenerationError.guardrailViolation(let context):
            ProviderFailure.refused(context.debugDescription)
        case LanguageModelSession.GenerationError.refusal(_, let context):
            ProviderFailure.refused(context.debugDescription)
        case LanguageModelSession.GenerationError.assetsUnavailable(let context):
            ProviderFailure.unavailable(context.debugDescription)
        case LanguageModelSession.GenerationError.rateLimited(let context):
            ProviderFailure.unavailable(context.debugDescription)
        default: ProviderFailure(error)
        }
    }
}
