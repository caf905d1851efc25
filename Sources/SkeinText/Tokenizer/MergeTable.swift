/// Which two tokens merge, how urgently, and into what.
///
/// One open-addressing table of 64-bit words: left id (21 bits), right id (21), rank (22). A
/// look-up is one multiplication and, as the table is at most half full, one or two words of
/// memory. The table of 48,900 merges takes 1 MiB.
struct MergeTable: Sendable {
    /// The rank of a pair that does not merge.
    static let none: UInt32 = (1 << 22) - 1

    private static let empty = UInt64.max
    private var slots: [UInt64]
    /// Keeps the highest bits of the hash: the number of slots is 2^(64 - shift).
    private let shift: UInt64
    /// The id that the merge of each rank makes.
    private var merged: [Int32] = []
    /// Whether the merges of a definition name a pair twice.
    private(set) var hasRepeats = false

    /// An empty table with room for `count` merges.
    init(count: Int) {
        var bits: UInt64 = 4
        while 1 << bits < count * 2 { bits += 1 }
        shift = 64 - bits
        slots = [UInt64](repeating: Self.empty, count: 1 << bits)
        merged.reserveCapacity(count)
    }

    /// Adds the merge of the next rank.
    ///
    /// - Returns: the rank that the pair already has, if any; then nothing is added.
    mutating func append(left: Int32, right: Int32, into result: Int32) -> Int? {
        if let earlier = insert(left: left, right: right, rank: merged.count) { return earlier }
        merged.append(result)
        return nil
    }

    /// Adds the merge of the next rank, which may repeat one.
    private mutating func append(
        left: Int32, right: Int32, into result: Int32, replacing: Bool
    ) {
        let earlier = insert(left: left, right: right, rank: merged.count, replacing: replacing)
        if earlier != nil { hasRepeats = true }
        merged.append(result)
    }

    /// Adds a merge of any rank; that of a pair that has one only if it is `replacing` it.
    private mutating func insert(
        left: Int32, right: Int32, rank: Int, replacing: Bool = false
    ) -> Int? {
        let key = Self.key(left, right)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> shift)
        while slots[slot] != Self.empty {
            if slots[slot] >> 22 == key {
                let earlier = Int(slots[slot] & UInt64(Self.none))
                if replacing { slots[slot] = key << 22 | UInt64(rank) }
                return earlier
            }
            slot = (slot + 1) & mask
        }
        slots[slot] = key << 22 | UInt64(rank)
        return nil
    }

    /// Calls `body` with a reader of the table.
    @inline(__always)
    func withReader<Result>(_ body: (Reader) -> Result) -> Result {
        slots.withUnsafeBufferPointer { slots in
            merged.withUnsafeBufferPointer { merged in
                body(Reader(slots: slots, shift: shift, merged: merged))
            }
        }
    }

    @inline(__always)
    private static func key(_ left: Int32, _ right: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: left)) << 21 | UInt64(UInt32(bitPattern: right))
    }

    /// The table without reference counts; valid inside `withReader`.
    struct Reader {
        fileprivate let slots: UnsafeBufferPointer<UInt64>
        fileprivate let shift: UInt64
        /// The id that the merge of each rank makes.
        let merged: UnsafeBufferPointer<Int32>

        /// The rank of the merge of two neighbours, or `none`.
        @inline(__always)
        func rank(_ left: Int32, _ right: Int32) -> UInt32 {
            let key = MergeTable.key(left, right)
            let mask = slots.count - 1
            var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> shift)
            while true {
                let word = slots[slot]
                // The empty word ends the search with its own rank bits, which are `none`.
                if word >> 22 == key || word == MergeTable.empty {
                    return UInt32(truncatingIfNeeded: word) & MergeTable.none
                }
                slot = (slot + 1) & mask
            }
        }
    }
}

extension MergeTable {
    /// The merges of a definition.
    ///
    /// - Throws: `TokenizerError` when a merge is malformed or names an unknown token.
    init(_ definition: TokenizerDefinition, pieces: TokenTable) throws(TokenizerError) {
        self.init(count: definition.merges.count)
        var flaw: TokenizerError.Flaw?
        for (rank, var line) in definition.merges.enumerated() where flaw == nil {
            flaw = line.withUTF8 {
                Self.add(
                    $0, rank: rank, pieces: pieces, replacing: definition.takesLaterMerge,
                    to: &self)
            }
        }
        if let flaw { throw .invalid(flaw, source: definition.source) }
    }

    /// The merges of all two tokens that together spell a token, ranked by its id. Several have the
    /// same rank; which of them is meant shows in their place, and they make the same token.
    ///
    /// - Parameters:
    ///   - tokens: the bytes of all tokens, indexed.
    ///   - first: the lowest id that takes part.
    ///   - source: where they were read, for the error.
    /// - Throws: `TokenizerError` when there are too many.
    init(ranking tokens: TokenTable, from first: Int, source: String) throws(TokenizerError) {
        var pairs: [(left: Int32, right: Int32, result: Int32)] = []
        for id in first..<tokens.count {
            tokens.withString(id) { string in
                for cut in string.indices.dropFirst() {
                    guard let left = tokens.id(of: UnsafeBufferPointer(rebasing: string[..<cut])),
                        let right = tokens.id(of: UnsafeBufferPointer(rebasing: string[cut...]))
                    else { continue }
                    pairs.append((left, right, Int32(truncatingIfNeeded: id)))
                }
            }
            guard pairs.count <= TokenizerLimits.merges else {
                throw .invalid(
                    .tooManyMerges(found: pairs.count, limit: TokenizerLimits.merges),
                    source: source)
            }
        }
        self.init(count: pairs.count)
        merged = (0..<Int32(truncatingIfNeeded: tokens.count)).map { $0 }
        for pair in pairs {
            _ = insert(left: pair.left, right: pair.right, rank: Int(pair.result))
        }
    }

    /// Adds the merge "left right" to the table.
    private static func add(
        _ line: UnsafeBufferPointer<UInt8>, rank: Int, pieces: TokenTable, replacing: Bool,
        to table: inout MergeTable
    ) -> TokenizerError.Flaw? {
        let space = UInt8(ascii: " ")
        guard let middle = line.firstIndex(of: space), middle > 0, middle < line.count - 1,
            line.lastIndex(of: space) == middle
        else { return .malformedMerge(rank: rank, text: String(decoding: line, as: UTF8.self)) }
        let left = UnsafeBufferPointer(rebasing: line[..<middle])
        let right = UnsafeBufferPointer(rebasing: line[(middle + 1)...])
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: line.count - 1) { both in
            _ = both.update(fromContentsOf: left)
            _ = both[middle...].update(fromContentsOf: right)
            let result = UnsafeBufferPointer(both)
            func unknown(_ piece: UnsafeBufferPointer<UInt8>) -> TokenizerError.Flaw {
                .unknownMergeToken(rank: rank, piece: String(decoding: piece, as: UTF8.self))
            }
            guard let leftID = pieces.id(of: left) else { return unknown(left) }
            guard let rightID = pieces.id(of: right) else { return unknown(right) }
            guard let resultID = pieces.id(of: result) else { return unknown(result) }
            table.append(left: leftID, right: rightID, into: resultID, replacing: replacing)
            return nil
        }
    }
}
