extension TokenizerDefinition {
    /// What a SentencePiece model, or its conversion to tokenizer.json, says beside the vocabulary.
    struct SentencePieces: Sendable, Equatable {
        /// Where a space is put before the text.
        enum Prefix: String, Sendable {
            case none
            /// Before the text, not before what follows an added token.
            case first
            /// Before the text and before what follows an added token.
            case always
        }

        /// By id; nil: the definition's merges say what merges.
        var scores: [Float]?
        /// Ids of pieces that no merge makes (control, unknown, byte, user-defined, unused).
        var unmergeable: Set<Int> = []
        var prefix = Prefix.none
        /// Text that begins with a space does not get another one.
        var keepsGivenPrefix = false
        /// Every space begins a pre-token, in a run of spaces, too.
        var cutsAtEverySpace = false
        /// A character without a piece becomes `<0xXX>` for each byte.
        var fallsBackToBytes = false
        /// Decoding drops one space at the beginning of a text.
        var dropsPrefix = false
        /// Decoding drops all spaces of the first token, as tokenizers' Metaspace does.
        var dropsSpacesOfFirst = false
        /// A run of byte tokens that is not UTF-8 is decoded to nothing but U+FFFD.
        var voidsRuns = false
        /// Not nil: pieces are not merged but chosen by these scores.
        var unigram: UnigramEncoding.Scores?
        /// Not nil: the text is rewritten as SentencePiece's own library does it.
        var rules: SentencePieceRules?
        /// Not nil: the definition's `normalizers` rewrite the text, and these cut it.
        var cuts: Cuts?

        /// The pre-tokenizers of a tokenizer.json.
        struct Cuts: Sendable, Equatable {
            /// White space ends a pre-token and is dropped.
            var dropsWhiteSpace = false
            /// Spaces become U+2581, and `prefix` is put.
            var spellsSpaces = false
        }

        func isMergeable(_ id: Int) -> Bool { !unmergeable.contains(id) }

        /// The text as the merges see it.
        ///
        /// - Parameters:
        ///   - text: UTF-8, or any bytes.
        ///   - isFirst: whether the text begins here.
        ///   - goesOn: whether ordinary text comes right before, so that no space is put here.
        /// - Returns: its bytes, with U+2581 for each space.
        func normalize(
            _ text: some Collection<UInt8>, isFirst: Bool, goesOn: Bool = false
        ) -> [UInt8] {
            guard let head = text.first else { return [] }
            let space = CharacterPairEncoding.space
            var out: [UInt8] = []
            out.reserveCapacity(text.count + text.count / 2 + space.count)
            let isGiven = head == UInt8(ascii: " ") || text.starts(with: space)
            let isWanted = !goesOn && (prefix == .always || prefix == .first && isFirst)
            if isWanted && !(keepsGivenPrefix && isGiven) { out += space }
            for byte in text {
                if byte == UInt8(ascii: " ") {
                    out += space
                } else {
                    out.append(byte)
                }
            }
            return out
        }
    }
}

extension TokenizerDefinition.SentencePieces {
    /// What the digest of a definition holds of the options that not every model has; none for a
    /// model without them.
    var laterDigestContent: [UInt8] {
        var content: [UInt8] = []
        func append(_ bits: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                content.append(UInt8(truncatingIfNeeded: bits >> shift))
            }
        }
        if let unigram {
            content += Array("unigram".utf8) + [unigram.roundsToFloat ? 1 : 0]
            append(UInt64(unigram.values.count))
            for score in unigram.values { append(score.bitPattern) }
            for ids in [unigram.unmatched, unigram.preferred] {
                append(UInt64(ids.count))
                for id in ids.sorted() { append(UInt64(id)) }
            }
        }
        if let rules {
            content += Array("rules".utf8) + [rules.removesSpaces ? 1 : 0]
            content += rules.map?.digestContent ?? []
        }
        if let cuts {
            content += Array("cuts".utf8)
            content += [cuts.dropsWhiteSpace ? 1 : 0, cuts.spellsSpaces ? 1 : 0]
        }
        return content
    }
}

