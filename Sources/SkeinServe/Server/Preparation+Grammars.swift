import SkeinGrammar
import SkeinInference
import SkeinText

/// Grammars of requests.
extension Preparation {
    /// Whether a grammar must be made for a chat: it has none that is kept.
    func needsGrammar(_ request: ChatRequest) -> Bool {
        if request.toolChoice != .none, !host.knows(request.tools, request.toolChoice) {
            return true
        }
        return needsGrammar(request.form)
    }

    /// Whether a grammar must be made for a form.
    func needsGrammar(_ form: AnswerForm) -> Bool {
        form.grammar.map { host.grammars.known($0) == nil } ?? false
    }

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

    /// The grammar of a form, for all answers of a request; nil for any text.
    ///
    /// `isWanted`: whether the client is still there; asked by whatever takes long.
    func grammar(
        _ form: AnswerForm, _ isWanted: @escaping @Sendable () -> Bool
    ) throws(APIError) -> CompiledGrammar? {
        guard let source = form.grammar else { return nil }
        do {
            return try host.grammars.grammar(source, isWanted: isWanted)
        } catch {
            throw form.problem(error)
        }
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
        do {
            return try host.guide(
                tools: request.tools, choice: request.toolChoice, parallel: request.parallelCalls,
                beginsWithCalls: beginsWithCalls, limit: limit, idSeed: idSeed, isWanted: isWanted)
        } catch {
            throw (error as? ToolProblem).map { APIError($0) } ?? APIError(error)
        }
    }
}
