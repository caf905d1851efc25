/// Byte strings in id order, end to end, with an index from the string to its id.
///
/// Not a dictionary of `String`: two strings of different bytes are equal there when Unicode calls
/// them canonically equivalent; in a vocabulary they are two tokens.
struct TokenTable: Sendable {
    /// All strings end to end.
    private(set) var bytes: [UInt8] = []
    /// Where each string begins, and where the last one ends: `count + 1` numbers.
    private(set) var offsets: [UInt32] = [0]
    /// Open addressing over a power of two of slots, linear probing; -1 is empty.
    private var slots: [Int32] = []

    /// The number of strings.
    var count: Int { offsets.count - 1 }

    mutating func reserve(count: Int, bytes byteCount: Int) {
        offsets.reserveCapacity(count + 1)
        bytes.reserveCapacity(byteCount)
    }

    /// Appends the string that `write` appends to the bytes.
    mutating func append(_ write: (inout [UInt8]) -> Void) {
        write(&bytes)
        offsets.append(UInt32(bytes.count))
    }

    /// The bytes of string `id`, valid inside `body`.
    @inline(__always)
    func withString<Result>(
        _ id: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBufferPointer {
            try body(
                UnsafeBufferPointer(rebasing: $0[Int(offsets[id])..<Int(offsets[id + 1])]))
        }
    }

    /// String `id` as text; bytes that are not UTF-8 become U+FFFD.
    func text(_ id: Int) -> String {
        withString(id) { String(decoding: $0, as: UTF8.self) }
    }

    /// Makes the index over the ids that `isIndexed` accepts. It has the last of equal strings, and
    /// no empty one: that is an id without a token.
    ///
    /// - Returns: the first two ids with the same bytes, if there are any.
    mutating func index(where isIndexed: (Int) -> Bool) -> (first: Int, second: Int)? {
        var capacity = 16
        while capacity < count * 2 { capacity *= 2 }
        slots = [Int32](repeating: -1, count: capacity)
        var equal: (first: Int, second: Int)?
        for id in 0..<count where offsets[id] < offsets[id + 1] && isIndexed(id) {
            let (slot, found) = withString(id) { find($0) }
            if let found, equal == nil { equal = (Int(found), id) }
            slots[slot] = Int32(id)
        }
        return equal
    }

    /// The id of a byte string.
    func id(of string: UnsafeBufferPointer<UInt8>) -> Int32? {
        slots.isEmpty ? nil : find(string).id
    }

    /// The slot where `string` is or would be, and its id.
    private func find(_ string: UnsafeBufferPointer<UInt8>) -> (slot: Int, id: Int32?) {
        // The standard library's keyed hash: a hostile file cannot aim at one slot. Its key differs
        // between processes, but no result of a look-up shows it.
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(string))
        let mask = slots.count - 1
        var slot = hasher.finalize() & mask
        while slots[slot] >= 0 {
            let id = Int(slots[slot])
            let range = Int(offsets[id])..<Int(offsets[id + 1])
            if range.count == string.count,
                bytes.withUnsafeBufferPointer({ $0[range].elementsEqual(string) })
            {
                return (slot, Int32(id))
            }
            slot = (slot + 1) & mask
        }
        return (slot, nil)
    }
}

extension TokenTable {
    /// The table of a vocabulary's pieces, indexed.
    ///
    /// - Throws: `TokenizerError` when a piece appears twice that may not.
    init(_ definition: TokenizerDefinition) throws(TokenizerError) {
        self.init()
        let pieces = definition.pieces
        reserve(count: pieces.count, bytes: pieces.count * 8)
        for piece in pieces { append { $0.append(contentsOf: piece.utf8) } }
        guard let (first, second) = index(where: { _ in true }), !definition.repeatsPieces else {
            return
        }
        throw .invalid(
            .duplicateToken(pieces[first], first: first, second: second),
            source: definition.source)
    }

    /// The table of the bytes that tokens stand for: ordinary pieces are spelled in the byte
    /// alphabet, added tokens are their own text.
    ///
    /// - Parameters:
    ///   - pieces: the vocabulary.
    ///   - addedTokens: the tokens that the vocabulary holds as plain text.
    ///   - indexed: whether ordinary tokens will be looked up by their bytes.
    init(
        decoding pieces: TokenTable, addedTokens: [TokenizerDefinition.AddedToken], indexed: Bool
    ) {
        self.init()
        reserve(count: pieces.count, bytes: pieces.bytes.count)
        var isOrdinary = [Bool](repeating: true, count: pieces.count)
        for token in addedTokens { isOrdinary[Int(token.id)] = false }
        for id in 0..<pieces.count {
            pieces.withString(id) { piece in
                append { bytes in
                    if isOrdinary[id] {
                        isOrdinary[id] = ByteAlphabet.append(piece, to: &bytes)
                    } else {
                        bytes.append(contentsOf: piece)
                    }
                }
            }
        }
        // The alphabet spells different bytes differently, so no two ordinary tokens are equal.
        if indexed { _ = index { isOrdinary[$0] } }
    }
}
