import SkeinBasics
import SkeinGrammar
import SkeinInference
import SkeinModels
import SkeinText

/// Errors of the rooms below as sessions tell them.
enum SessionFailure {
    private typealias GenerationError = LanguageModelSession.GenerationError

    /// Calls `body` and tells its errors as a session does.
    nonisolated(nonsending)
        static func wrapping<Value>(
            _ body: nonisolated(nonsending) () async throws -> Value
        ) async throws -> Value
    {
        do {
            return try await body()
        } catch {
            throw told(error)
        }
    }

    /// An error as a session tells it. Errors of its own, of tools, schemas and adapters, and
    /// cancellations stay as they are.
    static func told(_ error: any Error) -> any Error {
        let text = ErrorText.of(error)
        switch error {
        case ReplyFailure.promptTooLong(let count, let limit),
            ReplyFailure.textTooLong(let count, let limit):
            return GenerationError.exceededContextWindowSize(
                .init(debugDescription: text, limit: limit, count: count))
        case ReplyFailure.rateLimited(let waiting, let limit):
            return GenerationError.rateLimited(
                .init(
                    debugDescription: text, limit: limit, count: waiting,
                    retryAfter: .seconds(SessionLimits.retryAfterSeconds)))
        case ReplyFailure.countsFull(let limit):
            return GenerationError.rateLimited(
                .init(
                    debugDescription: text, limit: limit, count: limit,
                    retryAfter: .seconds(SessionLimits.retryAfterSeconds)))
        case GrammarError.full: return full("schemas", raise: "schemaBytes")
        case AdapterMemoryError.full: return full("adapters", raise: "adapterBytes")
        case AdapterError.otherBase, AdapterError.otherModel:
            return SystemLanguageModel.Adapter.AssetError.compatibleAdapterNotFound(
                .init(debugDescription: text))
        case let error as AdapterError:
            return SystemLanguageModel.Adapter.AssetError.invalidAsset(.init(error))
        case let error as GrammarError:
            return told(error, text)
        case let problem as ToolProblem:
            if case .doesNotFit = problem.flaw { return tooLong(text) }
            return GenerationError.unsupportedGuide(.init(debugDescription: text))
        case is GenerationError, is LanguageModelSession.ToolCallError, is OptionsError,
            is GenerationSchema.SchemaError, is TranscriptError, is ToolError,
            is SystemLanguageModel.Adapter.AssetError, is GeneratedContentError,
            is SafetyLogError,
            is CancellationError:
            return error
        case let error as any Explained:
            return GenerationError.assetsUnavailable(
                .init(debugDescription: ErrorText.of(error)))
        default: return error
        }
    }

    private static func tooLong(_ text: String) -> GenerationError {
        .exceededContextWindowSize(.init(debugDescription: text))
    }

    /// What requests under way use takes all room for it.
    private static func full(_ parts: String, raise name: String) -> GenerationError {
        .rateLimited(
            .init(
                debugDescription: "the \(parts) of requests under way take all room for \(parts): "
                    + "try again in a second, or raise \(name) in SystemLanguageModel.Resources",
                limit: nil, retryAfter: .seconds(SessionLimits.retryAfterSeconds)))
    }

    private static func told(_ error: GrammarError, _ text: String) -> any Error {
        switch error {
        case .doesNotFit(let needed, let limit):
            return GenerationError.exceededContextWindowSize(
                .init(debugDescription: text, limit: limit, count: needed))
        case .cancelled: return CancellationError()
        default: return GenerationError.unsupportedGuide(.init(debugDescription: text))
        }
    }

    /// A reply as a value.
    ///
    /// - Throws: `GenerationError.decodingFailure`, if it is none.
    static func converting<Value: ConvertibleFromGeneratedContent>(
        _ content: GeneratedContent, to type: Value.Type = Value.self
    ) throws -> Value {
        do {
            return try Value(content)
        } catch {
            throw GenerationError.decodingFailure(
                .init(
                    debugDescription: "\(ErrorText.of(error)), in \(content.jsonString.prefix(500))"
                ))
        }
    }

    /// An unfinished reply as a value; nil if none can be made of it yet.
    static func convertingSoFar<Value: ConvertibleFromGeneratedContent>(
        _ content: GeneratedContent, to type: Value.Type = Value.self
    ) throws -> Value? {
        do {
            return try content.valueSoFar(Value.self)
        } catch {
            throw GenerationError.decodingFailure(
                .init(
                    debugDescription: "\(ErrorText.of(error)), in \(content.jsonString.prefix(500))"
                ))
        }
    }
}
