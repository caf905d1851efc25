import Foundation
import SkeinAnswers
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

    /// Answers a request that has begun, and ends it.
    ///
    /// - Parameters:
    ///   - ask: what is asked.
    ///   - tell: called with each snapshot; nil: nobody looks.
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
            var turn = Turn(self, ask, tools: try tools.get(), tell: tell)
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
        var turn = Turn(self, asked, tools: try tools.get(), tell: nil)
        turn.asksText = true
        var tags = try await turn.run()
        tags.content = GeneratedContent(Self.text(of: tags.content))
        return tags
    }

    /// A request while it is answered.
    private struct Turn {
        let session: LanguageModelSession
        let ask: Ask
        let tools: SessionTools
        let tell: (@Sendable (GeneratedContent) -> Void)?
        let began = ContinuousClock.now
        /// Of the reply, in all its snapshots.
        let id = GenerationID()
        var usage = Usage()
        /// Whether a text is asked for, whatever the form of the reply.
        var asksText: Bool
        /// What was said before tools were called: snapshots and the reply begin with it.
        var saidBefore = ""
        /// What a check stopped, and whether somebody has seen a part of it.
        var stopped = (text: "", isTold: false)
        var guardrails: SystemLanguageModel.Guardrails { session.model.guardrails }

        init(
            _ session: LanguageModelSession, _ ask: Ask, tools: SessionTools,
            tell: (@Sendable (GeneratedContent) -> Void)?
        ) {
            self.session = session
            self.ask = ask
            self.tools = tools
            self.tell = tell
            asksText = ask.isText
        }

        nonisolated(nonsending) mutating func run() async throws -> SessionTurn {
            let start = session.state.withLock { $0.transcript.count }
            var prompt = Transcript.Prompt(
                segments: [.text(.init(content: ask.prompt.text))], options: ask.options)
            if case .structure(let schema, let name) = ask.form {
                _ = try schema.jsonText()
                if ask.includesSchema { prompt.responseFormat = .init(name: name, schema: schema) }
            }
            append(.prompt(prompt))
            do {
                if let finding = try await guardrails.finding(
                    in: ask.prompt.text, on: .input, isGuided: !asksText)
                {
                    throw GuardrailStop(finding)
                }
                try await checkLocale()
                let turn = try await answer(from: start)
                try await log(response: LanguageModelSession.text(of: turn.content), fired: [])
                return turn
            } catch let stop as GuardrailStop {
                return try await declined(stop, from: start)
            } catch let error as SafetyLogError {
                throw error
            } catch {
                try await log(response: stopped.text.isEmpty ? nil : stopped.text, fired: [])
                throw error
            }
        }

        /// Asks the model until it has answered; tools run in between.
        nonisolated(nonsending)
            private mutating func answer(from start: Int) async throws -> SessionTurn
        {
            let source = try await session.model.source()
            var sampler = ask.options.sampler
            for round in 0..<SessionLimits.toolRounds {
                switch try await reply(source, sampler, choice(round: round)) {
                case .calls(let text, let calls):
                    if !text.allSatisfy(\.isWhitespace) { append(response(text: text)) }
                    saidBefore += text
                    append(.toolCalls(.init(calls.map(\.entry))))
                    try await check(calls)
                    for output in try await ToolRound.outputs(of: calls) {
                        append(.toolOutput(output))
                    }
                    // Another seed for another reply: the same one would repeat itself.
                    sampler.seed &+= 1
                case .reply(let content, let isClosedEarly):
                    try ask.accepts(content)
                    append(response(content))
                    return finish(whole(content), from: start, isClosedEarly)
                }
            }
            throw GenerationError.decodingFailure(
                .init(
                    debugDescription:
                        "the model called tools \(SessionLimits.toolRounds) times and "
                        + "gave no answer: say in the instructions when to call them, or set "
                        + "toolCallingMode to disallowed", limit: SessionLimits.toolRounds,
                    count: SessionLimits.toolRounds))
        }

        /// What the model wrote for tools is looked at before they see it.
        private nonisolated(nonsending) func check(_ calls: [ToolRound.Call]) async throws {
            for call in calls {
                var escapes = EscapeReader()
                let text = escapes.read(call.entry.arguments.jsonString)
                if let finding = try await guardrails.finding(
                    in: text, on: .output, isGuided: !asksText)
                {
                    throw GuardrailStop(finding)
                }
            }
        }

        /// The reply with what was said before tools were called.
        private func whole(_ content: GeneratedContent) -> GeneratedContent {
            guard !saidBefore.isEmpty, case .text = ask.form else { return content }
            var whole = GeneratedContent(
                saidBefore + LanguageModelSession.text(of: content))
            whole.id = content.id
            return whole
        }

        /// What becomes of a request that a check does not let pass.
        ///
        /// - Returns: the explanation as the answer, where the check declines and the answer is text.
        /// - Throws: `GenerationError.guardrailViolation`, `.refusal`.
        private nonisolated(nonsending) mutating func declined(
            _ stop: GuardrailStop, from start: Int
        ) async throws -> SessionTurn {
            try await log(
                response: stopped.text.isEmpty ? nil : stopped.text, fired: [stop.text])
            // An explanation cannot take the place of what was seen already: snapshots only grow.
            guard case .refusal(let explanation) = stop.finding.verdict, !stopped.isTold else {
                throw GenerationError.guardrailViolation(.init(debugDescription: stop.text))
            }
            session.change(\.transcript) { $0.transcript.cut(to: start + 1) }
            let entry = response(text: explanation)
            if !asksText {
                let entries = Array(session.state.withLock { $0.transcript }) + [entry]
                throw GenerationError.refusal(
                    .init(transcriptEntries: entries, reason: explanation),
                    .init(debugDescription: stop.text))
            }
            append(entry)
            return finish(GeneratedContent(explanation), from: start, false)
        }

        private nonisolated(nonsending)
            func log(response: String?, fired: [String]) async throws
        {
            guard let log = guardrails.log else { return }
            let line = SafetyLog.Line(
                time: .now, prompt: ask.prompt.text, response: response, fired: fired)
            try await Aside.run { try log.append(line) }
        }

        private func append(_ entry: Transcript.Entry) {
            session.change(\.transcript) { $0.transcript.append(entry) }
        }

        private mutating func finish(
            _ content: GeneratedContent, from start: Int, _ isClosedEarly: Bool
        ) -> SessionTurn {
            usage.metadata.duration = ContinuousClock.now - began
            let usage = usage
            session.change(\.usage) { $0.usage.add(usage) }
            let transcript = session.state.withLock { $0.transcript }
            return SessionTurn(
                content: content, entries: Array(transcript)[start...], usage: usage,
                wasClosedEarly: isClosedEarly)
        }

        private func response(text: String) -> Transcript.Entry {
            .response(
                .init(assetIDs: session.model.assetIDs, segments: [.text(.init(content: text))]))
        }

        private func response(_ content: GeneratedContent) -> Transcript.Entry {
            guard case .structure(_, let name) = ask.form else {
                if case .string(let text) = content.kind { return response(text: text) }
                return response(text: content.jsonString)
            }
            return .response(
                .init(
                    assetIDs: session.model.assetIDs,
                    segments: [.structure(.init(source: name, content: content))]))
        }

        private func choice(round: Int) -> ToolChoice {
            // In the last round there is nothing left but to answer.
            if tools.isEmpty || round == SessionLimits.toolRounds - 1 { return .none }
            return switch ask.options.toolCallingMode {
            case .disallowed: .none
            case .required where round == 0: .required
            default: .auto
            }
        }

        /// Instructions that begin with a locale's name ask for its language.
        private nonisolated(nonsending) func checkLocale() async throws {
            guard
                case .instructions(let instructions)? = session.state.withLock({
                    $0.transcript.first
                })
            else { return }
            let text = TranscriptConversation.text(instructions.segments)
            guard let locale = LocalePhrase.locale(in: text) else { return }
            let model = session.model
            // A model whose files name no language may know any.
            guard try await Aside.run({ model.namesNoLanguage || model.supportsLocale(locale) })
            else {
                throw GenerationError.unsupportedLanguageOrLocale(
                    .init(
                        debugDescription:
                            "the instructions ask for the locale \(locale.identifier), "
                            + "whose language the model's files do not name: leave the sentence out, "
                            + "or use another model"))
            }
        }

        // MARK: One reply

        private enum Outcome {
            case calls(said: String, [ToolRound.Call])
            case reply(GeneratedContent, isClosedEarly: Bool)
        }

        /// One reply of the model: an answer, or calls.
        nonisolated(nonsending)
            private mutating func reply(
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
            for try await update in source.reply(to: request) {
                note(update)
                do {
                    try await reading.take(update)
                } catch {
                    stopped = (reading.text, reading.isTold || !saidBefore.isEmpty && tell != nil)
                    throw error
                }
            }
            return try outcome(reading, room: source.contextSize)
        }

        /// A structure and calls of tools exclude each other in one reply: so the model is asked for calls
        /// first, and as soon as it says anything else for the structure. What it read stays in the prefix
        /// cache.
        ///
        /// - Returns: nil if it does not begin with a call.
        nonisolated(nonsending)
            private mutating func calls(
                _ source: any ReplySource, _ request: ReplyRequest, isRequired: Bool
            ) async throws -> Outcome?
        {
            var reading = ReplyReading(
                .text, id: id, before: "", guardrails: try await growing(), tell: nil)
            for try await update in source.reply(to: request) {
                if case .text(let text) = update, !isRequired,
                    !text.allSatisfy(\.isWhitespace), reading.calls.isEmpty
                {
                    return nil
                }
                note(update)
                do {
                    try await reading.take(update)
                } catch {
                    stopped = (reading.text, false)
                    throw error
                }
            }
            return reading.calls.isEmpty ? nil : try outcome(reading, room: source.contextSize)
        }

        /// Checks that look at what is said, after what was said before: a term may span both.
        private nonisolated(nonsending) func growing() async throws -> GrowingGuardrails {
            var growing = guardrails.growing(on: .output, isGuided: !asksText)
            if !saidBefore.isEmpty, let finding = try await growing.add(saidBefore) {
                throw GuardrailStop(finding)
            }
            return growing
        }

        private mutating func note(_ update: ReplyUpdate) {
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

        private func outcome(_ reading: ReplyReading, room: Int) throws -> Outcome {
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
}
