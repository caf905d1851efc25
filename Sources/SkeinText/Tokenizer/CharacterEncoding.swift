import SkeinBasics

/// Byte pair encoding that begins with characters, as SentencePiece does it: text whose spaces are
/// "▁" becomes one symbol a character, and while two neighbours merge, the most urgent merge (the
/// leftmost of equals) is made. A character without a token becomes its bytes, "<0xE2>" and so on, or
/// the unknown token.
///
/// Kudo and Richardson 2018. A file gives either merges in order (tokenizer.json) or a score for each
/// token (SentencePiece, GGUF), which makes every way to put the token together from two others as
/// urgent as the score is high.
struct CharacterEncoding: Sendable {
    /// "▁", U+2581.
    static let space: [UInt8] = [0xE2, 0x96, 0x81]

    private let pieces: TokenTable
    /// The token of each ASCII character, or -1.
    private let asciiTokens: [Int32]
    /// The token of every byte, or empty without byte fallback.
    private let byteTokens: [Int32]
    private let merges: MergeTable
    /// How urgent each merge is, 0 the most; empty: as they are numbered.
    private let urgencies: [UInt32]
    private let unknownID: Int32?
    private let fusesUnknown: Bool
    /// Whether a token joins a character that ends with this byte to a space after it. Elsewhere a
    /// text can be cut before a space without changing a merge.
    private let joinsSpace: [Bool]
    private let cutsAtEverySpace: Bool

    /// Resolves the merges of a definition.
    ///
    /// - Parameters:
    ///   - definition: its vocabulary, and merges or scores.
    ///   - pieces: the vocabulary, indexed.
    /// - Throws: `TokenizerError` when a merge is malformed, repeated or names an unknown token, or
    ///   when there are too many.
    init(_ definition: TokenizerDefinition, pieces: TokenTable) throws(TokenizerError) {
        self.pieces = pieces
        var byID = [Int32](repeating: -1, count: 128)
        for character in 0..<128 {
            byID[character] = withUnsafePointer(to: UInt8(character)) {
                pieces.id(of: UnsafeBufferPointer(start: $0, count: 1)) ?? -1
            }
        }
        asciiTokens = byID
        let isPlain = definition.isPlain
        (merges, urgencies) =
            definition.scores.isEmpty
            ? (try MergeTable(definition, pieces: pieces), [])
            : try Self.merges(ofScores: definition, pieces: pieces, isPlain: isPlain)
        byteTokens = definition.fallsBackToBytes ? Self.byteTokens(pieces) : []
        unknownID = definition.unknownID
        fusesUnknown = definition.fusesUnknown
        cutsAtEverySpace = definition.spaces.cutsAtEach
        var joins = [Bool](repeating: false, count: 256)
        for id in 0..<pieces.count where isPlain[id] {
            pieces.withString(id) { piece in
                var at = 1
                while at + 2 < piece.count {
                    if Self.isSpace(piece, at), !Self.isSpace(piece, at - 3) {
                        joins[Int(piece[at - 1])] = true
                    }
                    at += 1
                }
            }
        }
        joinsSpace = joins
    }

    /// The tokens "<0x00>" to "<0xFF>"; empty when one is missing.
    private static func byteTokens(_ pieces: TokenTable) -> [Int32] {
        let digits = Array("0123456789ABCDEF".utf8)
        let tokens = (0..<256).compactMap { byte -> Int32? in
            let name = Array("<0x".utf8) + [digits[byte >> 4], digits[byte & 15]] + Array(">".utf8)
            return name.withUnsafeBufferPointer { pieces.id(of: $0) }
        }
        return tokens.count == 256 ? tokens : []
    }

    /// Every way to put a token together from two others, and how urgent each is.
    private static func merges(
        ofScores definition: TokenizerDefinition, pieces: TokenTable, isPlain: [Bool]
    ) throws(TokenizerError) -> (MergeTable, [UInt32]) {
        let scores = definition.scores
        let order = scores.indices.filter { isPlain[$0] }.sorted {
            (scores[$1], $0) < (scores[$0], $1)
        }
        var pairs: [(left: Int32, right: Int32, result: Int32, urgency: UInt32)] = []
        var urgency: UInt32 = 0
        for (place, id) in order.enumerated() {
            if place > 0, scores[order[place - 1]] != scores[id] { urgency += 1 }
            pieces.withString(id) { piece in
                for cut in 1..<max(1, piece.count) where piece[cut] & 0xC0 != 0x80 {
                    guard
                        let left = pieces.id(of: UnsafeBufferPointer(rebasing: piece[..<cut])),
                        let right = pieces.id(of: UnsafeBufferPointer(rebasing: piece[cut...])),
                        isPlain[Int(left)], isPlain[Int(right)]
                    else { continue }
                    pairs.append((left, right, Int32(truncatingIfNeeded: id), urgency))
                }
            }
            guard pairs.count <= TokenizerLimits.merges else {
                throw .invalid(
                    .tooManyMerges(found: pairs.count, limit: TokenizerLimits.merges),
                    source: definition.source)
            }
        }
        var table = MergeTable(count: pairs.count)
        // Two pairs are never equal: their left token and the result determine the right one.
        for pair in pairs { _ = table.append(left: pair.left, right: pair.right, into: pair.result) }
        return (table, pairs.map(\.urgency))
    }

