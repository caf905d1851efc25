/// What attention computes: its heads, and how a query's scores are made and limited.
package struct AttentionShape: Sendable, Equatable {
    /// `H`, query heads.
    package let heads: Int
    /// `G`, key/value heads; G divides H.
    package let keyValueHeads: Int
    /// `N`.
    package let headDimension: Int
    /// A score is scale * q . k.
    package let scale: Float
    /// Tokens that a token sees, itself included; nil: all before it.
    package let window: Int?
    /// `c`: a score s becomes c tanh(s / c) (Gemma 2); nil: it stays.
    package let softCap: Float?

    /// `scale` nil is 1 / sqrt(N). A window is at least 1, a cap above 0 and finite.
    package init(
        heads: Int, keyValueHeads: Int, headDimension: Int, scale: Float? = nil,
        window: Int? = nil, softCap: Float? = nil
    ) {
        precondition(
            keyValueHeads > 0 && heads % keyValueHeads == 0 && headDimension > 0
                && window ?? 1 > 0 && softCap ?? 1 > 0 && softCap?.isFinite ?? true,
            "readers of models check their attention")
        self.heads = heads
        self.keyValueHeads = keyValueHeads
        self.headDimension = headDimension
        self.scale = scale ?? 1 / Float(headDimension).squareRoot()
        self.window = window
        self.softCap = softCap
    }

    /// The first token that the token at `position` sees.
    package func firstSeen(from position: Int) -> Int {
        window.map { max(0, position - $0 + 1) } ?? 0
    }

    /// Pairs of a query and a key that it sees among `tokens`: what one product of a head multiplies.
    package func pairs(tokens: Int) -> Int {
        let seen = min(window ?? tokens, tokens)
        return seen * (seen + 1) / 2 + (tokens - seen) * seen
    }
}