extension TokenizerDefinition {
    /// An added token's text as it occurs in normalized text. `effort` is told if an expression takes
    /// too long.
    func normalizedContent(_ content: String, _ effort: ExpressionEffort) -> String {
        // A longer one is refused.
        guard content.utf8.count <= TokenizerLimits.addedTokenBytes else { return content }
        if !normalizers.isEmpty || sentencePieces?.cuts != nil {
            let text = normalizers.reduce(Array(content.utf8)) { $1.applied(to: $0, effort) }
            return String(decoding: text, as: UTF8.self)
        }
        let text = content.normalized(by: normalizer)
        guard var design = sentencePieces else { return text }
        // GGUF files spell the spaces of such a token as spaces; a prefix is tokenizers' way only.
        if design.scores != nil { design.prefix = .none }
        return String(decoding: design.normalize(text.utf8, isFirst: true), as: UTF8.self)
    }
}

extension TokenizerDefinition {
    /// Normalizers may make a text much longer: what they make of added tokens is checked before all
    /// of it stands in memory.
    func checkAddedTokens(_ effort: ExpressionEffort) throws(TokenizerError) {
        for token in addedTokens where token.isNormalized {
            try check(token, normalizedContent(pieces[Int(token.id)], effort))
        }
    }

    /// Refuses an expression that took too long for the added tokens.
    func check(_ effort: ExpressionEffort) throws(TokenizerError) {
        guard let slow = effort.unfinished else { return }
        throw .unsupported(.expression(slow.expression, .tooSlow), source: source)
    }

    /// Checks the length of an added token's text.
    func check(_ token: AddedToken, _ content: String) throws(TokenizerError) {
        let limit = TokenizerLimits.addedTokenBytes
        guard content.utf8.count <= limit else {
            throw .invalid(
                .addedTokenTooLong(
                    id: Int(token.id), bytes: content.utf8.count, limit: limit), source: source)
        }
    }

    /// The pieces as they are decoded: tokenizers gives the normalized text of an added token that
    /// it looks for in normalized text.
    func decodedPieces(_ pieces: TokenTable, _ effort: ExpressionEffort) -> TokenTable {
        guard sentencePieces?.cuts != nil, addedTokens.contains(where: \.isNormalized) else {
            return pieces
        }
        var texts = self.pieces
        for token in addedTokens where token.isNormalized {
            texts[Int(token.id)] = normalizedContent(texts[Int(token.id)], effort)
        }
        var table = TokenTable()
        for text in texts { table.append { $0.append(contentsOf: text.utf8) } }
        return table
    }
}

extension TokenTable {
    /// The table of the bytes that tokens stand for: `<0x0A>` is a byte if the tokenizer falls back
    /// to bytes, U+2581 is a space, special tokens are their own text.
    init(
        decoding pieces: TokenTable, addedTokens: [TokenizerDefinition.AddedToken],
        _ design: TokenizerDefinition.SentencePieces
    ) {
        self.init()
        reserve(count: pieces.count, bytes: pieces.bytes.count)
        var isSpecial = [Bool](repeating: false, count: pieces.count)
        for token in addedTokens { isSpecial[Int(token.id)] = token.isSpecial }
        var byteOf: [[UInt8]: UInt8] = [:]
        for byte in UInt8.min...UInt8.max where design.fallsBackToBytes {
            byteOf[CharacterPairEncoding.spelling(of: byte)] = byte
        }
        for id in 0..<pieces.count {
            pieces.withString(id) { piece in
                append { bytes in
                    if piece.count == 6, let byte = byteOf[Array(piece)] {
                        bytes.append(byte)
                        return
                    }
                    var position = 0
                    while position < piece.count {
                        let isSpace = piece[position...].starts(with: CharacterPairEncoding.space)
                        bytes.append(
                            isSpace && !isSpecial[id] ? UInt8(ascii: " ") : piece[position])
                        position +=
                            isSpace && !isSpecial[id] ? CharacterPairEncoding.space.count : 1
                    }
                }
            }
        }
    }
}
