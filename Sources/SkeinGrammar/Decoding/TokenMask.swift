/// The tokens that may come next.
package final class TokenMask: Sendable {
    package let tokens: TokenSet
    /// How many.
    package let count: Int
    /// Whether the value is complete, so that the turn may end here.
    package let allowsEnd: Bool
    /// The most bytes, or tokens where single bytes are no tokens, that the shortest completion
    /// takes after one of `tokens`.
    let need: Int32

    init(tokens: TokenSet, allowsEnd: Bool, need: Int32) {
        self.tokens = tokens
        count = tokens.count
        self.allowsEnd = allowsEnd
        self.need = need
    }

    /// A few tokens among which no grammar decides, of a vocabulary of `size`.
    package convenience init(_ tokens: [Int32], size: Int, allowsEnd: Bool) {
        var set = TokenSet(size: size)
        for token in tokens { set.insert(token) }
        self.init(tokens: set, allowsEnd: allowsEnd, need: 0)
    }

    /// The only possible token, if the turn cannot end here and nothing else is allowed.
    package var only: Int32? { count == 1 && !allowsEnd ? tokens.first : nil }
}
