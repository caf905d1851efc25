import SkeinGrammar

extension Generator {
    /// Tokens of a forced run that are read at once: a read of the weights for all of them.
    package static let forcedRows = 16

    /// Continues a prompt with a value that a grammar allows, and nothing else.
    ///
    /// Where there is no choice the model is not asked: bytes that must come next are read together
    /// with the next token whose successor is to be chosen.
    ///
    /// Otherwise like `run(prompt:maximumTokens:check:each:)`, which ends with `.maximumTokens` here
    /// if the limit made the value other than the model would have; it is complete in any case.
    ///
    /// Shapes and ranges:
    ///   - matcher: at the beginning of a value; its limit takes the place of `maximumTokens`.
    ///   - segment: cuts a text into tokens as the tokenizer does.
    ///   - asksAlways: asks the model for every token, to measure what else that saves.
    @discardableResult
    package func run(
        prompt: [Int32], matcher: inout GrammarMatcher, segment: ([UInt8]) -> [Int32],
        asksAlways: Bool = false, check: () throws -> Void, each: (Int32) throws -> Bool
    ) throws -> End {
        var next = prompt
        var uses = TokenUses(prompt: prompt)
        var isCutShort = false
        var reading = DecoderSession.Reading.prompt
        func take(_ token: Int32) throws -> Bool {
            try matcher.accept(token)
            uses.count(token)
            return try each(token)
        }
        while true {
            for token in asksAlways ? [] : try matcher.forcedRun(segment: segment) {
                if try !take(token) { return .interrupted }
                next.append(token)
            }
            switch try matcher.next(asksAlways: asksAlways) {
            case .end:
                let isWhole = try matcher.left > 0 || matcher.isFinal()
                return isCutShort || !isWhole ? .maximumTokens : .stopToken
            case .only(let token):
                if try !take(token) { return .interrupted }
                next.append(token)
            case .choice(_, let fitting) where fitting.count == 0 && stopTokens.isEmpty:
                return .maximumTokens
            case .choice(let all, let fitting):
                let position = matcher.used
                let token = try session.withLogits(after: next, as: reading, check: check) {
                    logits in
                    try pick(logits, uses) { logits in
                        let choice = sampler.choose(
                            logits, position: position, among: fitting,
                            of: isCutShort ? nil : all, ends: stopTokens)
                        isCutShort = isCutShort || choice.isCutShort
                        return choice.token
                    }
                }
                if !fitting.tokens.contains(token) {
                    return isCutShort ? .maximumTokens : .stopToken
                }
                if try !take(token) { return .interrupted }
                next = [token]
                reading = .answer
            }
        }
    }
}
