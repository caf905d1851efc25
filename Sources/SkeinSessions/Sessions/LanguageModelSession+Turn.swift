import Foundation
import SkeinInference
import SkeinModels
import Synchronization

extension LanguageModelSession {
    /// What a request asks for.
    struct Ask: Sendable {
        enum Form: Sendable {
            case text
            /// `name`: of the type.
            case structure(GenerationSchema, name: String)
        }

        var prompt: Prompt
        var form: Form
        var includesSchema = true
        var options: GenerationOptions
        /// Throws if the reply is no value of the asked-for type.
        var accepts: @Sendable (GeneratedContent) throws -> Void = { _ in }

        var isText: Bool {
            if case .text = form { true } else { false }
        }
    }

    /// Answers the running request, and ends it.
    ///
    /// - Parameters:
    ///   - ask: what is asked.
    ///   - tell: called with each snapshot; nil: no snapshot is wanted.
    /// - Returns: the reply and what the transcript gained.
    /// - Throws: as `respond`. After an error the transcript is what it was before the request; after a
    ///   cancellation it has the prompt, too.
    nonisolated(nonsending)
        func turn(
            _ ask: Ask, tell: (@Sendable (GeneratedContent) -> Void)? = nil
        ) async throws -> SessionTurn
    {
        defer { end() }
        let before = state.withLock { $0.transcript.count }
        do {
            try ask.options.check()
            if model.useCase == .contentTagging, ask.isText {
                return try await tags(ask)
            }
            var turn = RequestTurn(self, ask, tools: try tools.get(), tell: tell)
            return try await turn.run()
        } catch {
            // A cancellation of something else, such as a check's own request, is an error like others.
            let isCancelled = Task.isCancelled
            change(\.transcript) { $0.transcript.cut(to: isCancelled ? before + 1 : before) }
            throw isCancelled ? CancellationError() : SessionFailure.told(error)
        }
    }

    /// Answers a request for text with tags, as JSON text. It is shown when it is complete: the text of an
    /// unfinished list does not only grow.
    private nonisolated(nonsending) func tags(_ ask: Ask) async throws -> SessionTurn {
        var asked = ask
        asked.form = .structure(ContentTags.generationSchema, name: "ContentTags")
        // A text that reaches its cap is cut there and is no error.
        asked.options.closesAtLimit = true
        var turn = RequestTurn(self, asked, tools: try tools.get(), tell: nil)
        turn.asksText = true
        var tags = try await turn.run()
        tags.content = GeneratedContent(Self.text(of: tags.content))
        return tags
    }
}