    private static func isSpace(_ text: UnsafeBufferPointer<UInt8>, _ at: Int) -> Bool {
        at >= 0 && at + 2 < text.count && text[at] == space[0] && text[at + 1] == space[1]
            && text[at + 2] == space[2]
    }

    /// Appends the tokens of text without added tokens, its spaces replaced.
    func encode(
        _ text: UnsafeBufferPointer<UInt8>, workspace: inout MergeWorkspace,
        into out: inout [Int32]
    ) {
        var start = 0
        while start < text.count {
            let end = min(self.end(of: text, from: start), start + TokenizerLimits.preTokenBytes)
            encodePart(
                UnsafeBufferPointer(rebasing: text[start..<end]), workspace: &workspace, into: &out)
            start = end
        }
    }

    /// Where the text can be cut next: no merge joins what is before with what is after.
    private func end(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var at = start + 1
        while at < text.count {
            if text[at] == Self.space[0], Self.isSpace(text, at),
                cutsAtEverySpace
                    || (!joinsSpace[Int(text[at - 1])] && !Self.isSpace(text, at - 3))
            {
                return at
            }
            at += 1
        }
        return text.count
    }

    private func encodePart(
        _ text: UnsafeBufferPointer<UInt8>, workspace: inout MergeWorkspace,
        into out: inout [Int32]
    ) {
        workspace.prepare(for: text.count)
        let count = fill(workspace.symbols, from: text)
        guard count > 1 else {
            if count == 1 { out.append(workspace.symbols[0].id) }
            return
        }
        merges.withReader { reader in
            if urgencies.isEmpty {
                BytePairEncoding.merge(count, in: &workspace, by: reader) { $0 }
            } else {
                urgencies.withUnsafeBufferPointer { urgencies in
                    BytePairEncoding.merge(count, in: &workspace, by: reader) { urgencies[Int($0)] }
                }
            }
        }
        var position = 0
        while position >= 0 {
            out.append(workspace.symbols[position].id)
            position = Int(workspace.symbols[position].next)
        }
    }

    /// Writes the symbols of the characters.
    ///
    /// - Returns: how many; at most one a byte.
    private func fill(
        _ symbols: UnsafeMutablePointer<MergeWorkspace.Symbol>,
        from text: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var count = 0
        var lastWasUnknown = false
        func add(_ id: Int32) {
            symbols[count] = MergeWorkspace.Symbol(
                id: id, previous: Int32(truncatingIfNeeded: count - 1),
                next: Int32(truncatingIfNeeded: count + 1), rank: MergeTable.none)
            count += 1
        }
        var at = 0
        while at < text.count {
            let length = Self.characterLength(text, at)
            let id: Int32? =
                length == 1 && text[at] < 0x80
                ? asciiTokens[Int(text[at])]
                : pieces.id(of: UnsafeBufferPointer(rebasing: text[at..<(at + length)]))
            if let id, id >= 0 {
                add(id)
                lastWasUnknown = false
            } else if !byteTokens.isEmpty {
                for byte in text[at..<(at + length)] { add(byteTokens[Int(byte)]) }
                lastWasUnknown = false
            } else if let unknownID, !(fusesUnknown && lastWasUnknown) {
                add(unknownID)
                lastWasUnknown = true
            }
            at += length
        }
        if count > 0 { symbols[count - 1].next = -1 }
        return count
    }

    /// Bytes of the character at `at`; 1 for a byte that begins none.
    private static func characterLength(_ text: UnsafeBufferPointer<UInt8>, _ at: Int) -> Int {
        let first = text[at]
        if first < 0xC2 { return 1 }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1
        guard at + length <= text.count else { return 1 }
        for i in 1..<max(1, length) where text[at + i] & 0xC0 != 0x80 { return 1 }
        return length
    }
}
