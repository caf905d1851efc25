/// A tokenizer's tokens as bytes, prepared once for all grammars.
///
/// Nearly every token is allowed inside a string, and which ones does not depend on the schema:
/// whole characters that need no escape. Those are sets of their own (`bodies`); only the others are
/// looked up one by one there.
package final class TokenVocabulary: Sendable {
    /// Ids are below it; more rows of logits are never allowed.
    package let size: Int
    /// By id; empty: never part of a value.
    let bytes: [[UInt8]]
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
    /// Whether each byte that can be needed is a token of its own.
    let hasEveryByte: Bool
    /// The longest token, bytes.
    let longest: Int
    /// The tokens of one byte; -1: none.
    let singles: [Int32]

    /// Tokens longer than this are never allowed: no tokenizer needs them, and a trie's walk has a
    /// fixed room.
    static let longestToken = 1024
    /// Body tokens are told apart up to this many characters.
    private static let bodyCounts = 32

    /// - Parameter tokens: by id; nil or empty for what stands for no text: control and added
    ///   tokens, unused ones.
    package init(tokens: [[UInt8]?]) {
        size = tokens.count
        var twins = [Int32](repeating: -1, count: tokens.count)
        var byBytes: [[UInt8]: Int32] = [:]
        byBytes.reserveCapacity(tokens.count)
        var kept: [(id: Int32, bytes: [UInt8])] = []
        kept.reserveCapacity(tokens.count)
        var all = [[UInt8]](repeating: [], count: tokens.count)
        var hasTwins = false
        for (id, bytes) in tokens.enumerated() {
            guard let bytes, !bytes.isEmpty, bytes.count <= Self.longestToken else { continue }
            all[id] = bytes
            if let twin = byBytes[bytes] {
                // After the first, so that the first keeps its place in the trie.
                twins[id] = twins[Int(twin)]
                twins[Int(twin)] = Int32(id)
                hasTwins = true
                continue
            }
            byBytes[bytes] = Int32(id)
            kept.append((Int32(id), bytes))
        }
        var bodies = [TokenSet](
            repeating: TokenSet(size: tokens.count), count: Self.bodyCounts + 2)
        var long: [(id: Int32, characters: Int32)] = []
        var mixed: [(id: Int32, bytes: [UInt8])] = []
        var lengths: Set<Int> = []
        var singles = [Int32](repeating: -1, count: 256)
        for token in kept {
            if token.bytes.count == 1 { singles[Int(token.bytes[0])] = token.id }
            guard let characters = Self.bodyCharacters(token.bytes) else {
                mixed.append(token)
                continue
            }
            lengths.insert(characters)
            var id = token.id
            while id >= 0 {
                bodies[min(characters, Self.bodyCounts + 1)].insert(id)
                if characters > Self.bodyCounts { long.append((id, Int32(characters))) }
                id = twins[Int(id)]
            }
        }
        for count in 1..<bodies.count { bodies[count].formUnion(bodies[count - 1]) }
        whole = TokenTrie(kept)
        self.mixed = TokenTrie(mixed)
        bytes = all
        self.bodies = bodies
        longBodies = long
        bodyLengths = lengths.sorted()
        self.twins = twins
        self.hasTwins = hasTwins
        self.singles = singles
        hasEveryByte = (0x20...0xF4).allSatisfy { $0 == 0xC0 || $0 == 0xC1 || singles[$0] >= 0 }
        longest = kept.reduce(1) { max($0, $1.bytes.count) }
    }

    /// How many characters a token has that is body of a JSON string alone; nil if it is not: a
    /// quote, a backslash, a control character, or a part of a character.
    private static func bodyCharacters(_ bytes: [UInt8]) -> Int? {
        for byte in bytes where byte < 0x20 || byte == 0x22 || byte == 0x5C { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return text.unicodeScalars.count
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
