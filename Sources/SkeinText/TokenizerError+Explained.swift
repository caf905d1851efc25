import SkeinBasics

extension TokenizerError: Explained {
    package var explanation: Explanation {
        switch self {
        case .missing(let model):
            Explanation(
                what: "the model has no tokenizer", place: model,
                remedy: "put the model's tokenizer.json or tokenizer.model beside its weights, or"
                    + " use a GGUF file that carries its tokenizer",
                status: .badData)
        case .fileTooLarge(let path, let bytes, let limit):
            Explanation(
                what: "the tokenizer has \(bytes) bytes; the limit is \(limit)", place: path,
                remedy: "check that this file is the model's tokenizer.json or tokenizer.model",
                status: .badData)
        case .invalid(let flaw, let source) where flaw.isLimit:
            Explanation(
                what: "the tokenizer is too large for Skein: \(flaw.prose)", place: source,
                remedy: "use a model with a smaller tokenizer", status: .badData)
        case .invalid(let flaw, let source):
            Explanation(
                what: "the tokenizer is damaged: \(flaw.prose)", place: source,
                remedy: "fetch the model's files again, all from the same revision",
                status: .badData)
        case .unsupported(let feature, let source):
            Explanation(
                what: feature.prose, place: source, remedy: feature.remedy, status: .badData)
        case .textTooSlow(let expression, let bytes, let place):
            Explanation(
                what: "the tokenizer's expression \(quoted(expression)) takes too long for a text,"
                    + " at \(bytes) bytes of it",
                place: place ?? "",
                remedy: "cut the text into shorter ones, or shorten what it repeats",
                status: .badData)
        case .noEmbedding(let piece, let id, let rows, let place):
            Explanation(
                what: "the text has the token \(quoted(piece)), whose id is \(id), and the model"
                    + " has embeddings for the ids 0 to \(rows - 1) only",
                place: place ?? "",
                remedy: "leave this token out of the text, or use a model that has an embedding"
                    + " for it",
                status: .badData)
        }
    }
}

extension TokenizerError.Flaw {
    /// Whether other programs may read the tokenizer, which is only larger than what is read here.
    fileprivate var isLimit: Bool {
        switch self {
        case .tooManyTokens, .tooManyMerges, .tooManyPieceBytes, .addedTokenTooLong,
            .scoredPieceTooLong:
            true
        case .idOutOfRange(_, let id, let limit): id >= limit && limit == TokenizerLimits.tokens
        default: false
        }
    }

    /// What is wrong, as the end of a sentence.
    fileprivate var prose: String {
        switch self {
        case .notJSON(let detail): "it is not valid JSON (\(detail))"
        case .wrongType(let path, let expected): "\(path) is not \(expected)"
        case .missingValue(let path): "\(path) is missing"
        case .noTokens: "its vocabulary is empty"
        case .tooManyTokens(let found, let limit): "it has \(found) tokens; the limit is \(limit)"
        case .tooManyMerges(let found, let limit): "it has \(found) merges; the limit is \(limit)"
        case .tooManyPieceBytes(let limit): "its tokens together have more than \(limit) bytes"
        case .duplicateToken(let piece, let first, let second):
            "token \(quoted(piece)) has the ids \(first) and \(second)"
        case .duplicateID(let id, let first, let second):
            "id \(id) belongs to the tokens \(quoted(first)) and \(quoted(second))"
        case .idOutOfRange(let piece, let id, let limit):
            "\(quoted(piece)) has id \(id), which is not in 0..<\(limit)"
        case .countMismatch(let path, let expected, let found):
            "\(path) has \(found) entries, not \(expected)"
        case .malformedMerge(let rank, let text):
            "merge \(rank) is \(quoted(text)), not two tokens with one space between them"
        case .unknownMergeToken(let rank, let piece):
            "merge \(rank) needs the token \(quoted(piece)), which the vocabulary lacks"
        case .addedTokenTooLong(let id, let bytes, let limit):
            "added token \(id) has \(bytes) bytes; the limit is \(limit)"
        case .malformedField(let offset): "the field at byte \(offset) is malformed or cut"
        case .scoreNotFinite(let id): "the score of token \(id) is not a finite number"
        case .scoredPieceTooLong(let id, let bytes, let limit):
            "token \(id) has \(bytes) bytes; the limit for one with a score is \(limit)"
        case .malformedCharacterMap: "its map of characters (precompiled_charsmap) is malformed"
        }
    }
}

extension ExpressionFlaw {
    /// What is wrong, as the end of a sentence.
    var prose: String {
        switch self {
        case .construct(let text, let place): "\(quoted(text)) at character \(place)"
        case .unbalanced(let place): "the bracket at character \(place) has no partner"
        case .tooLong(let scalars, let limit): "it has \(scalars) characters, not up to \(limit)"
        case .tooDeep(let limit): "its groups are nested deeper than \(limit)"
        case .tooLarge: "it is too large once its repetitions are written out"
        case .tooSlow: "it tries too many ways to match a long run"
        }
    }
}

extension TokenizerError.Feature {
    /// What is not supported, as a sentence.
    fileprivate var prose: String {
        switch self {
        case .model(let name): "the tokenizer model \"\(name)\" is not supported"
        case .preTokenizer(let name?): "the pre-tokenizer \"\(name)\" is not supported"
        case .preTokenizer(nil): "the tokenizer does not say which pre-tokenizer it needs"
        case .expression(let pattern, let flaw):
            "the tokenizer's expression \(quoted(pattern)) is not supported: \(flaw.prose)"
        case .normalizer(let name): "the normalizer \"\(name)\" is not supported"
        case .decoder(let name): "the decoder \"\(name)\" is not supported"
        case .tokenWithoutEmbedding(let id):
            "token \(id) is made by merges and has no embedding, which a GGUF file cannot say"
        case .option(let name, let value):
            "the tokenizer option \(name) = \(value) is not supported"
        }
    }

    /// What is supported instead.
    fileprivate var remedy: String {
        switch self {
        case .model:
            "use a model with a BPE or Unigram tokenizer (GGUF: \"gpt2\", \"llama\" or \"t5\")"
        case .preTokenizer:
            "use a model with one of the pre-tokenizers "
                + (PreTokenizer.namesInGGUF + PreTokenSteps.namesInGGUF)
                .joined(separator: ", ")
        case .expression:
            "use a model with another expression, such as those of GPT-2, Llama 3 or Qwen"
        case .normalizer:
            "use a model with NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Nmt, Replace,"
                + " Prepend, Precompiled or no normalizer"
        case .decoder:
            "use a model with the decoders of a byte-level or a SentencePiece tokenizer: ByteLevel,"
                + " or Metaspace, Replace, ByteFallback, Fuse and Strip"
        case .tokenWithoutEmbedding: "write a folder instead, which keeps the tokenizer's files"
        case .option: "use a model without this option"
        }
    }
}

/// A piece for display: control characters escaped, cut after 60 characters.
private func quoted(_ piece: String) -> String {
    let escaped = piece.prefix(60).debugDescription
    return piece.count > 60 ? escaped + "..." : escaped
}
