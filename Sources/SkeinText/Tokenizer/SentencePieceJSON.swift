import SkeinBasics
import SkeinJSON

/// A SentencePiece model of pairs with scores as the parts of a tokenizer.json, as transformers
/// converts one: merges take the place of scores.
enum SentencePieceJSON {
    private static let space = "\u{2581}"

    /// Whether tokenizer.json gives the same tokens: not if a text gets a space before it and there
    /// are pieces of spaces that come before any merge.
    static func canState(_ definition: TokenizerDefinition) -> Bool {
        guard let design = definition.sentencePieces, design.prefix == .always else { return true }
        return !definition.addedTokens.contains {
            definition.pieces[Int($0.id)].contains(space)
        }
    }

    /// The pairs that make a piece, those of the highest score first; of one score, the longer left
    /// half first, and then the longer right one.
    static func merges(_ definition: TokenizerDefinition) -> [JSONValue] {
        guard let design = definition.sentencePieces, let scores = design.scores else { return [] }
        // By bytes: equal texts may be two spellings of an accent.
        var ids: [ArraySlice<UInt8>: Int] = [:]
        ids.reserveCapacity(definition.pieces.count)
        let bytes = definition.pieces.map { Array($0.utf8) }
        for (id, piece) in bytes.enumerated() where !design.unmergeable.contains(id) {
            ids[piece[...]] = id
        }
        var pairs: [(id: Int, cut: Int, left: Int, right: Int)] = []
        for (id, piece) in bytes.enumerated() where !design.unmergeable.contains(id) {
            var found: [(id: Int, cut: Int, left: Int, right: Int)] = []
            for cut in piece.indices.dropFirst() where piece[cut] & 0xc0 != 0x80 {
                guard let left = ids[piece[..<cut]], let right = ids[piece[cut...]] else {
                    continue
                }
                found.append((id, cut, left, right))
            }
            pairs += found.sorted { ($0.left, $0.right) < ($1.left, $1.right) }
        }
        /// Sorting in Swift is stable; characters are counted there.
        func rank(_ pair: (id: Int, cut: Int, left: Int, right: Int)) -> (Float, Int, Int) {
            (
                scores[pair.id], definition.pieces[pair.left].unicodeScalars.count,
                definition.pieces[pair.right].unicodeScalars.count
            )
        }
        let ranked = pairs.map { (pair: $0, rank: rank($0)) }
        return ranked.sorted { $0.rank > $1.rank }.map { entry in
            let parts = [entry.pair.left, entry.pair.right].map { definition.pieces[$0] }
            return .list(parts.map { .text($0) })
        }
    }

    static func normalizer(_ definition: TokenizerDefinition) -> JSONValue {
        let replace: JSONValue = .fields([
            ("type", .text("Replace")), ("pattern", .fields([("String", .text(" "))])),
            ("content", .text(space)),
        ])
        guard definition.sentencePieces?.prefix == .always else { return replace }
        let prepend: JSONValue = .fields([
            ("type", .text("Prepend")), ("prepend", .text(space)),
        ])
        return .fields([
            ("type", .text("Sequence")), ("normalizers", .list([prepend, replace])),
        ])
    }

    static func decoder(_ definition: TokenizerDefinition) -> JSONValue {
        var steps: [JSONValue] = [
            .fields([
                ("type", .text("Replace")), ("pattern", .fields([("String", .text(space))])),
                ("content", .text(" ")),
            ]), .fields([("type", .text("ByteFallback"))]),
            .fields([("type", .text("Fuse"))]),
        ]
        if definition.sentencePieces?.prefix == .always {
            steps.append(
                .fields([
                    ("type", .text("Strip")), ("content", .text(" ")), ("start", .integer(1)),
                    ("stop", .integer(0)),
                ]))
        }
        return .fields([("type", .text("Sequence")), ("decoders", .list(steps))])
    }
}
