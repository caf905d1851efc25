/// What can be wrong with a tokenizer definition, or with a text for it. `source` is the file, or "GGUF metadata".
package enum TokenizerError: Error, Equatable {
    /// The model has no tokenizer beside its weights.
    case missing(model: String)
    /// The file is larger than any tokenizer.
    case fileTooLarge(path: String, bytes: Int, limit: Int)
    /// The definition contradicts itself or the format.
    case invalid(Flaw, source: String)
    /// The definition may be valid, but Skein does not support it.
    case unsupported(Feature, source: String)
    /// This expression takes too long for a text, at a piece of it that has `bytes`. `place` is the
    /// file and line of the text, if they are known.
    case textTooSlow(expression: String, bytes: Int, place: String? = nil)
    /// A text has a token for which the model has no embedding: it has `rows` of them. `place` is where
    /// the text stands, if that is known.
    case noEmbedding(piece: String, id: Int, rows: Int, place: String? = nil)

    /// A contradiction in a definition.
    package enum Flaw: Sendable, Equatable {
        /// The text is not JSON.
        /// What was expected, and where.
        case notJSON(String)
        /// The value at `path` has another type than `expected`.
        case wrongType(path: String, expected: String)
        /// There is no value at `path`.
        case missingValue(path: String)
        /// The vocabulary has no token.
        case noTokens
        case tooManyTokens(found: Int, limit: Int)
        case tooManyMerges(found: Int, limit: Int)
        case tooManyPieceBytes(limit: Int)
        /// Two ids have the same piece.
        case duplicateToken(String, first: Int, second: Int)
        /// Two pieces have the same id.
        case duplicateID(Int, first: String, second: String)
        /// The id of `piece` is negative or not below `limit`.
        case idOutOfRange(piece: String, id: Int, limit: Int)
        /// Two lists that must be equally long are not.
        case countMismatch(path: String, expected: Int, found: Int)
        /// The merge of this rank is not two pieces with one space between them.
        case malformedMerge(rank: Int, text: String)
        /// The merge of this rank names `piece`, or makes it, but the vocabulary lacks it.
        case unknownMergeToken(rank: Int, piece: String)
        case addedTokenTooLong(id: Int, bytes: Int, limit: Int)
        /// A field of a tokenizer.model is malformed or cut.
        case malformedField(offset: Int)
        /// The score of this token is infinite or not a number.
        case scoreNotFinite(id: Int)
        case scoredPieceTooLong(id: Int, bytes: Int, limit: Int)
        /// A precompiled map of characters is not base64, or its sizes do not fit.
        case malformedCharacterMap
    }

    /// A part of a definition that is not supported.
    package enum Feature: Sendable, Equatable {
        /// The kind of model: Unigram, WordPiece, llama (SentencePiece), ...
        case model(String)
        /// A pre-tokenizer by its type, or by its name in `tokenizer.ggml.pre`; nil: none is named.
        case preTokenizer(String?)
        /// A regular expression of a pre-tokenizer or a normalizer, and what is wrong with it.
        case expression(String, ExpressionFlaw)
        case normalizer(String)
        case decoder(String)
        /// As GGUF metadata: a token that merges make and that has no embedding.
        case tokenWithoutEmbedding(id: Int)
        /// An option with a value other than the usual one.
        case option(name: String, value: String)
    }
}

extension TokenizerError {
    /// This error of a text with the place of the text; any other as it is.
    package func at(_ place: String) -> TokenizerError {
        switch self {
        case .textTooSlow(let expression, let bytes, _):
            .textTooSlow(expression: expression, bytes: bytes, place: place)
        case .noEmbedding(let piece, let id, let rows, _):
            .noEmbedding(piece: piece, id: id, rows: rows, place: place)
        default: self
        }
    }
}
