import SkeinBasics

extension TokenizerDefinition {
    /// Reads tokenizer.json and, if given, tokenizer_config.json.
    ///
    /// - Throws: `TokenizerError`; `ForeignFileError`; `FileError`.
    init(tokenizerJSON path: String, tokenizerConfig configurationPath: String?) throws {
        let file = try TokenizerFile.read(TokenizerJSON.contents(of: path), source: path)
        try self.init(file, source: path)
        // What this file's post-processor puts before a text.
        let first = try Self.firstToken(of: file, source: path)
        guard let configurationPath else {
            beginID = first.flatMap { pieceID(of: $0) }
            addsBeginToken = beginID != nil
            return
        }
        let roles = try TokenizerJSON.decode(TokenizerConfigurationFile.self, at: configurationPath)
        let firstID = first.flatMap { pieceID(of: $0) }
        // A configuration that names none does not cancel what the post-processor adds; a chat
        // template does not see that token then, as in transformers.
        try addNamedTokens(of: roles, source: configurationPath)
        beginID = roles.beginToken.flatMap { pieceID(of: $0.piece) } ?? firstID
        endID = roles.endToken.flatMap { pieceID(of: $0.piece) }
        templateTokens = TemplateTokens(
            begin: roles.beginToken?.piece, end: roles.endToken?.piece)
        // An explicit setting comes first, as in llama.cpp's conversion.
        addsBeginToken = roles.addsBeginToken ?? (firstID.map { $0 == beginID } ?? false)
    }

    /// The id of a piece, by bytes: equal texts may be two spellings of an accent.
    func pieceID(of piece: String) -> Int32? {
        // An empty piece is an id without a token.
        guard !piece.isEmpty else { return nil }
        return pieces.lastIndex { $0.utf8.elementsEqual(piece.utf8) }.map {
            Int32(truncatingIfNeeded: $0)
        }
    }

    /// Reads the parts of a tokenizer.json.
    init(_ file: TokenizerFile, source: String) throws(TokenizerError) {
        let model = file.model
        guard ["BPE", "Unigram"].contains(model.type) else {
            throw .unsupported(.model(model.type), source: source)
        }
        let isOfPieces = Self.spellsSpaces(file) || model.type == "Unigram"
        let options: [(String, String?)] = [
            ("dropout", model.dropout.flatMap { $0 == 0 ? nil : "\($0)" }),
            ("byte_fallback", model.byteFallback == true && !isOfPieces ? "true" : nil),
            ("continuing_subword_prefix", model.subwordPrefix.flatMap { $0.isEmpty ? nil : $0 }),
            ("end_of_word_suffix", model.wordSuffix.flatMap { $0.isEmpty ? nil : $0 }),
        ]
        for (name, value) in options {
            guard let value else { continue }
            throw .unsupported(.option(name: name, value: value), source: source)
        }
        if isOfPieces {
            let (design, normalizer, normalizers) = try Self.sentencePieces(
                of: file, source: source)
            guard model.ignoresMerges != true else {
                throw .unsupported(.option(name: "ignore_merges", value: "true"), source: source)
            }
            self.init(source: source, pieces: [], merges: model.merges, preTokenizer: .whole)
            sentencePieces = design
            self.normalizer = normalizer
            self.normalizers = normalizers
        } else {
            try self.init(ofBytes: file, source: source)
        }
        fusesUnknown = model.fusesUnknown ?? false
        let scored = model.scoredPieces.enumerated().map { ($1.piece, $0) }
        let isList = model.type == "Unigram"
        var tokens = try NumberedTokens(
            isList ? scored : model.vocabulary, isList: isList, source: source)
        repeatsPieces = isList
        takesLaterMerge = true
        modelTokenCount = tokens.vocabularyCount
        if let index = model.unknownIndex {
            guard scored.indices.contains(index), let id = Int32(exactly: index) else {
                throw .invalid(
                    .idOutOfRange(piece: "unk_id", id: index, limit: scored.count), source: source)
            }
            unknownID = id
        }
        if let piece = model.unknownToken {
            unknownID = tokens.id(of: piece).flatMap { Int32(exactly: $0) }
            // tokenizers then fails for the texts that need it.
            guard unknownID != nil || hasEveryByte(tokens) else {
                throw .unsupported(.option(name: "unk_token", value: piece), source: source)
            }
        }
        try tokens.add(file.addedTokens ?? [])
        pieces = tokens.pieces
        addedTokens = tokens.added
    }

    /// Whether there is a token for each byte, so that none is unknown.
    private func hasEveryByte(_ tokens: NumberedTokens) -> Bool {
        guard sentencePieces?.fallsBackToBytes ?? true else { return false }
        return (UInt8.min...UInt8.max).allSatisfy { byte in
            let spelling =
                sentencePieces == nil
                ? ByteAlphabet.spelling(of: byte) : CharacterPairEncoding.spelling(of: byte)
            return tokens.id(of: String(decoding: spelling, as: UTF8.self)) != nil
        }
    }

    /// Reads the stages of a byte-level tokenizer, without its vocabulary.
    private init(ofBytes file: TokenizerFile, source: String) throws(TokenizerError) {
        for step in file.decoder?.steps ?? [] where step.type != "ByteLevel" {
            throw .unsupported(.decoder(step.type), source: source)
        }
        let stages = file.preTokenizer?.steps ?? []
        let known = Self.knownPreTokenizer(stages)
        self.init(
            source: source, pieces: [], merges: file.model.merges,
            preTokenizer: known?.0 ?? .whole, addsPrefixSpace: known?.addsPrefixSpace ?? false)
        if known == nil { preTokenSteps = try PreTokenSteps(stages, source: source) }
        let steps = try Self.normalizers(of: file, source: source)
        if !steps.isEmpty, steps.allSatisfy({ $0 == .form(.composed) }) {
            normalizer = .composed
        } else {
            normalizers = steps
        }
        ignoresMerges = file.model.ignoresMerges ?? false
    }

    /// The pre-tokenizer with a scanner of its own that the stages amount to, or nil.
    private static func knownPreTokenizer(
        _ stages: [TokenizerFile.Stage]
    ) -> (PreTokenizer, addsPrefixSpace: Bool)? {
        guard let last = stages.last, last.type == "ByteLevel" else { return nil }
        let usesRegex = last.usesRegex ?? true
        let addsPrefixSpace = last.addsPrefixSpace ?? true
        if stages.count == 1 { return (usesRegex ? .gpt2 : .whole, addsPrefixSpace) }
        // In a sequence, ByteLevel would put a space before every pre-token.
        guard stages.count == 2, !addsPrefixSpace else { return nil }
        let first = stages[0]
        switch first.type {
        case "Digits" where first.isolatesDigits == true && usesRegex: return (.smollm, false)
        case "Split" where !usesRegex:
            // The expressions match every character, so keeping the matches is isolating them.
            let cut = (first.behavior ?? "", first.isInverted ?? false)
            guard cut == ("Isolated", false) || cut == ("Removed", true) else { return nil }
            return first.pattern?["Regex"].flatMap { PreTokenizer(pattern: $0) }
                .map { ($0, false) }
        default: return nil
        }
    }
}
