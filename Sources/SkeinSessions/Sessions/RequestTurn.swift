import Foundation
import SkeinInference
import SkeinModels
import SkeinText
import Synchronization

/// A request while it is answered.
struct RequestTurn {
    typealias GenerationError = LanguageModelSession.GenerationError
    typealias Ask = LanguageModelSession.Ask

    let session: LanguageModelSession
    let ask: Ask
    let tools: SessionTools
    let tell: (@Sendable (GeneratedContent) -> Void)?
    let began = ContinuousClock.now
    /// The reply's identifier, in all its snapshots.
    let id = GenerationID()
    var usage = LanguageModelSession.Usage()
    /// Whether a text is asked for, whatever the form of the reply.
    var asksText: Bool
    /// What was said before tools were called: snapshots and the reply begin with it.
    var saidBefore = ""
    /// What a reply had said when it ended without a result, and whether a part of it was told.
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
            try await log(response: said, fired: [])
            throw error
        }
    }

    /// Asks the model until it has answered; tools run in between.
    nonisolated(nonsending)
        mutating func answer(from start: Int) async throws -> SessionTurn
    {
        let source = try await session.model.source()
        var sampler = ask.options.sampler(
            source.sampling, hasAdapter: session.model.adapter != nil)
        for round in 0..<SessionLimits.toolRounds {
            switch try await reply(source, sampler, choice(round: round)) {
            case .calls(let text, let calls):
                if !text.allSatisfy(\.isWhitespace) { append(response(text: text)) }
                saidBefore += text
                // What is said after the calls begins a line of its own.
                if let last = text.last, !last.isWhitespace { saidBefore += "\n" }
                append(.toolCalls(.init(calls.map(\.entry))))
                try await check(calls)
                for output in try await ToolRound.outputs(of: calls) {
                    append(.toolOutput(output))
                }
                // Another seed for another reply: the same one would repeat itself.
                sampler.seed &+= 1
            case .reply(let content, let isClosedEarly):
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
    nonisolated(nonsending) func check(_ calls: [ToolRound.Call]) async throws {
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
    func whole(_ content: GeneratedContent) -> GeneratedContent {
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
    nonisolated(nonsending) mutating func declined(
        _ stop: GuardrailStop, from start: Int
    ) async throws -> SessionTurn {
        try await log(response: said, fired: [stop.text])
        // An explanation cannot take the place of what was seen already: snapshots only grow.
        guard case .refusal(let explanation) = stop.finding.verdict, !isTold else {
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

    /// All that was said so far, for the log; nil: nothing.
    private var said: String? {
        let text = saidBefore + stopped.text
        return text.isEmpty ? nil : text
    }

    /// Whether a part of it has been told.
    private var isTold: Bool { stopped.isTold || (tell != nil && !saidBefore.isEmpty) }

    nonisolated(nonsending)
        func log(response: String?, fired: [String]) async throws
    {
        guard let log = guardrails.log else { return }
        let line = SafetyLog.Line(
            time: .now, prompt: ask.prompt.text, response: response, fired: fired)
        try await Aside.run { try log.append(line) }
    }

    func append(_ entry: Transcript.Entry) {
        session.change(\.transcript) { $0.transcript.append(entry) }
    }

    mutating func finish(
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

    func response(text: String) -> Transcript.Entry {
        .response(
            .init(assetIDs: session.model.assetIDs, segments: [.text(.init(content: text))]))
    }

    func response(_ content: GeneratedContent) -> Transcript.Entry {
        guard case .structure(_, let name) = ask.form else {
            if case .string(let text) = content.kind { return response(text: text) }
            return response(text: content.jsonString)
        }
        return .response(
            .init(
                assetIDs: session.model.assetIDs,
                segments: [.structure(.init(source: name, content: content))]))
    }

    func choice(round: Int) -> ToolChoice {
        // In the last round there is nothing left but to answer.
        if tools.isEmpty || round == SessionLimits.toolRounds - 1 { return .none }
        return switch ask.options.toolCallingMode {
        case .disallowed: .none
        case .required where round == 0: .required
        default: .auto
        }
    }

    /// Instructions that begin with a locale's name ask for its language.
    nonisolated(nonsending) func checkLocale() async throws {
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
}
