import Foundation
import Observation
import Synchronization

/// A conversation with a model: it remembers what was said, calls tools, and answers one request at a
/// time.
///
/// ```swift
/// let session = LanguageModelSession(instructions: "You are a helpful cook.")
/// let first = try await session.respond(to: "What goes with rhubarb?")
/// print(first.content)
/// print(try await session.respond(to: "And to drink?").content)
/// ```
///
/// Any task may ask, of any actor. Sessions of one model take turns token by token; the work is done on
/// the model's own threads.
public final class LanguageModelSession: Sendable, Observable {
    struct State {
        var transcript: Transcript
        /// What is being answered.
        var running: SessionRequest?
        /// What waits for the end of the running one, which was cancelled.
        var next: WaitingRequest?
        var usage = Usage()
        /// How long a request waits for the end of a cancelled one.
        var patience = Duration.seconds(SessionLimits.cancelledSeconds)
        /// Reads the next prompt's beginning.
        var warming: Task<Void, Never>?
    }

    let model: SystemLanguageModel
    let tools: Result<SessionTools, any Error>
    let state: Mutex<State>
    let registrar = ObservationRegistrar()
    /// Why no request can be answered: tools of one name, a transcript that cannot go on.
    let flaw: (any Error)?

    private init(
        model: SystemLanguageModel, tools: [any Tool], transcript: Transcript, flaw: (any Error)?
    ) {
        self.model = model
        let named = Result { try SessionTools(tools) }
        self.tools = named
        var problem = flaw
        if case .failure(let error) = named { problem = problem ?? SessionFailure.told(error) }
        self.flaw = problem
        state = Mutex(State(transcript: transcript))
    }

    private convenience init(
        model: SystemLanguageModel, tools: [any Tool], text: String?
    ) {
        let definitions = tools.presented
        var entries: [Transcript.Entry] = []
        if text != nil || !definitions.isEmpty {
            let segments = text.map { [Transcript.Segment.text(.init(content: $0))] } ?? []
            entries.append(
                .instructions(.init(segments: segments, toolDefinitions: definitions)))
        }
        self.init(
            model: model, tools: tools, transcript: Transcript(entries: entries), flaw: nil)
    }

    /// A new conversation.
    ///
    /// - Parameters:
    ///   - model: that answers.
    ///   - tools: that it may call. Two of one name, or one whose arguments are no structure, make each
    ///     request throw a `ToolError`.
    ///   - instructions: what the model is told first. They outrank prompts, so let them hold no text
    ///     of people you do not trust.
    @_disfavoredOverload
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [], instructions: String? = nil
    ) {
        self.init(model: model, tools: tools, text: instructions)
    }

    /// A new conversation.
    ///
    /// - Parameters:
    ///   - model: that answers.
    ///   - tools: that it may call.
    ///   - instructions: what the model is told first.
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [],
        instructions: Instructions? = nil
    ) {
        self.init(model: model, tools: tools, text: instructions?.text)
    }

    /// A new conversation.
    ///
    /// - Parameters:
    ///   - model: that answers.
    ///   - tools: that it may call.
    ///   - instructions: lists what the model is told first.
    /// - Throws: what `instructions` throws.
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [],
        @InstructionsBuilder instructions: () throws -> Instructions
    ) rethrows {
        self.init(model: model, tools: tools, text: try instructions().text)
    }

    /// A conversation that goes on where another one ended.
    ///
    /// - Parameters:
    ///   - model: that answers.
    ///   - tools: that it may call; the definitions in the transcript's instructions become theirs. One
    ///     whose `includesSchemaInInstructions` is false is listed there if it was before.
    ///   - transcript: of the other one. One that ends in a call without an output, or otherwise makes
    ///     no sense, makes each request throw a `TranscriptError`.
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [], transcript: Transcript
    ) {
        var flaw: (any Error)?
        do {
            try transcript.check()
        } catch {
            flaw = error
        }
        self.init(
            model: model, tools: tools, transcript: transcript.presenting(tools), flaw: flaw)
    }

    /// A new conversation, as older code spells it: guardrails are the model's.
    ///
    /// - Parameters:
    ///   - model: that answers.
    ///   - guardrails: what is checked.
    ///   - tools: that it may call.
    ///   - instructions: what the model is told first.
    @available(*, deprecated, message: "give the guardrails to the model")
    public convenience init(
        model: SystemLanguageModel = .default, guardrails: SystemLanguageModel.Guardrails,
        tools: [any Tool] = [], instructions: String? = nil
    ) {
        self.init(model: model.with(guardrails), tools: tools, text: instructions)
    }

    // MARK: What can be seen

    /// Whether a request is under way: from its start to its end, errors and cancellation included.
    public var isResponding: Bool {
        registrar.access(self, keyPath: \.isResponding)
        return state.withLock { $0.running != nil }
    }

    /// All that was said so far.
    public var transcript: Transcript {
        registrar.access(self, keyPath: \.transcript)
        return state.withLock { $0.transcript }
    }

    /// Tokens of all requests of this session that were answered.
    public var usage: Usage {
        registrar.access(self, keyPath: \.usage)
        return state.withLock { $0.usage }
    }

    func change<Member>(
        _ keyPath: KeyPath<LanguageModelSession, Member>, _ body: (inout State) -> Void
    ) {
        registrar.withMutation(of: self, keyPath: keyPath) { state.withLock { body(&$0) } }
    }

    // MARK: Getting ready

    /// Loads the model, compiles the tools' schemas and reads instructions, tools and the beginning of a
    /// prompt, so that the first request need not.
    ///
    /// Returns at once. An error shows at the next request.
    ///
    /// - Parameter promptPrefix: what the next prompt will begin with.
    public func prewarm(promptPrefix: Prompt? = nil) {
        guard flaw == nil, case .success(let tools) = tools else { return }
        var entries = Array(state.withLock { $0.transcript })
        if let promptPrefix {
            entries.append(
                .prompt(.init(segments: [.text(.init(content: promptPrefix.text))])))
        }
        let (model, ready) = (model, entries)
        let task = Task {
            do {
                try await Self.warm(model, ready, tools)
            } catch {
                // Best effort: the next request meets the same error and throws it.
            }
        }
        let former = state.withLock { state in
            defer { state.warming = task }
            return state.warming
        }
        former?.cancel()
    }

    deinit { state.withLock { $0.warming }?.cancel() }

    private static func warm(
        _ model: SystemLanguageModel, _ entries: [Transcript.Entry], _ tools: SessionTools
    ) async throws {
        let source = try await model.source()
        let conversation = try TranscriptConversation(entries: entries, tools: tools)
        try await source.warm(conversation.value, schemas: [], adapter: model.adapter)
    }
}
