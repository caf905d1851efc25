import SkeinBasics

/// Everything that defines a BPE tokenizer, whatever file it was read from.
///
/// Readers check types and ids. `TokenTable` and `BytePairEncoding` check whether the vocabulary
/// and the merges agree, when a `Tokenizer` is made.
struct TokenizerDefinition: Sendable {
    /// A token that is cut out of the text before anything else happens to it.
    struct AddedToken: Sendable, Equatable {
        var id: Int32
        /// Marks structure (a turn, the end), not text.
        var isSpecial = false
        /// Matched in the normalized text, after those that are matched in the raw one.
        var isNormalized = false
        /// Matched only between characters that are not part of a word.
        var isSingleWord = false
        /// Swallows the white space before it.
        var stripsLeft = false
        /// Swallows the white space after it.
        var stripsRight = false
    }

    /// What happens to the text between added tokens before it is cut into pre-tokens.
    enum Normalizer: String, Sendable {
        case none
        /// Unicode normalization form C.
        case composed = "NFC"
    }

    /// Where it was read: the file, or "GGUF metadata". For errors.
    var source: String
    /// The vocabulary by id. Ordinary tokens are spelled in the byte alphabet, added ones as is; "" is
    /// an id without a token.
    var pieces: [String]
    /// Whether several ids may have one piece, of which a text gets the last.
    var repeatsPieces = false
    /// Tokens of the model itself. Those that are added get ids behind them.
    var modelTokenCount = 0
    var addedTokens: [AddedToken] = []
    /// "left right", the most urgent first.
    var merges: [String]
    /// Which of two equal merges counts: the later one in tokenizers, the earlier one in llama.cpp.
    var takesLaterMerge = false
    /// Not nil: in place of `merges`, any two tokens merge that together spell one, the lowest id
    /// first. The ids below this one are not such tokens.
    var firstRankedID: Int32?
    var preTokenizer: PreTokenizer
    /// Not nil: these cut the text, and `preTokenizer` is `whole`.
    var preTokenSteps: PreTokenSteps?
    /// Puts a space before every stretch of text that does not begin with one.
    var addsPrefixSpace = false
    var normalizer = Normalizer.none
    /// A pre-token in the vocabulary is that token, whatever the merges would make of it.
    var ignoresMerges = false
    /// Stands for a byte that the vocabulary lacks; nil: such bytes are dropped.
    var unknownID: Int32?
    /// One unknown token for a run of such bytes.
    var fusesUnknown = false
    var beginID: Int32?
    var endID: Int32?
    /// Whether the model expects `beginID` before every text.
    var addsBeginToken = false
    /// What a chat template sees as `bos_token` and `eos_token`.
    var templateTokens = TemplateTokens()
    /// Steps that come in place of `normalizer`, in order.
    var normalizers: [TextNormalizer] = []
    /// Not nil: characters, not bytes, are merged, and `preTokenizer` is `whole`.
    var sentencePieces: SentencePieces?
}

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

    /// The merges, each once: of equal ones that which counts.
    func uniqueMerges() -> [String] {
        var seen: Set<[UInt8]> = []
        func isFirst(_ merge: String) -> Bool { seen.insert(Array(merge.utf8)).inserted }
        guard takesLaterMerge else { return merges.filter(isFirst) }
        return merges.reversed().filter(isFirst).reversed()
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
        // Without this, the digest of a byte-level tokenizer, which keys caches, is as it was.
        if let design = sentencePieces {
            append("sentencepiece")
            append(design.prefix.rawValue)
            append(
                design.keepsGivenPrefix, design.cutsAtEverySpace, design.fallsBackToBytes,
                design.dropsPrefix, design.scores != nil)
            append(design.unmergeable.count)
            for id in design.unmergeable.sorted() { append(id) }
            for score in design.scores ?? [] { append(Int(score.bitPattern)) }
            content += design.laterDigestContent
        }
        for step in normalizers {
            append("normalizer")
            append(step.digestContent.count)
            content += step.digestContent
        }
        if let firstRankedID {
            append("ranks")
            append(Int(firstRankedID))
        }
        if let preTokenSteps {
            append("pre-tokenizer")
            append(preTokenSteps.description)
        }
        return SHA256.digest(of: content)
    }
}
