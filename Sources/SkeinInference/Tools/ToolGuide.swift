import SkeinGrammar
import SkeinText

/// Follows one answer of a model that may call tools, and says what may come next.
///
/// Text is free until the model writes its format's marker. From there on it is held to the grammar of
/// calls: **a call that is begun is always completed within the limit**, because the grammar's limit is
/// what is left after all that must follow. Where no call fits any longer, a marker is text.
///
/// The one who generates calls `next()`, gives the token that was picked (or each forced one, in order)
/// to `accept`, and feeds the model what that returns.
package struct ToolGuide: Sendable {
    /// What may come next.
    package enum Next: Sendable {
        /// Any token, or the end of the turn.
        case free
        /// These, without asking the model.
        case forced([Int32])
        /// A token of `fitting`, or the end where it is allowed; then `fitting` may be empty. `all`: what
        /// would be allowed without the limit; the same object unless the limit is near.
        case choice(all: TokenMask, fitting: TokenMask, endAllowed: Bool)
        /// The answer is complete.
        case end
    }

    package enum Misuse: Error, Equatable {
        /// A token that `next()` did not allow.
        case token(Int32)
        /// The end of the turn where `next()` did not allow it.
        case end
    }

    enum State {
        case free
        /// Nothing but the beginning of a call without a marker was written.
        case bare
        /// `queue` is written, then comes what `Then` says.
        case forced(Then)
        case call
        /// A call is complete; another one may follow.
        case between
        case ended
    }

    enum Then {
        case call, between, end
    }

    package let format: ToolFormat
    package let tokenizer: Tokenizer
    let parts: CallTokens
    package let isParallel: Bool
    /// Whether an answer that does not begin with a call is something else than text. Then the beginning
    /// of a call without a marker counts as one when it has named a tool: `{"name"` may begin a value.
    let beginsWithCalls: Bool
    package let limit: Int
    package var idSeed: String
    /// nil: there are no tools to call.
    package let grammar: CompiledGrammar?
    /// The places in the request of what the grammar leaves out of the tools' schemas.
    package let dropped: [String]
    /// How many there are; of many not all have a place in `dropped`.
    package let droppedCount: Int
    /// Whether the answer is still wanted.
    let isWanted: @Sendable () -> Bool

    var state = State.free
    /// Tokens so far.
    var used = 0
    /// Tokens that must come next.
    var queue: [Int32] = []
    var matcher: GrammarMatcher?
    var reader = CallReader()
    var held: HeldText
    /// nil: a marker would be text.
    var scanner: MarkerScanner?
    var events: [ToolEvent] = []
    /// Calls that are complete.
    var calls = 0
    private var hasEnded = false
    /// Set by the one who generates where the model would have gone on if the limit had not been near:
    /// the answer then counts as cut off, though its calls are complete.
    package var isCutShort = false

    /// - Parameters:
    ///   - format: of the model.
    ///   - tools: of the request.
    ///   - choice: whether there may or must be calls.
    ///   - parallel: whether there may be several calls; with a named tool there is one.
    ///   - beginsWithCalls: whether the answer is no text if it does not begin with a call.
    ///   - grammars: of the tokenizer's vocabulary.
    ///   - tokenizer: of the model.
    ///   - limit: tokens of the answer.
    ///   - idSeed: names of calls are made from it.
    ///   - isWanted: whether the answer is still wanted; asked by any thread.
    /// - Throws: `ToolProblem` if a strict schema cannot be enforced, or if a call is required that does
    ///   not fit; `GrammarError`.
    package init(
        _ format: ToolFormat, tools: [Tool], choice: ToolChoice, parallel: Bool,
        beginsWithCalls: Bool = false, grammars: GrammarCache, tokenizer: Tokenizer, limit: Int,
        idSeed: String,
        isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws {
        self.isWanted = isWanted
        self.beginsWithCalls = beginsWithCalls
        self.format = format
        self.tokenizer = tokenizer
        self.limit = limit
        self.idSeed = idSeed
        held = HeldText(tokenizer)
        let callable = tools.enumerated().map { (place: $0, tool: $1) }
            .filter { choice.allows($0.tool) }
        var isOne = !parallel
        if case .named(let name) = choice {
            isOne = true
            guard !callable.isEmpty else {
                throw ToolProblem(path: "tool_choice", flaw: .unknownTool(name))
            }
        }
        if choice.isRequired, callable.isEmpty {
            throw ToolProblem(path: "tool_choice", flaw: .noTools)
        }
        guard !callable.isEmpty else {
            parts = try .none(tokenizer, grammars)
            isParallel = false
            grammar = nil
            (dropped, droppedCount) = ([], 0)
            return
        }
        let parts = try CallTokens(format, tokenizer, grammars)
        self.parts = parts
        isParallel = !isOne && parts.callNext != nil && parts.callNext?.first != parts.listEnd.first
        let (grammar, dropped) = try ToolGrammar.make(
            callable, key: format.argumentsKey, grammars, isWanted: isWanted)
        self.dropped = dropped
        droppedCount = dropped.count + grammar.droppedCount - grammar.dropped.count
        self.grammar = grammar
        if !choice.isRequired {
            if format.isBare, try fits(after: 0) {
                matcher = try GrammarMatcher(
                    grammar, limit: limit - parts.tailCount, isWanted: isWanted)
                state = .bare
            }
            scanner = MarkerScanner(format.marker)
        } else {
            try require(grammar)
            try write(parts.opening, then: .call)
        }
    }

    /// Fails if not even the shortest call fits.
    private func require(_ grammar: CompiledGrammar) throws {
        let around = parts.opening.count + parts.tailCount
        do {
            try grammar.check(limit: limit - around, isWanted: isWanted)
        } catch {
            guard case .doesNotFit(let needed, _) = error else { throw error }
            throw ToolProblem(
                path: "max_completion_tokens",
                flaw: .doesNotFit(needed: needed.map { $0 + around }, limit: limit))
        }
    }

    /// Whether a call fits after `count` more tokens.
    func fits(after count: Int) throws -> Bool {
        guard let grammar else { return false }
        let room = limit - used - count - parts.tailCount
        guard room > 0 else { return false }
        do {
            try grammar.check(limit: room, isWanted: isWanted)
            return true
        } catch {
            guard case .doesNotFit = error else { throw error }
            return false
        }
    }

    /// Whether what is written now is text, not a call.
    var isText: Bool {
        switch state {
        case .free, .bare: true
        case .forced, .call, .between, .ended: false
        }
    }

    // MARK: - What comes next

    /// What may come next. It says the same until a token is accepted.
    ///
    /// - Throws: `GrammarError.tooComplex`.
    package mutating func next() throws -> Next {
        switch state {
        case .ended: return .end
        case .free, .bare: return used < limit ? .free : .end
        case .forced: return .forced(queue)
        case .between: return try nextAfterCall()
        case .call:
            guard let matcher else { return .end }
            if !queue.isEmpty { return .forced(queue) }
            queue = try matcher.forcedRun { tokenizer.segments(of: $0, after: parts.previous) }
            if !queue.isEmpty { return .forced(queue) }
            switch try matcher.next() {
            case .only(let token):
                queue = [token]
                return .forced(queue)
            case .choice(let all, let fitting):
                return .choice(all: all, fitting: fitting, endAllowed: false)
            // A call's last byte ends this state.
            case .end: throw GrammarError.tooComplex
            }
        }
    }

    /// Another call, or the end.
    private func nextAfterCall() throws -> Next {
        guard used < limit, let first = parts.callNext?.first else { return .end }
        let ends = parts.listEnd.prefix(1)
        let size = tokenizer.usableCount
        let all = TokenMask([first] + ends, size: size, allowsEnd: ends.isEmpty)
        let fits = try fits(after: parts.callNext?.count ?? 0)
        let fitting =
            fits ? all : TokenMask(Array(ends), size: size, allowsEnd: ends.isEmpty)
        return .choice(all: all, fitting: fitting, endAllowed: ends.isEmpty)
    }

    // MARK: - What was picked

    /// Takes the token that was picked, or the next of the forced ones.
    ///
    /// - Returns: the tokens to feed in its place: itself, unless it reaches beyond the end of a marker;
    ///   then those of the marker's rest.
    /// - Throws: `Misuse` for a token that `next()` did not allow; `GrammarError`.
    package mutating func accept(_ token: Int32) throws -> [Int32] {
        switch state {
        case .free: return try acceptFree(token)
        case .bare: return try acceptBare(token)
        case .forced(let then):
            guard queue.first == token else { throw Misuse.token(token) }
            used += 1
            try write(Array(queue.dropFirst()), then: then)
        case .call:
            if queue.isEmpty {
                guard try matcher?.allows(token) == true else { throw Misuse.token(token) }
            } else {
                guard queue.removeFirst() == token else { throw Misuse.token(token) }
            }
            try matcher?.accept(token)
            used += 1
            try readCall()
        case .between: try acceptBetween(token)
        case .ended: throw Misuse.token(token)
        }
        return [token]
    }

    /// The model ended its turn.
    ///
    /// - Throws: `Misuse.end` where it may not.
    package mutating func acceptEnd() throws {
        switch state {
        case .free, .bare: break
        case .between where parts.listEnd.isEmpty: break
        default: throw Misuse.end
        }
        hasEnded = true
        state = .ended
    }

    private mutating func acceptBetween(_ token: Int32) throws {
        if let next = parts.callNext, next.first == token, try fits(after: next.count) {
            used += 1
            try write(Array(next.dropFirst()), then: .call)
        } else if parts.listEnd.first == token {
            used += 1
            try write(Array(parts.listEnd.dropFirst()), then: .end)
        } else {
            throw Misuse.token(token)
        }
    }

    // MARK: - What became of it

    /// Why the answer ended, once it has.
    package var finish: ToolFinish {
        if isCutShort { return .length }
        if calls > 0 { return .toolCalls }
        return hasEnded || used < limit ? .stop : .length
    }

    /// What was written since the last time.
    package mutating func takeEvents() -> [ToolEvent] {
        defer { events = [] }
        return events
    }

    /// At the end: what was written since the last time, and what was held back.
    package mutating func rest() -> [ToolEvent] {
        switch state {
        case .free, .bare, .ended: emit(held.rest())
        default: break
        }
        return takeEvents()
    }
}
