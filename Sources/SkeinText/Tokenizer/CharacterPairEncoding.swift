/// Pair encoding of characters, as SentencePiece and its conversions to tokenizer.json do it:
/// characters become tokens, and while two neighbours have a merge, the most urgent one (the
/// leftmost of equals) is made. A character without a token becomes the tokens of its bytes.
///
/// Kudo and Richardson 2018. A space is spelled U+2581. Text is cut before such a character
/// wherever no piece of the vocabulary reaches across the cut, which changes no token.
struct CharacterPairEncoding: Sendable {
    /// U+2581 in UTF-8.
    static let space: [UInt8] = [0xE2, 0x96, 0x81]
    private static let spaceScalar: UInt32 = 0x2581

    /// The token of every code point, or -1. Ids from `vocabularySize` on stand for characters
    /// that occur in pieces without being one.
    private let characters: [Int32]
    private let strangers: [UInt32]
    private let vocabularySize: Int32
    /// The token of every byte, or -1.
    private let byteTokens: [Int32]
    private let merges: MergeTable
    /// By the rank of a merge: the lower, the more urgent.
    private let urgency: [UInt32]
    /// Characters that stand before a space inside some piece.
    private let joiners: Set<UInt32>
    private let cutsAtEverySpace: Bool
    private let unknownID: Int32?
    private let fusesUnknown: Bool

    /// Whether the merges name a pair twice.
    var hasRepeats: Bool { merges.hasRepeats }

    /// Resolves the merges, or the scores, of a definition.
    ///
    /// - Parameters:
    ///   - definition: what the file says.
    ///   - design: its `sentencePieces`.
    ///   - pieces: its vocabulary, indexed.
    /// - Throws: `TokenizerError` when a merge is malformed or names an unknown token,
    ///   when a score is not a number, or when a piece is too long to be merged.
    init(
        _ definition: TokenizerDefinition, _ design: TokenizerDefinition.SentencePieces,
        pieces: TokenTable
    ) throws(TokenizerError) {
        let vocabularySize = pieces.count
        var characters = [Int32](repeating: -1, count: 0x110000)
        var joiners: Set<UInt32> = []
        for id in 0..<vocabularySize where design.isMergeable(id) {
            pieces.withString(id) { piece in
                var position = 0
                var previous: UInt32?
                while let (scalar, length) = piece.scalar(at: position) {
                    if length == piece.count { characters[Int(scalar)] = Int32(id) }
                    if scalar == Self.spaceScalar, let previous { joiners.insert(previous) }
                    previous = scalar
                    position += length
                }
            }
        }
        var strangers: [UInt32] = []
        let resolved: (table: MergeTable, urgency: [UInt32])
        if let scores = design.scores {
            resolved = try Self.merges(
                of: scores, definition, design, pieces, &characters, &strangers)
        } else {
            let table = try MergeTable(definition, pieces: pieces)
            resolved = (table, (0..<UInt32(definition.merges.count)).map(\.self))
        }
        self.characters = characters
        self.strangers = strangers
        self.vocabularySize = Int32(vocabularySize)
        byteTokens = (0..<256).map { byte in
            guard design.fallsBackToBytes else { return -1 }
            return Self.spelling(of: UInt8(byte)).withUnsafeBufferPointer {
                pieces.id(of: $0) ?? -1
            }
        }
        merges = resolved.table
        urgency = resolved.urgency
        self.joiners = joiners
        cutsAtEverySpace = design.cutsAtEverySpace
        unknownID = definition.unknownID
        fusesUnknown = definition.fusesUnknown
    }

