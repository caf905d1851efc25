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

extension TokenizerDefinition {
    /// An added token's text as it occurs in normalized text.
    func normalizedContent(_ content: String) -> String {
        let text = content.normalized(by: normalizer)
        guard var design = sentencePieces else { return text }
        // GGUF files spell the spaces of such a token as spaces; a prefix is tokenizers' way only.
        if design.scores != nil { design.prefix = .none }
        return String(decoding: design.normalize(text.utf8, isFirst: true), as: UTF8.self)
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
