import SkeinGrammar
import SkeinModels
import SkeinText

/// One answer while it is written: picks tokens from logits and makes text of them. It holds no part
/// of the model. Lives on the engine's thread.
final class RunningAnswer {
    /// What follows from the logits of the last token.
    enum Outcome: Equatable {
        /// These tokens are read next; the logits of the last one are wanted. None: those of the
        /// prompt.
        case feed([Int32])
        /// What was said so far is forgotten: the answer begins anew behind its prompt.
        case restart
        case ended(FinishReason)
    }

    let job: AnswerJob
    private let tokenizer: Tokenizer
    private let stopTokens: Set<Int32>
    private var guide: AnswerGuide
    /// The value that the answer is unless it begins with a call; nil: that is decided, or no question.
    private var alternative: GrammarMatcher?
    /// Whether something was said that begins no call.
    private var hasSpoken = false
    /// Tokens of the prompt that were not computed when an answer that began anew first began.
    var firstCachedTokens: Int?
    /// Made when its turn has come: many may wait.
    private lazy var uses = TokenUses(prompt: job.sampler.penalties.isOff ? [] : job.prompt)
    /// The tokens of the answer so far.
    private(set) var tokens: [Int32] = []
    private var text: TokenText
    private var value = UTF8Stream()
    private var filter: StopFilter
    /// Whether the limit made a value other than the model would have.
    private var isCutShort = false
    private var piece = AnswerPiece()
    private var firstOutcome: Outcome?

    init(_ job: AnswerJob, _ tokenizer: Tokenizer) {
        self.job = job
        self.tokenizer = tokenizer
        stopTokens = job.ignoresEnd ? [] : tokenizer.endOfTurnIDs
        if case .callsOrValue(let tools, let value) = job.guide {
            (guide, alternative) = (.tools(tools), value)
        } else {
            guide = job.guide
        }
        text = TokenText(tokenizer, skippingSpecialTokens: true)
        filter = StopFilter(job.stops)
    }

    /// Whether any token may come next, so that a guess may be right.
    var isFree: Bool {
        switch guide {
        case .free: true
        case .value, .tools, .callsOrValue: false
        }
    }

    /// What has come since this was last called; nothing while it may have to be forgotten.
    func takePiece() -> AnswerPiece {
        if alternative != nil { return AnswerPiece() }
        defer { piece = AnswerPiece() }
        return piece
    }

    // MARK: Picking

    private enum Next {
        /// Any token, or the end.
        case free
        case forced([Int32])
        case choice(all: TokenMask, fitting: TokenMask)
        case end(FinishReason)
    }

    /// What comes before anything is read; asked again, it says the same.
    func first() throws -> Outcome {
        if let known = firstOutcome { return known }
        var outcome = try advance(nil)
        if outcome == .restart { outcome = try advance(nil) }
        firstOutcome = outcome
        return outcome
    }

    /// Goes on until logits are needed.
    ///
    /// - Parameter logits: [V], of the last token that was read; nil: nothing was read yet.
    /// - Returns: what to read next, or why the answer has ended.
    /// - Throws: `GenerationError.notFinite`, `GrammarError`, `ToolProblem`.
    func advance(_ logits: UnsafeBufferPointer<Float>?) throws -> Outcome {
        let outcome = try goOn(logits)
        guard let alternative, case .tools(let tools) = guide else { return outcome }
        if case .feed = outcome {
            if !tools.isText {
                self.alternative = nil
                return outcome
            }
            if !hasSpoken, tokens.count < Self.undecidedTokens { return outcome }
        }
        begin(alternative)
        return .restart
    }

    /// After so many tokens that begin no call there is none: all are held until that is known.
    private static let undecidedTokens = 64

    /// Forgets what was said, and writes a value.
    private func begin(_ value: GrammarMatcher) {
        (guide, alternative) = (.value(value), nil)
        (tokens, piece, firstOutcome, isCutShort) = ([], AnswerPiece(), nil, false)
        uses = TokenUses(prompt: job.sampler.penalties.isOff ? [] : job.prompt)
        filter = StopFilter(job.stops)
    }

    private func goOn(_ logits: UnsafeBufferPointer<Float>?) throws -> Outcome {
        var logits = logits
        var feed: [Int32] = []
        while true {
            switch try next() {
            case .end(let reason): return ended(reason)
            case .forced(let run):
                for token in run {
                    if isStop(token) { return ended(.stop) }
                    record(token, nil)
                    feed += try accept(token)
                    if filter.isStopped { return ended(.stop) }
                }
            case .free:
                guard let now = logits else { return .feed(feed) }
                logits = nil
                let token = try pick(now)
                if stopTokens.contains(token) {
                    if job.recordsEnd { record(token, now) }
                    return ended(try endOfTurn())
                }
                if isStop(token) { return ended(.stop) }
                record(token, now)
                feed += try accept(token)
                if filter.isStopped { return ended(.stop) }
            case .choice(let all, let fitting):
                guard let now = logits else { return .feed(feed) }
                logits = nil
                let token = try pick(now, among: (fitting, of: all))
                if !fitting.tokens.contains(token) { return ended(try endOfTurn()) }
                if isStop(token) { return ended(.stop) }
                record(token, now)
                feed += try accept(token)
                if filter.isStopped { return ended(.stop) }
            }
        }
    }

