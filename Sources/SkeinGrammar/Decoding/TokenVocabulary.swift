import Synchronization

/// A tokenizer's tokens as bytes, prepared once for all grammars.
///
/// Nearly every token is allowed inside a string, and which ones does not depend on the schema:
/// whole characters that need no escape. Those are sets of their own (`bodies`); only the others are
/// looked up one by one there.
package final class TokenVocabulary: Sendable {
    /// Ids are below it; more rows of logits are never allowed.
    package let size: Int
    let bytes: TokenBytes
    /// All tokens, and those that are not string body alone.
    let whole: TokenTrie
    let mixed: TokenTrie
    /// `bodies[n]`: tokens that are body of a string and at most `n` characters; the last one: all.
    let bodies: [TokenSet]
    /// Body tokens of more characters than `bodies` tells apart.
    let longBodies: [(id: Int32, characters: Int32)]
    /// How many characters a body token may have, ascending.
    let bodyLengths: [Int]
    /// The next token with the same bytes; -1: none.
    let twins: [Int32]
    let hasTwins: Bool
    /// The longest token, bytes.
    let longest: Int
    /// The tokens of one byte; -1: none.
    let singles: [Int32]
    private let madeShapes = Mutex<TokenShapes?>(nil)

    /// Tokens longer than this are never allowed: no tokenizer needs them, and a trie's walk has a
    /// fixed room.
    static let longestToken = 1024
    /// Body tokens are told apart up to this many characters.
    private static let bodyCounts = 32

    /// - Parameter tokens: by id; nil or empty for what stands for no text: control and added
    ///   tokens, unused ones.
    package init(tokens: [[UInt8]?]) {
        size = tokens.count
        let all = TokenBytes(tokens, limit: Self.longestToken)
        bytes = all
        longest = max(1, all.longest)
        var twins = [Int32](repeating: -1, count: all.count)
        var hasTwins = false
        var bodies = [TokenSet](
            repeating: TokenSet(size: all.count), count: Self.bodyCounts + 2)
        var long: [(id: Int32, characters: Int32)] = []
        var lengths: Set<Int> = []
        var singles = [Int32](repeating: -1, count: 256)
        let longest = longest
        (whole, mixed) = all.withTokens { all in
            var isBody = [Bool](repeating: false, count: all.count)
            for id in 0..<Int32(all.count) {
                guard let characters = all.bodyCharacters(of: id) else { continue }
                isBody[Int(id)] = true
                bodies[min(characters, Self.bodyCounts + 1)].insert(id)
                if characters > Self.bodyCounts {
                    lengths.insert(characters)
                    long.append((id, Int32(characters)))
                }
            }
            var kept: [TokenBytes.Tokens.Sorted] = []
            kept.reserveCapacity(all.count)
            var mixed: [TokenBytes.Tokens.Sorted] = []
            var twin: Int32 = -1
            // What the next token shares with the last of `mixed`.
            var shared: Int32 = 0
            for token in all.sorted() {
                let count = all.count(of: token.id)
                shared = min(shared, token.shared)
                if twin >= 0, Int(token.shared) == count, all.count(of: twin) == count {
                    twins[Int(twin)] = token.id
                    hasTwins = true
                } else {
                    kept.append(token)
                    if count == 1 { singles[Int(all[token.id][0])] = token.id }
                    if !isBody[Int(token.id)] {
                        mixed.append(TokenBytes.Tokens.Sorted(id: token.id, shared: shared))
                        shared = .max
                    }
                }
                twin = token.id
            }
            return (
                TokenTrie(kept, all, longest: longest), TokenTrie(mixed, all, longest: longest)
            )
        }
        for count in 1...Self.bodyCounts where bodies[count].first != nil { lengths.insert(count) }
        for count in 1..<bodies.count { bodies[count].formUnion(bodies[count - 1]) }
        self.bodies = bodies
        longBodies = long
        bodyLengths = lengths.sorted()
        self.twins = twins
        self.hasTwins = hasTwins
        self.singles = singles
    }

    /// Made when they are first needed: for most tokenizers they are not.
    var shapes: TokenShapes {
        madeShapes.withLock { made in
            if let made { return made }
            let shapes = TokenShapes(whole)
            made = shapes
            return shapes
        }
    }

    /// The body tokens of at most `count` characters.
    func bodies(upTo count: Int32) -> TokenSet {
        let last = bodies.count - 1
        if count == .max { return bodies[last] }
        if Int(count) < last { return bodies[Int(count)] }
        var set = bodies[last - 1]
        for (id, characters) in longBodies where characters <= count { set.insert(id) }
        return set
    }

    /// The body tokens of exactly so many characters.
    func bodies(of lengths: [Int]) -> TokenSet {
        var set = TokenSet(size: size)
        let apart = bodies.count - 2
        for length in lengths where length <= apart {
            set.formUnion(bodies[length], without: bodies[length - 1])
        }
        let long = Set(lengths.filter { $0 > apart })
        for (id, characters) in longBodies where long.contains(Int(characters)) { set.insert(id) }
        return set
    }
}

extension TokenBytes.Tokens {
    /// How many characters a token has that is body of a JSON string alone; nil if it is not: a
    /// quote, a backslash, a control character, a part of a character, or nothing at all.
    fileprivate func bodyCharacters(of id: Int32) -> Int? {
        let count = count(of: id)
        if count == 0 { return nil }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs = ones << 7
        var isASCII = true
        for place in stride(from: 0, to: count, by: Self.wordBytes) {
            var word = word(of: id, at: place)
            // Letters behind the end.
            let rest = count - place
            if rest < Self.wordBytes { word |= 0x61 &* ones & .max >> UInt64(8 * rest) }
            // A bit of each byte that is too low, all bytes at a time (Anderson, "Bit Twiddling Hacks",
            // "Determine if a word has a byte less than n"). Those above the lowest hit may be wrong.
            let control = (word &- 0x20 &* ones) & ~word
            let quote = word ^ 0x22 &* ones
            let backslash = word ^ 0x5C &* ones
            let special =
                control | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
            if special & highs != 0 { return nil }
            if word & highs != 0 { isASCII = false }
        }
        if isASCII { return count }
        let bytes = self[id]
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        // All but those that go on with a character.
        return bytes.count { $0 & 0xC0 != 0x80 }
    }
}
