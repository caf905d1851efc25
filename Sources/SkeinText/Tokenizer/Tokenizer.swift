import SkeinBasics
import SkeinFormats

/// Text to token ids and back: byte-level byte pair encoding, or SentencePiece's of characters, as
/// the model's own files define it.
///
/// A text goes through four stages: added tokens are cut out, the text between them is normalized
/// and cut into pre-tokens, and each pre-token is merged to tokens on its own. Every stage is a
/// pure function of its input and the definition. Nothing is cached between calls, so any number of
/// threads can use a value.
package struct Tokenizer: Sendable {
    /// Marks the beginning of a text, if the model has such a token.
    package let beginID: Int32?
    /// Marks the end of a text, if the model has such a token.
    package let endID: Int32?
    /// Whether the model expects `beginID` before every text: `ids(ofWhole:)` adds it, `ids(of:)`
    /// never does.
    package let addsBeginToken: Bool
    /// What the model's chat template sees of these two. Not always their pieces: transformers
    /// gives a template the token that tokenizer_config.json names, and puts before a text the one
    /// that tokenizer.json names.
    package let templateTokens: TemplateTokens
    /// Tokens that end a turn of a conversation or a text: a generator stops at them.
    package internal(set) var endOfTurnIDs: Set<Int32>
    /// SHA-256 of all that `ids(of:)` depends on. Equal for one tokenizer, whether it was read from a
    /// GGUF file or from tokenizer.json, if both have the same vocabulary.
    package let contentDigest: SHA256.Digest

    /// The pieces as the vocabulary file spells them, indexed.
    let pieces: TokenTable
    /// The bytes that each token stands for.
    let decodings: TokenTable
    let isSpecial: [Bool]
    /// Tokens that are cut out of a text as they are spelled, special or not.
    let isAdded: [Bool]
    let preTokenizer: PreTokenizer
    let preTokenSteps: PreTokenSteps?
    let addsPrefixSpace: Bool
    let normalizer: TokenizerDefinition.Normalizer
    /// Added tokens that are cut out of the raw text, and then out of the normalized text.
    let rawTokens: AddedTokenMatcher
    let normalizedTokens: AddedTokenMatcher
    let encoding: BytePairEncoding
    /// Not nil: this merges, in place of `encoding`.
    let characters: CharacterPairEncoding?
    /// Not nil: this chooses pieces, in place of `characters`.
    let unigram: UnigramEncoding?
    let sentencePieces: TokenizerDefinition.SentencePieces?
    /// Pieces that SentencePiece does not rewrite in a text.
    let keptPieces: PieceTrie?
    /// Tokens that stand for one byte each, of a SentencePiece model that falls back to them.
    let byteTokens: Set<Int32>
    let normalizers: [TextNormalizer]
    /// Rows of the embedding of the model that reads the tokens; all there can be, if nothing is said.
    var embeddedCount = Int.max

    /// Reads the tokenizer of a GGUF file from its metadata.
    ///
    /// - Parameter ggufMetadata: all metadata of the file; only `tokenizer.ggml.*` is read.
    /// - Throws: `TokenizerError` when it is damaged or of an unsupported kind.
    package init(ggufMetadata: [String: GGUFValue]) throws {
        try self.init(TokenizerDefinition(ggufMetadata: ggufMetadata))
    }

    /// Reads the tokenizer of a Hugging Face folder.
    ///
    /// - Parameters:
    ///   - path: tokenizer.json.
    ///   - configuration: tokenizer_config.json, which names the tokens that begin and end a text.
    /// - Throws: `TokenizerError` when a file is damaged or of an unsupported kind; `FileError`.
    package init(tokenizerJSON path: String, tokenizerConfig configuration: String?) throws {
        try self.init(TokenizerDefinition(tokenizerJSON: path, tokenizerConfig: configuration))
    }

    /// Makes the tables of a definition.
    init(_ definition: TokenizerDefinition) throws(TokenizerError) {
        func invalid(_ flaw: TokenizerError.Flaw) -> TokenizerError {
            .invalid(flaw, source: definition.source)
        }
        if let flaw = definition.sizeFlaw { throw invalid(flaw) }
        // The effort of all added tokens together.
        let effort = ExpressionEffort()
        pieces = try TokenTable(definition)
        sentencePieces = definition.sentencePieces
        if let design = definition.sentencePieces {
            try definition.checkAddedTokens(effort)
            let spoken = definition.decodedPieces(pieces, effort)
            decodings = TokenTable(decoding: spoken, addedTokens: definition.addedTokens, design)
            let ids = UnigramEncoding.byteTokens(design, pieces)
            byteTokens = Set(ids.filter { $0 >= 0 })
            if let scores = design.unigram {
                unigram = try UnigramEncoding(definition, design, scores, pieces: pieces)
            } else {
                unigram = nil
            }
            characters =
                unigram == nil
                ? try CharacterPairEncoding(definition, design, pieces: pieces) : nil
            var unmerged = definition
            unmerged.merges = []
            encoding = try BytePairEncoding(unmerged, pieces: pieces, wholeTokens: nil)
        } else {
            decodings = TokenTable(
                decoding: pieces, addedTokens: definition.addedTokens,
                indexed: definition.ignoresMerges)
            byteTokens = []
            characters = nil
            unigram = nil
            encoding = try BytePairEncoding(
                definition, pieces: pieces,
                wholeTokens: definition.ignoresMerges ? decodings : nil)
        }

        var isSpecial = [Bool](repeating: false, count: pieces.count)
        var isAdded = isSpecial
        var rawTokens = AddedTokenMatcher()
        var normalizedTokens = AddedTokenMatcher()
        for token in definition.addedTokens {
            isSpecial[Int(token.id)] = token.isSpecial
            isAdded[Int(token.id)] = true
            var content = definition.pieces[Int(token.id)]
            if token.isNormalized { content = definition.normalizedContent(content, effort) }
            try definition.check(token, content)
            content.withUTF8 {
                if token.isNormalized {
                    normalizedTokens.add(token, bytes: $0)
                } else {
                    rawTokens.add(token, bytes: $0)
                }
            }
        }
        try definition.check(effort)
        self.isSpecial = isSpecial
        self.isAdded = isAdded
        self.rawTokens = rawTokens
        self.normalizedTokens = normalizedTokens
        preTokenizer = definition.preTokenizer
        preTokenSteps = definition.preTokenSteps
        addsPrefixSpace = definition.addsPrefixSpace
        normalizer = definition.normalizer
        normalizers = definition.normalizers
        let kept = definition.sentencePieces?.rules?.keptIDs ?? []
        keptPieces = kept.isEmpty ? nil : PieceTrie(pieces, ids: kept)
        beginID = definition.beginID
        endID = definition.endID
        addsBeginToken = definition.addsBeginToken
        templateTokens = definition.templateTokens
        endOfTurnIDs = Self.endOfTurnIDs(endID: definition.endID, in: pieces)
        if encoding.hasRepeats || characters?.hasRepeats == true {
            var once = definition
            once.merges = definition.uniqueMerges()
            contentDigest = once.contentDigest()
        } else {
            contentDigest = definition.contentDigest()
        }
    }
}

