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
        let all = tokens.map { bytes in
            bytes.flatMap { $0.count <= Self.longestToken ? $0 : nil } ?? []
        }
        var twins = [Int32](repeating: -1, count: all.count)
        var hasTwins = false
        var bodies = [TokenSet](
            repeating: TokenSet(size: all.count), count: Self.bodyCounts + 2)
        var long: [(id: Int32, characters: Int32)] = []
        var lengths: Set<Int> = []
        var singles = [Int32](repeating: -1, count: 256)
        var kept: [Int32] = []
        kept.reserveCapacity(all.count)
        var mixed: [Int32] = []
        var twin: Int32 = -1
        for id in Self.sorted(all) {
            let bytes = all[Int(id)]
            if let last = kept.last, all[Int(last)] == bytes {
                twins[Int(twin)] = id
                twin = id
                hasTwins = true
            } else {
                kept.append(id)
                twin = id
                if bytes.count == 1 { singles[Int(bytes[0])] = id }
            }
            guard let characters = Self.bodyCharacters(bytes) else {
                if twin == kept.last { mixed.append(id) }
                continue
            }
            lengths.insert(characters)
            bodies[min(characters, Self.bodyCounts + 1)].insert(id)
            if characters > Self.bodyCounts { long.append((id, Int32(characters))) }
        }
        for count in 1..<bodies.count { bodies[count].formUnion(bodies[count - 1]) }
        whole = TokenTrie(kept, all)
        self.mixed = TokenTrie(mixed, all)
        bytes = all
        self.bodies = bodies
        longBodies = long
        bodyLengths = lengths.sorted()
        self.twins = twins
        self.hasTwins = hasTwins
        self.singles = singles
        longest = all.reduce(1) { max($0, $1.count) }
    }

    /// The ids of tokens that are not empty, by their bytes, of equal ones the lowest id first.
    private static func sorted(_ tokens: [[UInt8]]) -> [Int32] {
        // The first eight bytes decide nearly always, and integers compare fast.
        var keys: [(start: UInt64, id: Int32)] = []
        keys.reserveCapacity(tokens.count)
        for (id, bytes) in tokens.enumerated() where !bytes.isEmpty {
            let start = bytes.withUnsafeBufferPointer { bytes in
                var start: UInt64 = 0
                for place in 0..<min(8, bytes.count) {
                    start |= UInt64(bytes[place]) << UInt64(56 - 8 * place)
                }
                return start
            }
            keys.append((start, Int32(id)))
        }
        keys.sort { $0.start < $1.start }
        var first = 0
        while first < keys.count {
            var end = first + 1
            while end < keys.count, keys[end].start == keys[first].start { end += 1 }
            if end - first > 1 {
                keys[first..<end].sort { a, b in
                    let (x, y) = (tokens[Int(a.id)], tokens[Int(b.id)])
                    return x == y ? a.id < b.id : x.lexicographicallyPrecedes(y)
                }
            }
            first = end
        }
        return keys.map(\.id)
    }

    /// How many characters a token has that is body of a JSON string alone; nil if it is not: a
    /// quote, a backslash, a control character, or a part of a character.
    private static func bodyCharacters(_ bytes: [UInt8]) -> Int? {
        var isASCII = true
        for byte in bytes {
            if byte < 0x20 || byte == 0x22 || byte == 0x5C { return nil }
            isASCII = isASCII && byte < 0x80
        }
        if isASCII { return bytes.count }
        return String(validating: bytes, as: UTF8.self)?.unicodeScalars.count
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
