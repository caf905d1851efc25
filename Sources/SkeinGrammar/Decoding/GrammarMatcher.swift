/// One value while it is written, token by token.
///
/// **A token is allowed only if the shortest completion after it still fits the tokens that are
/// left**, so that there is always a way to the end.
package struct GrammarMatcher: Sendable {
    /// What may happen next.
    package enum Next: Sendable {
        /// The value is complete, and nothing can follow.
        case end
        /// There is no choice.
        case only(Int32)
        /// One of `fitting`, or the end of the turn where that is allowed. `all`: what the grammar
        /// alone would allow; the same object unless the limit is near.
        case choice(all: TokenMask, fitting: TokenMask)
    }

    package let grammar: CompiledGrammar
    /// Tokens of the value.
    package let limit: Int
    package private(set) var used = 0
    /// The value so far.
    package private(set) var bytes: [UInt8] = []
    private var place: CompiledGrammar.Place?
    /// Whether the value is still wanted. Asked now and then by whatever takes long; once it is
    /// not, that throws `GrammarError.cancelled`.
    private let isWanted: @Sendable () -> Bool

    /// - Parameters:
    ///   - grammar: of the value.
    ///   - limit: tokens of the value.
    ///   - isWanted: whether it is still wanted; asked by any thread.
    /// - Throws: `GrammarError.doesNotFit` if even the shortest value takes more than `limit` tokens.
    package init(
        _ grammar: CompiledGrammar, limit: Int, isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws(GrammarError) {
        try grammar.check(limit: limit, isWanted: isWanted)
        self.grammar = grammar
        self.limit = limit
        self.isWanted = isWanted
    }

    package var left: Int { limit - used }

    /// What may happen next; with `asksAlways`, `.only` is a choice, too.
    ///
    /// - Throws: `GrammarError.tooComplex`.
    package func next(asksAlways: Bool = false) throws(GrammarError) -> Next {
        if left <= 0 { return .end }
        let (all, fitting) = try grammar.masks(place, bytes, left: left, isWanted)
        if fitting.count == 0 {
            // What was found to fit before fits no longer: the search had more room then.
            guard all.allowsEnd else { throw .tooComplex }
            if all.count == 0 { return .end }
        }
        if !asksAlways, let only = fitting.only, all.count == 1 { return .only(only) }
        return .choice(all: all, fitting: fitting)
    }

    /// Whether a token is allowed next.
    package func allows(_ token: Int32) throws(GrammarError) -> Bool {
        if left <= 0 { return false }
        return try grammar.masks(place, bytes, left: left, isWanted).fitting.tokens
            .contains(token)
    }

    /// Whether the value is complete.
    package func isComplete() throws(GrammarError) -> Bool {
        try grammar.isAccepting(place, bytes, isWanted)
    }

    /// Whether nothing can follow the value.
    package func isFinal() throws(GrammarError) -> Bool {
        try grammar.mask(place, bytes, isWanted).count == 0
    }

    /// Takes a token that `next()` allowed.
    package mutating func accept(_ token: Int32) throws(GrammarError) {
        let added = grammar.vocabulary.bytes[token]
        let next = try grammar.advance(place, by: added, before: bytes, isWanted)
        precondition(next.state >= 0 && !added.isEmpty, "the token is allowed")
        place = next
        bytes += added
        used += 1
    }

    /// The tokens of the bytes that must come next, without the last one: a longer token that begins
    /// with it may be the model's choice. Empty if there is no run, or if the limit asks for fewer
    /// tokens.
    ///
    /// `segment` cuts a text into tokens as the tokenizer does.
    ///
    /// - Throws: `GrammarError.tooComplex`.
    package func forcedRun(segment: ([UInt8]) -> [Int32]) throws(GrammarError) -> [Int32] {
        guard left > 1 else { return [] }
        let forced = try grammar.forced(
            place, bytes, atMost: Self.longestRun, isWanted)
        guard forced.count > 1 else { return [] }
        var run = segment(forced)
        let words = grammar.vocabulary.bytes
        guard run.allSatisfy({ 0 <= $0 && $0 < words.count && !words[$0].isEmpty }),
            run.flatMap({ words[$0] }) == forced, run.count > 1, run.count <= left
        else { return [] }
        run.removeLast()
        let added = run.flatMap { words[$0] }
        let after = try grammar.advance(place, by: added, before: bytes, isWanted)
        let fits = try grammar.fits(
            after, bytes + added, left: left - run.count, isWanted)
        return fits ? run : []
    }

    /// Bytes of a forced run that is looked at in one piece.
    private static let longestRun = 4096
}