    private func next() throws -> Next {
        switch guide {
        case .free, .callsOrValue:
            return tokens.count >= job.maximumTokens ? .end(.length) : .free
        case .value(let matcher):
            let run = try matcher.forcedRun { tokenizer.segments(of: $0, after: tokens.last) }
            if !run.isEmpty { return .forced(run) }
            switch try matcher.next() {
            case .end:
                let isWhole = try matcher.left > 0 || matcher.isFinal()
                return .end(isCutShort || !isWhole ? .length : .stop)
            case .only(let token): return .forced([token])
            case .choice(_, let fitting) where fitting.count == 0 && tokenizer.endOfTurnIDs.isEmpty:
                return .end(.length)
            case .choice(let all, let fitting): return .choice(all: all, fitting: fitting)
            }
        case .tools(var tools):
            defer { guide = .tools(tools) }
            switch try tools.next() {
            case .free: return .free
            case .forced(let run): return .forced(run)
            case .choice(let all, let fitting, _):
                if fitting.count == 0, tokenizer.endOfTurnIDs.isEmpty {
                    return .end(try endOfTurn(&tools))
                }
                // That no further call fits cuts nothing short: what there is is whole.
                if case .between = tools.state { return .choice(all: fitting, fitting: fitting) }
                return .choice(all: all, fitting: fitting)
            case .end:
                tools.isCutShort = isCutShort
                return .end(reason(tools.finish))
            }
        }
    }

    /// Whether the request ends its answer at this token. A call that is begun is completed.
    private func isStop(_ token: Int32) -> Bool {
        guard job.stopTokens.contains(token) else { return false }
        if case .tools(let tools) = guide { return tools.isText }
        return true
    }

    private func pick(
        _ all: UnsafeBufferPointer<Float>, among masks: (fitting: TokenMask, of: TokenMask)? = nil
    ) throws -> Int32 {
        let logits = UnsafeBufferPointer(rebasing: all.prefix(tokenizer.usableCount))
        guard Sampler.areFinite(logits) else { throw GenerationError.notFinite }
        let position = tokens.count
        func choose(_ logits: UnsafeBufferPointer<Float>) -> Int32 {
            guard let masks else { return job.sampler.pick(logits, position: position) }
            let choice = job.sampler.choose(
                logits, position: position, among: masks.fitting,
                of: isCutShort ? nil : masks.of, ends: tokenizer.endOfTurnIDs)
            isCutShort = isCutShort || choice.isCutShort
            return choice.token
        }
        if job.sampler.penalties.isOff, job.bias.isEmpty { return choose(logits) }
        var lowered = Array(logits)
        uses.lower(&lowered, by: job.sampler.penalties)
        for (token, bias) in job.bias where lowered.indices.contains(Int(token)) {
            lowered[Int(token)] = TokenUses.finite(lowered[Int(token)] + bias)
        }
        return lowered.withUnsafeBufferPointer(choose)
    }

    private func endOfTurn() throws -> FinishReason {
        switch guide {
        case .free, .callsOrValue: return .stop
        case .value: return isCutShort ? .length : .stop
        case .tools(var tools):
            defer { guide = .tools(tools) }
            return try endOfTurn(&tools)
        }
    }

    private func endOfTurn(_ tools: inout ToolGuide) throws -> FinishReason {
        tools.isCutShort = isCutShort
        try tools.acceptEnd()
        return reason(tools.finish)
    }

    private func reason(_ finish: ToolFinish) -> FinishReason {
        switch finish {
        case .stop: .stop
        case .length: .length
        case .toolCalls: .toolCalls
        }
    }

    // MARK: Taking

    /// Takes a token of the answer; the tokens to read in its place.
    private func accept(_ token: Int32) throws -> [Int32] {
        var taken = [token]
        switch guide {
        case .free, .callsOrValue: show(text.text(of: token))
        case .value(var matcher):
            try matcher.accept(token)
            guide = .value(matcher)
            show(value.text(of: tokenizer.bytes(of: token)))
        case .tools(var tools):
            taken = try tools.accept(token)
            show(tools.takeEvents())
            guide = .tools(tools)
        }
        tokens += taken
        if !job.sampler.penalties.isOff { for token in taken { uses.count(token) } }
        return taken
    }

    private func show(_ text: String) { piece.text += filter.take(text) }

    /// Stop texts are looked for in what is said, not in calls.
    private func show(_ events: [ToolEvent]) {
        for event in events {
            guard case .text(let text) = event else {
                piece.tools.append(event)
                continue
            }
            hasSpoken = hasSpoken || !text.allSatisfy(\.isWhitespace)
            show(text)
        }
    }

    private func ended(_ reason: FinishReason) -> Outcome {
        if !filter.isStopped {
            switch guide {
            case .free, .callsOrValue: show(text.rest())
            case .value: show(value.rest())
            case .tools(var tools):
                show(tools.rest())
                guide = .tools(tools)
            }
        }
        if !filter.isStopped { piece.text += filter.rest() }
        return .ended(filter.isStopped ? .stop : reason)
    }

    // MARK: Log-probabilities

    private func record(_ token: Int32, _ logits: UnsafeBufferPointer<Float>?) {
        guard let count = job.logprobs else { return }
        piece.tokens.append(
            logits.map { Logprobs.record(token, $0.prefix(tokenizer.usableCount), top: count) }
                ?? TokenRecord(token: token, logprob: 0))
    }

    /// Takes the logits of the prompt's token at `position`, which are about the next one.
    func recordPrompt(_ position: Int, _ logits: UnsafeBufferPointer<Float>) {
        guard let count = job.logprobs else { return }
        if position == 0 {
            piece.promptTokens.append(TokenRecord(token: job.prompt[0], logprob: nil))
        }
        guard position + 1 < job.prompt.count else { return }
        piece.promptTokens.append(
            Logprobs.record(
                job.prompt[position + 1], logits.prefix(tokenizer.usableCount), top: count))
    }
}
