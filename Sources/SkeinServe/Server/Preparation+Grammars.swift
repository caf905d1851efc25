import SkeinGrammar
import SkeinInference
import SkeinJSON
import SkeinText

/// Grammars of requests: one is looked for first, and only one that must be compiled needs room.
extension Preparation {
    /// Whether a grammar must be made for a chat: it has none that is kept.
    func needsGrammar(_ request: ChatRequest) -> Bool {
        if request.toolChoice != .none, !isKnown(request.tools, request.toolChoice) { return true }
        return needsGrammar(request.form)
    }

    /// Whether a grammar must be made for a form.
    func needsGrammar(_ form: AnswerForm) -> Bool { form != .text && known(form) == nil }

    /// What of the request's schemas an answer is not held to.
    func dropped(_ guide: AnswerGuide, _ form: AnswerForm) -> DroppedParts {
        func parts(_ tools: ToolGuide) -> DroppedParts {
            DroppedParts(places: tools.dropped, count: tools.droppedCount)
        }
        return switch guide {
        case .free: DroppedParts()
        case .value(let matcher): form.dropped(by: matcher.grammar)
        case .tools(let tools): parts(tools)
        case .callsOrValue(let tools, let value): parts(tools) + form.dropped(by: value.grammar)
        }
    }

    private func known(_ form: AnswerForm) -> CompiledGrammar? {
        switch form {
        case .text: nil
        case .schema(let source, let mode, _): grammars.known(schema: source, mode: mode)
        case .expression(let text, _): grammars.known(expression: text)
        }
    }

    /// The grammar of a form, for all answers of a request; nil for any text.
    ///
    /// `isWanted`: whether the client is still there; asked by whatever takes long.
    func grammar(
        _ form: AnswerForm, _ isWanted: @escaping @Sendable () -> Bool
    ) throws(APIError) -> CompiledGrammar? {
        if form == .text { return nil }
        if let known = known(form) { return known }
        try checkGrammarRoom()
        return try form.grammar(grammars, isWanted)
    }

    /// Holds an answer of at most `limit` tokens to a form, whose grammar is given.
    func guide(
        _ form: AnswerForm, _ grammar: CompiledGrammar?, limit: Int,
        _ isWanted: @escaping @Sendable () -> Bool
    ) throws(APIError) -> AnswerGuide {
        guard let grammar else { return .free }
        do throws(GrammarError) {
            return .value(try GrammarMatcher(grammar, limit: limit, isWanted: isWanted))
        } catch {
            throw form.problem(error)
        }
    }

    /// Holds a chat's answer of at most `limit` tokens to its form and to the calls of its tools: with both
    /// it is a call, or else a value.
    func guide(
        _ request: ChatRequest, limit: Int, idSeed: String,
        _ isWanted: @escaping @Sendable () -> Bool
    ) throws(APIError) -> AnswerGuide {
        let choice = request.toolChoice
        guard !request.tools.isEmpty, choice != .none else {
            return try guide(request.form, grammar(request.form, isWanted), limit: limit, isWanted)
        }
        let hasForm = request.form != .text && !choice.isRequired
        let tools = try toolGuide(
            request, beginsWithCalls: hasForm, limit: limit, idSeed: idSeed, isWanted)
        guard hasForm,
            case .value(let value) = try guide(
                request.form, grammar(request.form, isWanted), limit: limit, isWanted)
        else { return .tools(tools) }
        return .callsOrValue(tools, value)
    }

    /// Holds an answer of at most `limit` tokens to the calls of a request's tools.
    private func toolGuide(
        _ request: ChatRequest, beginsWithCalls: Bool, limit: Int, idSeed: String,
        _ isWanted: @escaping @Sendable () -> Bool
    ) throws(APIError) -> ToolGuide {
        if !isKnown(request.tools, request.toolChoice) { try checkGrammarRoom() }
        do {
            return try ToolGuide(
                chat.format, tools: request.tools, choice: request.toolChoice,
                parallel: request.parallelCalls, beginsWithCalls: beginsWithCalls,
                grammars: grammars, tokenizer: tokenizer, limit: limit, idSeed: idSeed,
                isWanted: isWanted)
        } catch {
            throw (error as? ToolProblem).map { APIError($0) } ?? APIError(error)
        }
    }

    /// Whether there is a grammar of these tools as they are. Where some of their schemas cannot be
    /// enforced there is none, though there may be one without those.
    private func isKnown(_ tools: [Tool], _ choice: ToolChoice) -> Bool {
        let callable = tools.filter { choice.allows($0) }
        // Nothing is compiled: the request is refused.
        if callable.isEmpty { return true }
        let schema = ToolGrammar.schema(callable, chat.format.argumentsKey, loose: [])
        return grammars.known(
            schema: Array(schema.written.utf8), mode: ToolGrammar.mode(of: callable)) != nil
    }

    /// Refuses a request that needs another grammar while those of others fill their room.
    private func checkGrammarRoom() throws(APIError) {
        guard !grammars.makeRoom() else { return }
        throw .overloaded(
            "the schemas of other requests take all room for them (--grammar-memory)",
            retryAfter: 5)
    }
}
