import SkeinBasics

extension TokenizerDefinition {
    /// What exceeds the limits or points outside the vocabulary, found before any table is made.
    var sizeFlaw: TokenizerError.Flaw? {
        if pieces.isEmpty { return .noTokens }
        if pieces.count > TokenizerLimits.tokens {
            return .tooManyTokens(found: pieces.count, limit: TokenizerLimits.tokens)
        }
        if merges.count > TokenizerLimits.merges {
            return .tooManyMerges(found: merges.count, limit: TokenizerLimits.merges)
        }
        var bytes = 0
        for piece in pieces {
            bytes += piece.utf8.count
            if bytes > TokenizerLimits.pieceBytes {
                return .tooManyPieceBytes(limit: TokenizerLimits.pieceBytes)
            }
        }
        let roles: [(String, Int32?)] = [
            ("bos_token", beginID), ("eos_token", endID), ("unk_token", unknownID),
        ]
        for (role, id) in roles + addedTokens.map({ ("added token", $0.id) }) {
            guard let id, id < 0 || Int(id) >= pieces.count else { continue }
            return .idOutOfRange(piece: role, id: Int(id), limit: pieces.count)
        }
        return nil
    }

    /// SHA-256 of all that the tokens of a text depend on. Which token begins or ends a text is not
    /// a part of it.
    func contentDigest() -> SHA256.Digest {
        var content: [UInt8] = []
        content.reserveCapacity(pieces.count * 12 + merges.count * 14)
        func append(_ number: Int) {
            withUnsafeBytes(of: UInt32(number).littleEndian) { content.append(contentsOf: $0) }
        }
        func append(_ text: String) {
            append(text.utf8.count)
            content.append(contentsOf: text.utf8)
        }
        func append(_ flags: Bool...) {
            for flag in flags { content.append(flag ? 1 : 0) }
        }
        append("skein tokenizer 1")
        append(preTokenizer.rawValue)
        append(normalizer.rawValue)
        append(addsPrefixSpace, ignoresMerges, fusesUnknown, unknownID != nil)
        append(Int(unknownID ?? 0))
        append(pieces.count)
        for piece in pieces { append(piece) }
        append(merges.count)
        for merge in merges { append(merge) }
        append(addedTokens.count)
        for token in addedTokens.sorted(by: { $0.id < $1.id }) {
            append(Int(token.id))
            append(
                token.isSpecial, token.isNormalized, token.isSingleWord, token.stripsLeft,
                token.stripsRight)
        }
        return SHA256.digest(of: content)
    }
}
