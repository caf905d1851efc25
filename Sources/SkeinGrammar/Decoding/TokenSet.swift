/// A set of token ids, one bit each.
package struct TokenSet: Sendable, Hashable {
    package private(set) var words: [UInt64]

    /// The empty set of ids below `size`.
    package init(size: Int) {
        words = [UInt64](repeating: 0, count: (size + 63) / 64)
    }

    /// Ids that the set can hold.
    package var size: Int { words.count * 64 }

    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    package func contains(_ token: Int32) -> Bool {
        let word = Int(token) >> 6
        return token >= 0 && word < words.count && words[word] >> UInt64(token & 63) & 1 == 1
    }

    package mutating func insert(_ token: Int32) {
        words[Int(token) >> 6] |= 1 << UInt64(token & 63)
    }

    package mutating func formUnion(_ other: TokenSet) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    /// Adds what is in one set and not in the other.
    mutating func formUnion(_ other: TokenSet, without excluded: TokenSet) {
        for index in words.indices {
            words[index] |= other.words[index] & ~excluded.words[index]
        }
    }

    /// The lowest id; nil of the empty set.
    package var first: Int32? {
        guard let word = words.firstIndex(where: { $0 != 0 }) else { return nil }
        return Int32(word * 64 + words[word].trailingZeroBitCount)
    }

    /// All ids, ascending.
    package var tokens: [Int32] {
        var tokens: [Int32] = []
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                tokens.append(Int32(index * 64 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return tokens
    }

    mutating func withWords<Result>(
        _ body: (UnsafeMutableBufferPointer<UInt64>) -> Result
    ) -> Result {
        words.withUnsafeMutableBufferPointer { body($0) }
    }
}
