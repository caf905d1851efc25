import SkeinInference
import SkeinModels
import SkeinText
import Synchronization

extension RequestTurn {
    enum Outcome {
        case calls(said: String, [ToolRound.Call])
        case reply(GeneratedContent, isClosedEarly: Bool)
    }

    /// One reply of the model: an answer, or calls.
    nonisolated(nonsending)
        mutating func reply(
            _ source: any ReplySource, _ sampler: Sampler, _ choice: ToolChoice
        ) async throws -> Outcome
    {
        let entries = Array(session.state.withLock { $0.transcript })
        let conversation = try TranscriptConversation(
            entries: entries, tools: tools, choice: choice)
        var request = ReplyRequest(
            conversation: conversation.value, form: .text, sampler: sampler,
            maximumTokens: ask.options.maximumResponseTokens, adapter: session.model.adapter)
        if case .structure(let schema, _) = ask.form {
            if choice != .none,
                let calls = try await calls(source, request, isRequired: choice == .required)
            {
                return calls
            }
            request.form = .schema(Array(try schema.jsonText().utf8))
        }
        var reading = ReplyReading(
            request.form, id: id, before: saidBefore, guardrails: try await growing(),
            tell: tell)
        do {
            for try await update in source.reply(to: request) {
                note(update)
                try await reading.take(update)
            }
            let outcome = try outcome(reading, room: source.contextSize)
            if case .reply(let content, _) = outcome { try ask.accepts(content) }
            return outcome
        } catch {
            stopped = (reading.text, reading.isTold)
            throw error
        }
    }

    /// A structure and calls of tools exclude each other in one reply: so the model is asked for calls
    /// first, and as soon as it says anything else for the structure. What it read stays in the prefix
    /// cache.
    ///
    /// - Returns: nil if it does not begin with a call.
    nonisolated(nonsending)
        mutating func calls(
            _ source: any ReplySource, _ request: ReplyRequest, isRequired: Bool
        ) async throws -> Outcome?
    {
        var reading = ReplyReading(
            .text, id: id, before: "", guardrails: try await growing(), tell: nil)
        do {
            for try await update in source.reply(to: request) {
                if case .text(let text) = update, !isRequired,
                    !text.allSatisfy(\.isWhitespace), reading.calls.isEmpty
                {
                    return nil
                }
                note(update)
                try await reading.take(update)
            }
            return reading.calls.isEmpty ? nil : try outcome(reading, room: source.contextSize)
        } catch {
            stopped = (reading.text, false)
            throw error
        }
    }

    /// Checks that look at what is said, after what was said before: a term may span both.
    nonisolated(nonsending) func growing() async throws -> GrowingGuardrails {
        var growing = guardrails.growing(on: .output, isGuided: !asksText)
        if !saidBefore.isEmpty, let finding = try await growing.add(saidBefore) {
            throw GuardrailStop(finding)
        }
        return growing
    }

    mutating func note(_ update: ReplyUpdate) {
        let now = ContinuousClock.now - began
        switch update {
        case .text, .callBegan, .arguments:
            if usage.metadata.timeToFirstToken == nil {
                usage.metadata.timeToFirstToken = now
            }
            usage.metadata.tokenTimes.append(now)
        case .finished(let end): usage.add(end)
        }
    }

    func outcome(_ reading: ReplyReading, room: Int) throws -> Outcome {
        guard let end = reading.end else { throw CancellationError() }
        if !reading.calls.isEmpty {
            return .calls(
                said: reading.text,
                try reading.calls.map { try ToolRound.Call($0, tools) })
        }
        let isWindow = end.tokenLimit < ask.options.maximumResponseTokens ?? .max
        func exceeded(_ what: String) -> GenerationError {
            let total = end.promptTokens + end.replyTokens
            return .exceededContextWindowSize(
                .init(
                    debugDescription: isWindow
                        ? "the prompt has \(end.promptTokens) tokens and the context window "
                            + "\(room): \(what) after \(end.replyTokens) tokens; begin a new "
                            + "session, drop old entries of the transcript, or raise contextSize"
                        : "\(what) after \(end.replyTokens) tokens, which is "
                            + "maximumResponseTokens: raise it, or set closesAtLimit",
                    limit: isWindow ? room : end.tokenLimit,
                    count: isWindow ? total : end.replyTokens))
        }
        switch ask.form {
        case .text:
            if end.isCutShort, isWindow { throw exceeded("the reply was not complete") }
            var content = GeneratedContent(reading.text)
            content.id = id
            return .reply(content, isClosedEarly: false)
        case .structure:
            if end.isCutShort, !ask.options.closesAtLimit {
                throw exceeded("the value was not complete")
            }
            do {
                return .reply(
                    try GeneratedContent(json: reading.text.utf8, id: id, isWhole: true),
                    isClosedEarly: end.isCutShort)
            } catch {
                throw GenerationError.decodingFailure(.init(debugDescription: "\(error)"))
            }
        }
    }
}