extension Tokenizer {
    /// Ids are `0..<vocabularySize`. Some may have no token, and those from `usableCount` on have no
    /// embedding.
    package var vocabularySize: Int { pieces.count }

    /// The piece of a token as the vocabulary file spells it, such as "Ġthe"; nil for an id outside
    /// the vocabulary.
    package func piece(_ id: Int32) -> String? {
        contains(id) ? pieces.text(Int(id)) : nil
    }

    /// The id of a piece as the vocabulary file spells it; nil when it is not in there.
    package func id(of piece: String) -> Int32? {
        Self.id(of: piece, in: pieces)
    }

    /// The bytes that a token stands for; none for an id outside the vocabulary. They need not be
    /// whole characters: a streaming reader must wait for the rest.
    package func bytes(of id: Int32) -> [UInt8] {
        contains(id) ? decodings.withString(Int(id)) { Array($0) } : []
    }

    /// The bytes that each token writes in the middle of a text, by id; nil for control and added
    /// tokens and those that end a turn, which are never part of one whatever the file calls them, and
    /// for those that stand for nothing. Ids without an embedding are not among them.
    package var writtenTokens: [[UInt8]?] {
        (0..<Int32(clamping: usableCount)).map { id in
            if isAdded[Int(id)] || isSpecial[Int(id)] || endOfTurnIDs.contains(id) { return nil }
            if id == beginID || id == endID { return nil }
            let bytes = bytes(of: id)
            return bytes.isEmpty ? nil : bytes
        }
    }

