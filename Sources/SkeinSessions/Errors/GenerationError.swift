import Foundation
import SkeinBasics

extension LanguageModelSession {
    /// Why a request has no answer.
    ///
    /// A failed request leaves the transcript as it was, so the session can be asked again: after
    /// `rateLimited` later, after `concurrentRequests` once the other request is done.
    /// `exceededContextWindowSize` needs a shorter conversation or a shorter answer.
    public enum GenerationError: Error, Sendable {
        /// Instructions, tools, prompts and answers of the session take more tokens than the window
        /// has, or an answer had to end before it was complete.
        case exceededContextWindowSize(Context)
        /// Files of the model or of its adapter are missing or cannot be used.
        case assetsUnavailable(Context)
        /// A check of `SystemLanguageModel.Guardrails` failed on the prompt or on the answer.
        case guardrailViolation(Context)
        /// A guide of the asked-for type, mostly its pattern, cannot be enforced.
        case unsupportedGuide(Context)
        /// The language of the prompt, or the one asked for, is not supported.
        case unsupportedLanguageOrLocale(Context)
        /// The model's output could not be turned into the asked-for type.
        case decodingFailure(Context)
        /// Too many requests are waiting.
        case rateLimited(Context)
        /// The session is still busy with a request, which goes on undisturbed.
        case concurrentRequests(Context)
        /// The model, or a check, declined to generate the asked-for type.
        case refusal(Refusal, Context)

        /// The facts behind an error, for logs and to decide what to do next.
        public struct Context: Sendable, Equatable {
            /// What happened, for a log; not meant for the people who use a program.
            public let debugDescription: String
            /// What was allowed: tokens of a window, waiting requests. An addition of this library.
            public let limit: Int?
            /// How many of them there were or would have been. An addition of this library.
            public let count: Int?
            /// When another try may succeed. An addition of this library.
            public let retryAfter: Duration?

            /// - Parameter debugDescription: what happened.
            public init(debugDescription: String) {
                self.init(debugDescription: debugDescription, limit: nil)
            }

            /// - Parameters:
            ///   - debugDescription: what happened.
            ///   - limit: what was allowed.
            ///   - count: how many there were or would have been.
            ///   - retryAfter: when another try may succeed.
            public init(
                debugDescription: String, limit: Int?, count: Int? = nil,
                retryAfter: Duration? = nil
            ) {
                self.debugDescription = debugDescription
                self.limit = limit
                self.count = count
                self.retryAfter = retryAfter
            }
        }

        /// A refusal to generate a type. Ask for its explanation to learn why; that takes a
        /// request.
        public struct Refusal: Sendable {
            /// The entries that led to the refusal, its own last.
            package let transcriptEntries: [Transcript.Entry]
            /// The reason, where it is known already: from a check, or from the model's own words.
            package let reason: String?

            /// - Parameter transcriptEntries: the entries that led to the refusal, its own last.
            public init(transcriptEntries: [Transcript.Entry]) {
                self.init(transcriptEntries: transcriptEntries, reason: nil)
            }

            package init(transcriptEntries: [Transcript.Entry], reason: String?) {
                self.transcriptEntries = transcriptEntries
                self.reason = reason
            }
        }
    }
}

extension LanguageModelSession.GenerationError {
    /// The facts behind the error, whatever its case.
    package var context: Context {
        switch self {
        case .exceededContextWindowSize(let context), .assetsUnavailable(let context),
            .guardrailViolation(let context), .unsupportedGuide(let context),
            .unsupportedLanguageOrLocale(let context), .decodingFailure(let context),
            .rateLimited(let context), .concurrentRequests(let context),
            .refusal(_, let context):
            context
        }
    }
}

extension LanguageModelSession.GenerationError.Refusal {
    /// Why there is no reply, as a text for people: the words of the check or the model that refused.
    public var explanation: LanguageModelSession.Response<String> {
        get async throws { LanguageModelSession.Response(turn, text) }
    }

    /// The same as a stream.
    public var explanationStream: LanguageModelSession.ResponseStream<String> {
        let feed = StreamFeed()
        feed.finish(.success(turn))
        return LanguageModelSession.ResponseStream(
            handle: StreamHandle(feed, nil, SessionRequest()))
    }

    private var text: String {
        if let reason { return reason }
        for entry in transcriptEntries.reversed() {
            if case .response(let response) = entry {
                return TranscriptConversation.text(response.segments)
            }
        }
        return "This request was declined."
    }

    private var turn: SessionTurn {
        SessionTurn(
            content: GeneratedContent(text), entries: transcriptEntries[...],
            usage: LanguageModelSession.Usage(), wasClosedEarly: false)
    }
}