    /// Every way to make a piece of two pieces or characters; the higher the score of the result,
    /// the more urgent.
    private static func merges(
        of scores: [Float], _ definition: TokenizerDefinition,
        _ design: TokenizerDefinition.SentencePieces, _ pieces: TokenTable,
        _ characters: inout [Int32], _ strangers: inout [UInt32]
    ) throws(TokenizerError) -> (table: MergeTable, urgency: [UInt32]) {
        if let id = scores.firstIndex(where: { !$0.isFinite }) {
            throw .invalid(.scoreNotFinite(id: id), source: definition.source)
        }
        let descending = scores.indices.sorted { scores[$0] > scores[$1] }
        var order = [UInt32](repeating: 0, count: scores.count)
        var level: UInt32 = 0
        for (place, id) in descending.enumerated() {
            if place > 0, scores[descending[place - 1]] != scores[id] { level += 1 }
            order[id] = level
        }
        var found: [(left: Int32, right: Int32, result: Int32)] = []
        for id in 0..<pieces.count where design.isMergeable(id) {
            let flaw = pieces.withString(id) { piece -> TokenizerError.Flaw? in
                guard let first = piece.scalar(at: 0), first.length < piece.count else {
                    return nil
                }
                guard piece.count <= TokenizerLimits.scoredPieceBytes else {
                    return .scoredPieceTooLong(
                        id: id, bytes: piece.count, limit: TokenizerLimits.scoredPieceBytes)
                }
                func part(_ range: Range<Int>) -> Int32? {
                    let bytes = UnsafeBufferPointer(rebasing: piece[range])
                    if let (scalar, length) = bytes.scalar(at: 0), length == bytes.count {
                        if characters[Int(scalar)] < 0 {
                            characters[Int(scalar)] = Int32(pieces.count + strangers.count)
                            strangers.append(scalar)
                        }
                        return characters[Int(scalar)]
                    }
                    return pieces.id(of: bytes).flatMap { design.isMergeable(Int($0)) ? $0 : nil }
                }
                var middle = first.length
                while middle < piece.count, let (_, length) = piece.scalar(at: middle) {
                    if let left = part(0..<middle), let right = part(middle..<piece.count) {
                        found.append((left, right, Int32(id)))
                    }
                    middle += length
                }
                guard found.count <= TokenizerLimits.merges else {
                    return .tooManyMerges(found: found.count, limit: TokenizerLimits.merges)
                }
                let size = pieces.count + strangers.count
                return size <= TokenizerLimits.tokens
                    ? nil : .tooManyTokens(found: size, limit: TokenizerLimits.tokens)
            }
            if let flaw { throw .invalid(flaw, source: definition.source) }
        }
        var table = MergeTable(count: found.count)
        var urgency: [UInt32] = []
        urgency.reserveCapacity(found.count)
        for merge in found {
            // Two ids make one piece in one way, so no pair is there twice.
            if table.append(left: merge.left, right: merge.right, into: merge.result) == nil {
                urgency.append(order[Int(merge.result)])
            }
        }
        return (table, urgency)
    }

