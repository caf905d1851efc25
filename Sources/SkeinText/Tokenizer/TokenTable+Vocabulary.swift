extension TokenTable {
    /// The table of a vocabulary's pieces, indexed.
    ///
    /// - Throws: `TokenizerError` when a piece appears twice.
    init(pieces: [String], source: String) throws(TokenizerError) {
        self.init()
        reserve(count: pieces.count, bytes: pieces.count * 8)
        for piece in pieces { append { $0.append(contentsOf: piece.utf8) } }
        guard let (first, second) = index(where: { _ in true }) else { return }
        throw .invalid(
            .duplicateToken(pieces[first], first: first, second: second), source: source)
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