    /// The tokens of bytes in the middle of a text, as the tokenizer cuts them; none if it takes too
    /// long.
    package func segments(of bytes: [UInt8], after previous: Int32?) -> [Int32] {
        // A text's beginning may be spelled with a space.
        let before = previous ?? writtenTokenInTheMiddle
        return bytes.withUnsafeBufferPointer {
            // No tokens: a grammar's forced run is written token by token, a format's fixed part is cut
            // in another way or refused, and a value that Lab judges counts as not allowed.
            (try? ids(ofUTF8: $0, parsingSpecialTokens: false, after: before)) ?? []
        }
    }

    /// Any token that is text.
    private var writtenTokenInTheMiddle: Int32? {
        id(of: "a").flatMap { isSpecial[Int($0)] ? nil : $0 }
    }

    /// The text of tokens. Bytes that are not valid UTF-8 become U+FFFD; ids that are not in the
    /// vocabulary are left out.
    package func decode(_ ids: [Int32], skippingSpecialTokens: Bool = false) -> String {
        if sentencePieces != nil {
            var stream = TokenText(self, skippingSpecialTokens: skippingSpecialTokens)
            var text = ""
            for id in ids { text += stream.text(of: id) }
            return text + stream.rest()
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ids.count * 5)
        for id in ids where contains(id) {
            if skippingSpecialTokens && isSpecial[Int(id)] { continue }
            decodings.withString(Int(id)) { bytes.append(contentsOf: $0) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func contains(_ id: Int32) -> Bool {
        id >= 0 && Int(id) < pieces.count
    }

    private static func id(of piece: String, in pieces: TokenTable) -> Int32? {
        var piece = piece
        return piece.withUTF8 { pieces.id(of: $0) }
    }

    /// The end of text and the end-of-turn tokens of the families that have them.
    static func endOfTurnIDs(endID: Int32?, in pieces: TokenTable) -> Set<Int32> {
        let names = ["<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"]
        return Set(names.compactMap { id(of: $0, in: pieces) } + [endID].compactMap(\.self))
    }
}

extension Tokenizer {
    /// Reads the tokenizer that came with a model.
    ///
    /// - Parameter model: a GGUF file or a Hugging Face folder.
    /// - Throws: `TokenizerError` when there is none, when it is damaged or of an unsupported kind;
    ///   `FileError`.
    package init(model: ModelFiles) throws {
        switch model.tokenizerSource {
        case .gguf(let metadata): try self.init(ggufMetadata: metadata)
        case .files(let tokenizerJSON, let tokenizerConfig):
            try self.init(tokenizerJSON: tokenizerJSON, tokenizerConfig: tokenizerConfig)
        case .tekken(let path): try self.init(TokenizerDefinition(tekken: path))
        case .sentencePiece(let path, let tokenizerConfig):
            try self.init(
                TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: tokenizerConfig))
        case nil: throw TokenizerError.missing(model: model.path)
        }
    }
}

/// A tokenizer may have more ids than its model has embeddings, and a model more embeddings than its
/// tokenizer has ids. Only a text that needs an id without an embedding is refused.
extension Tokenizer {
    /// Reads the tokenizer that came with a model, for use with it.
    ///
    /// - Parameters:
    ///   - model: a GGUF file or a Hugging Face folder.
    ///   - count: rows of its embedding.
    /// - Throws: as `init(model:)`.
    package init(model: ModelFiles, embeddings count: Int) throws {
        self = try Tokenizer(model: model).embedded(in: count)
    }

    /// This tokenizer for a model whose embedding has `count` rows; for any model if that is nil.
    package func embedded(in count: Int?) -> Tokenizer {
        var tokenizer = self
        tokenizer.embeddedCount = count ?? .max
        tokenizer.endOfTurnIDs = Self.endOfTurnIDs(endID: endID, in: pieces).filter {
            Int($0) < tokenizer.usableCount
        }
        return tokenizer
    }

    /// Ids below it can be read and written by the model: a sampler's logits and a grammar's masks end
    /// there.
    package var usableCount: Int { min(pieces.count, embeddedCount) }

    /// What a cache of tokens depends on besides `contentDigest`: the rows of the embedding, if they
    /// are fewer than the ids.
    package var fewerEmbeddings: Int? { embeddedCount < pieces.count ? embeddedCount : nil }

    /// Refuses tokens that the model has no embedding for.
    ///
    /// - Throws: `TokenizerError.noEmbedding` for the first of them.
    package func check(_ ids: [Int32]) throws(TokenizerError) {
        guard embeddedCount < pieces.count,
            let id = ids.first(where: { Int($0) >= embeddedCount })
        else { return }
        throw .noEmbedding(piece: piece(id) ?? "", id: Int(id), rows: embeddedCount)
    }
}
