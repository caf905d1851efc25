import SkeinGrammar

extension Sampler {
    /// A token of a value, and whether the model would have gone on otherwise with more room.
    package struct Choice: Sendable, Equatable {
        package let token: Int32
        package let isCutShort: Bool
    }

    /// Picks the next token of a value that a grammar allows, or one that ends it where it is complete.
    ///
    /// Shapes and ranges:
    ///   - logits: [V].
    ///   - fitting: after whose tokens the value can still be completed within its limit.
    ///   - all: that the grammar allows, the same object where all fit; nil: what the model would
    ///     have said with more room is not asked for.
    ///   - ends: tokens that end the turn, allowed where the value is complete.
    package func choose(
        _ logits: UnsafeBufferPointer<Float>, position: Int, among fitting: TokenMask,
        of all: TokenMask?, ends: Set<Int32>
    ) -> Choice {
        let allowed = fitting.tokens(orEnding: ends)
        let token = pick(logits, position: position, among: allowed)
        guard let all, all !== fitting else { return Choice(token: token, isCutShort: false) }
        let wanted = pick(logits, position: position, among: all.tokens(orEnding: ends))
        return Choice(token: token, isCutShort: !allowed.contains(wanted))
    }
}

extension TokenMask {
    /// The tokens of the mask, and those of `ends` where the turn may end.
    fileprivate func tokens(orEnding ends: Set<Int32>) -> TokenSet {
        var tokens = tokens
        guard allowsEnd else { return tokens }
        for token in ends where Int(token) < tokens.size { tokens.insert(token) }
        return tokens
    }
}