    /// `<0x0A>` for 10.
    static func spelling(of byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return Array("<0x".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            + [UInt8(ascii: ">")]
    }

    /// Appends the tokens of normalized text.
    func encode(
        _ text: UnsafeBufferPointer<UInt8>, workspace: inout MergeWorkspace,
        into out: inout [Int32]
    ) {
        var start = 0
        while start < text.count {
            let end = min(wordEnd(in: text, from: start), start + TokenizerLimits.preTokenBytes)
            workspace.prepare(for: end - start)
            let word = UnsafeBufferPointer(rebasing: text[start..<end])
            let count = fill(workspace.symbols, from: word)
            if count > 1 { merge(count, in: &workspace) }
            var position = count > 0 ? 0 : -1
            while position >= 0 {
                append(workspace.symbols[position].id, to: &out)
                position = Int(workspace.symbols[position].next)
            }
            start = end
        }
    }

    /// Where no merge can reach across, at the next space after `start` or later.
    private func wordEnd(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var position = start
        var previous: UInt32?
        while position < text.count {
            let (scalar, length) = text.scalar(at: position) ?? (.max, 1)
            if scalar == Self.spaceScalar, let previous,
                cutsAtEverySpace || !joiners.contains(previous)
            {
                return position
            }
            previous = scalar
            position += length
        }
        return position
    }

    /// Writes the symbols of a word: of its characters, or of their bytes.
    private func fill(
        _ symbols: UnsafeMutablePointer<MergeWorkspace.Symbol>,
        from word: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var count = 0
        var lastWasUnknown = false
        func append(_ id: Int32) {
            symbols[count] = MergeWorkspace.Symbol(
                id: id, previous: Int32(truncatingIfNeeded: count - 1),
                next: Int32(truncatingIfNeeded: count + 1), rank: MergeTable.none)
            count += 1
        }
        characters.withUnsafeBufferPointer { characters in
            var position = 0
            while position < word.count {
                let (scalar, length) = word.scalar(at: position) ?? (.max, 1)
                let id = scalar == .max ? -1 : characters[Int(scalar)]
                let bytes = word[position..<(position + length)]
                position += length
                if id >= 0 {
                    append(id)
                    lastWasUnknown = false
                } else if bytes.allSatisfy({ byteTokens[Int($0)] >= 0 }) {
                    for byte in bytes { append(byteTokens[Int(byte)]) }
                    lastWasUnknown = false
                } else if let unknownID, !(fusesUnknown && lastWasUnknown) {
                    append(unknownID)
                    lastWasUnknown = true
                }
            }
        }
        if count > 0 { symbols[count - 1].next = -1 }
        return count
    }

    /// Merges the first `count` symbols of the workspace until no two neighbours merge.
    private func merge(_ count: Int, in workspace: inout MergeWorkspace) {
        let symbols = workspace.symbols
        merges.withReader { table in
            urgency.withUnsafeBufferPointer { urgency in
                func look(_ position: Int, _ workspace: inout MergeWorkspace) {
                    let next = Int(symbols[position].next)
                    let rank =
                        next < 0
                        ? MergeTable.none : table.rank(symbols[position].id, symbols[next].id)
                    symbols[position].rank = rank
                    guard rank != MergeTable.none else { return }
                    workspace.push(rank: urgency[Int(rank)], position: position)
                }
                for position in 0..<(count - 1) { look(position, &workspace) }
                while let (wanted, position) = workspace.pop() {
                    // A stale candidate: its pair is gone, and no other as urgent stands there.
                    let rank = symbols[position].rank
                    guard rank != MergeTable.none, urgency[Int(rank)] == wanted else { continue }
                    let dead = Int(symbols[position].next)
                    let after = symbols[dead].next
                    symbols[dead].rank = MergeTable.none
                    symbols[position].id = table.merged[Int(rank)]
                    symbols[position].next = after
                    if after >= 0 {
                        symbols[Int(after)].previous = Int32(truncatingIfNeeded: position)
                    }
                    look(position, &workspace)
                    let before = Int(symbols[position].previous)
                    if before >= 0 { look(before, &workspace) }
                }
            }
        }
    }

    /// Appends a token; of a character that is not a token, its bytes or the unknown token.
    private func append(_ id: Int32, to out: inout [Int32]) {
        guard id >= vocabularySize else { return out.append(id) }
        guard let scalar = Unicode.Scalar(strangers[Int(id - vocabularySize)]) else { return }
        let tokens = String(scalar).utf8.map { byteTokens[Int($0)] }
        if tokens.allSatisfy({ $0 >= 0 }) {
            out += tokens
        } else if let unknownID, !(fusesUnknown && out.last == unknownID) {
            out.append(unknownID)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The code point at `position` and its number of bytes; nil at the end and where the bytes are
    /// not valid UTF-8 (Unicode 16.0, table 3-7).
    @inline(__always)
    func scalar(at position: Int) -> (scalar: UInt32, length: Int)? {
        guard position < count else { return nil }
        let first = UInt32(self[position])
        if first < 0x80 { return (first, 1) }
        guard first >= 0xC2, first <= 0xF4 else { return nil }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard position + length <= count else { return nil }
        var scalar = first & (0x7F >> UInt32(length))
        for i in 1..<length {
            let byte = UInt32(self[position + i])
            guard byte & 0xC0 == 0x80 else { return nil }
            scalar = scalar << 6 | byte & 0x3F
        }
        if length == 3, scalar < 0x800 || scalar & 0x1F_F800 == 0xD800 { return nil }
        if length == 4, scalar < 0x1_0000 || scalar > 0x10_FFFF { return nil }
        return (scalar, length)
    }
}
