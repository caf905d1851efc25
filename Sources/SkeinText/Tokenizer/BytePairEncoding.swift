/// Byte pair encoding of one pre-token: bytes become tokens, and while two neighbours have a merge,
/// the most urgent one (the leftmost of equals) is made.
///
/// Sennrich et al. 2016, on bytes as in GPT-2. A linked list and a heap make it O(n log n) for any
/// pre-token; `BytePairEncodingTests` checks it against the definition above, done by rescanning.
struct BytePairEncoding: Sendable {
    /// The token of every byte, or -1.
    private let byteTokens: [Int32]
    private let merges: MergeTable
    /// The vocabulary by bytes: a pre-token that is in it is not taken apart.
    private let wholeTokens: TokenTable?
    private let unknownID: Int32?
    private let fusesUnknown: Bool

    /// Whether the merges name a pair twice.
    var hasRepeats: Bool { merges.hasRepeats }

    /// Resolves the merges of a definition.
    ///
    /// - Parameters:
    ///   - definition: where the merges and the flags come from.
    ///   - pieces: its vocabulary, indexed.
    ///   - wholeTokens: the ordinary tokens by bytes, indexed, when the definition ignores merges.
    /// - Throws: `TokenizerError` when a merge is malformed or names an unknown token.
    init(
        _ definition: TokenizerDefinition, pieces: TokenTable, wholeTokens: TokenTable?
    ) throws(TokenizerError) {
        byteTokens = (0..<256).map { byte in
            ByteAlphabet.spelling(of: UInt8(byte)).withUnsafeBufferPointer {
                pieces.id(of: $0) ?? -1
            }
        }
        if let first = definition.firstRankedID, let wholeTokens {
            merges = try MergeTable(
                ranking: wholeTokens, from: Int(first), source: definition.source)
        } else {
            merges = try MergeTable(definition, pieces: pieces)
        }
        self.wholeTokens = wholeTokens
        unknownID = definition.unknownID
        fusesUnknown = definition.fusesUnknown
    }

    /// Appends the tokens of one pre-token.
    @inline(__always)
    func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, workspace: inout MergeWorkspace,
        into out: inout [Int32]
    ) {
        if let wholeTokens, let id = wholeTokens.id(of: bytes) {
            out.append(id)
            return
        }
        workspace.prepare(for: bytes.count)
        let count = fill(workspace.symbols, from: bytes)
        guard count > 1 else {
            if count == 1 { out.append(workspace.symbols[0].id) }
            return
        }
        merges.withReader { Self.merge(count, in: &workspace, by: $0) }
        var position = 0
        while position >= 0 {
            out.append(workspace.symbols[position].id)
            position = Int(workspace.symbols[position].next)
        }
    }

    /// Writes the symbols of the bytes; a byte without a token is dropped or becomes unknown.
    ///
    /// - Returns: the number of symbols.
    @inline(__always)
    private func fill(
        _ symbols: UnsafeMutablePointer<MergeWorkspace.Symbol>,
        from bytes: UnsafeBufferPointer<UInt8>
    ) -> Int {
        byteTokens.withUnsafeBufferPointer { byteTokens in
            var count = 0
            var lastWasUnknown = false
            for byte in bytes {
                var id = byteTokens[Int(byte)]
                if id < 0 {
                    guard let unknownID, !(fusesUnknown && lastWasUnknown) else { continue }
                    id = unknownID
                    lastWasUnknown = true
                } else {
                    lastWasUnknown = false
                }
                symbols[count] = MergeWorkspace.Symbol(
                    id: id, previous: Int32(truncatingIfNeeded: count - 1),
                    next: Int32(truncatingIfNeeded: count + 1), rank: MergeTable.none)
                count += 1
            }
            if count > 0 { symbols[count - 1].next = -1 }
            return count
        }
    }

    /// Merges the first `count` symbols of the workspace until no two neighbours merge.
    @inline(__always)
    private static func merge(
        _ count: Int, in workspace: inout MergeWorkspace, by table: MergeTable.Reader
    ) {
        let symbols = workspace.symbols
        for position in 0..<(count - 1) {
            let rank = table.rank(symbols[position].id, symbols[position + 1].id)
            symbols[position].rank = rank
            if rank != MergeTable.none { workspace.push(rank: rank, position: position) }
        }
        while let (rank, position) = workspace.pop() {
            // A stale candidate is recognised by its rank, which belongs to one pair or to pairs
            // that make the same token.
            guard symbols[position].rank == rank else { continue }
            let merged = table.merged[Int(rank)]
            let dead = Int(symbols[position].next)
            let after = Int(symbols[dead].next)
            let before = Int(symbols[position].previous)
            symbols[dead].rank = MergeTable.none
            symbols[position].id = merged
            symbols[position].next = Int32(truncatingIfNeeded: after)
            symbols[position].rank = MergeTable.none
            if after >= 0 {
                symbols[after].previous = Int32(truncatingIfNeeded: position)
                let rank = table.rank(merged, symbols[after].id)
                symbols[position].rank = rank
                if rank != MergeTable.none { workspace.push(rank: rank, position: position) }
            }
            if before >= 0 {
                let rank = table.rank(symbols[before].id, merged)
                symbols[before].rank = rank
                if rank != MergeTable.none { workspace.push(rank: rank, position: before) }
            }
        }
    }
}
