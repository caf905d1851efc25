extension TokenizerDefinition {
    /// Adds the tokens that a tokenizer_config.json calls `bos_token` and `eos_token` if the vocabulary
    /// lacks one of them.
    ///
    /// As transformers does, they get the next ids, after the tokens of `added_tokens_decoder` that the
    /// vocabulary lacks, too; the numbers that stand there do not count. Whether the model has
    /// embeddings for them shows when a text needs them.
    ///
    /// - Parameters:
    ///   - roles: of the file.
    ///   - source: its path.
    /// - Throws: `TokenizerError` for a number that is none, and for too many tokens.
    mutating func addNamedTokens(
        of roles: TokenizerConfigurationFile, source: String
    ) throws(TokenizerError) {
        let named = [roles.beginToken, roles.endToken].compactMap(\.self)
        guard named.contains(where: { !$0.piece.isEmpty && pieceID(of: $0.piece) == nil }) else {
            return
        }
        var table = TokenTable()
        for piece in pieces { table.append { $0.append(contentsOf: piece.utf8) } }
        _ = table.index { _ in true }
        func isKnown(_ piece: String) -> Bool {
            var piece = piece
            return piece.withUTF8 { $0.isEmpty || table.id(of: $0) != nil }
        }
        var listed: [(id: Int, token: TokenizerConfigurationFile.AddedToken)] = []
        for (key, token) in roles.addedTokens ?? [:] {
            guard let id = Int(key), String(id) == key else {
                throw .invalid(
                    .wrongType(path: "added_tokens_decoder.\(key)", expected: "a token id"),
                    source: source)
            }
            listed.append((id, token))
        }
        listed.sort { ($0.id, $0.token.content) < ($1.id, $1.token.content) }
        var given: Set<[UInt8]> = []
        var highest = addedTokens.reduce(-1) { max($0, Int($1.id)) }
        for token in listed.map(\.token) + named.map(\.token)
        where !isKnown(token.content) && given.insert(Array(token.content.utf8)).inserted {
            var id = max(modelTokenCount, highest + 1)
            while id < pieces.count, !pieces[id].isEmpty { id += 1 }
            let limit = TokenizerLimits.tokens
            guard id < limit else {
                throw .invalid(.tooManyTokens(found: id + 1, limit: limit), source: source)
            }
            setPiece(token.content, at: id)
            addedTokens.append(AddedToken(token, id: Int32(truncatingIfNeeded: id)))
            highest = id
        }
    }

    /// Puts a token at an id, which may be behind all others. A SentencePiece model makes it of nothing
    /// else.
    mutating func setPiece(_ piece: String, at id: Int) {
        while pieces.count <= id {
            sentencePieces?.scores?.append(0)
            sentencePieces?.unmergeable.insert(pieces.count)
            pieces.append("")
        }
        pieces[id] = piece
        if sentencePieces?.scores != nil { sentencePieces?.unmergeable.insert(id) }
        sentencePieces?.unigram?.unmatched.insert(id)
    }
}

extension TokenizerDefinition.AddedToken {
    /// A token of a tokenizer_config.json.
    init(_ token: TokenizerConfigurationFile.AddedToken, id: Int32) {
        self.init(
            id: id, isSpecial: token.special ?? false, isNormalized: token.normalized ?? false,
            isSingleWord: token.isSingleWord ?? false, stripsLeft: token.stripsLeft ?? false,
            stripsRight: token.stripsRight ?? false)
    }
}

extension TokenizerConfigurationFile.Name {
    /// The token that transformers adds for it.
    fileprivate var token: TokenizerConfigurationFile.AddedToken {
        TokenizerConfigurationFile.AddedToken(
            content: piece, special: true, normalized: form?.normalized,
            isSingleWord: form?.isSingleWord, stripsLeft: form?.stripsLeft,
            stripsRight: form?.stripsRight)
    }
}
