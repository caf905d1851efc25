import SkeinFormats

/// A tokenizer.model: sentencepiece_model.proto of SentencePiece, as far as it decides tokens.
struct SentencePieceFile {
    private(set) var pieces: [String] = []
    private(set) var scores: [Float] = []
    private(set) var types: [Int64] = []
    private var modelType: UInt64 = 1
    private var suffixesSpace = false
    private var roles: [Int: Int32] = [40: 0, 41: 1, 42: 2]
    private var characterMap: [UInt8] = []
    private var addsPrefix = true
    private var removesSpaces = true
    private var escapesSpaces = true

    /// Reads the bytes of a file.
    ///
    /// - Throws: `TokenizerError` with the offset of what is malformed or cut.
    init(_ bytes: UnsafeBufferPointer<UInt8>, source: String) throws(TokenizerError) {
        try read(bytes, source: source)
    }

    private mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>, source: String
    ) throws(TokenizerError) {
        var message = ProtobufReader(bytes, 0..<bytes.count, source: source)
        // Every trainer writes both; without them a file is cut, and defaults would be wrong.
        var missing: Set = ["trainer_spec", "normalizer_spec"]
        while let (number, value) = try message.next() {
            guard case .bytes(let range) = value else { continue }
            let part = ProtobufReader(bytes, range, source: source)
            switch number {
            case 1:
                guard pieces.count < TokenizerLimits.tokens else {
                    throw .invalid(
                        .tooManyTokens(found: pieces.count + 1, limit: TokenizerLimits.tokens),
                        source: source)
                }
                try readPiece(part, bytes, source: source)
            case 2:
                missing.remove("trainer_spec")
                try readTraining(part)
            case 3:
                missing.remove("normalizer_spec")
                try readNormalizer(part, bytes)
            default: continue
            }
        }
        if let part = missing.min() {
            throw .invalid(.missingValue(path: part), source: source)
        }
    }

    private mutating func readPiece(
        _ part: ProtobufReader, _ bytes: UnsafeBufferPointer<UInt8>, source: String
    ) throws(TokenizerError) {
        var part = part
        var piece = ""
        var score: Float = 0
        var type: Int64 = 1
        while let (number, value) = try part.next() {
            switch (number, value) {
            case (1, .bytes(let range)):
                guard let text = String(validating: bytes[range], as: UTF8.self) else {
                    throw .invalid(.malformedField(offset: range.lowerBound), source: source)
                }
                piece = text
            case (2, .fixed32(let bits)): score = Float(bitPattern: bits)
            case (3, .varint(let number)): type = Int64(truncatingIfNeeded: number)
            default: continue
            }
        }
        pieces.append(piece)
        scores.append(score)
        types.append(type)
    }

    private mutating func readTraining(_ part: ProtobufReader) throws(TokenizerError) {
        var part = part
        while let (number, value) = try part.next() {
            guard case .varint(let value) = value else { continue }
            switch number {
            case 3: modelType = value
            case 24: suffixesSpace = value != 0
            case 40...42: roles[number] = Int32(truncatingIfNeeded: value)
            default: continue
            }
        }
    }

    private mutating func readNormalizer(
        _ part: ProtobufReader, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(TokenizerError) {
        var part = part
        while let (number, value) = try part.next() {
            switch (number, value) {
            case (2, .bytes(let range)): characterMap = Array(bytes[range])
            case (3, .varint(let flag)): addsPrefix = flag != 0
            case (4, .varint(let flag)): removesSpaces = flag != 0
            case (5, .varint(let flag)): escapesSpaces = flag != 0
            default: continue
            }
        }
    }

    /// What the file says in the words of GGUF metadata, into which llama.cpp converts it.
    ///
    /// - Throws: `TokenizerError.unsupported` for a model that is neither of pairs with scores nor
    ///   Unigram, or that puts spaces behind words.
    func metadata(source: String) throws(TokenizerError) -> [String: GGUFValue] {
        let kinds: [UInt64: String] = [3: "Word", 4: "Char"]
        guard modelType == 1 || modelType == 2 else {
            throw .unsupported(.model(kinds[modelType] ?? "\(modelType)"), source: source)
        }
        let options: [(String, Bool)] = [
            ("treat_whitespace_as_suffix", suffixesSpace), ("escape_whitespaces", !escapesSpaces),
        ]
        for (name, isOdd) in options where isOdd {
            throw .unsupported(
                .option(name: name, value: suffixesSpace ? "true" : "false"), source: source)
        }
        var metadata: [String: GGUFValue] = [
            "tokenizer.ggml.model": .string(modelType == 1 ? "t5" : "llama"),
            "tokenizer.ggml.remove_extra_whitespaces": .bool(removesSpaces),
            "tokenizer.ggml.precompiled_charsmap": .integers(characterMap.map(Int64.init)),
            "tokenizer.ggml.tokens": .strings(pieces),
            "tokenizer.ggml.scores": .floats(scores),
            "tokenizer.ggml.token_type": .integers(types),
            "tokenizer.ggml.add_space_prefix": .bool(addsPrefix),
        ]
        for (number, key) in [(40, "unknown"), (41, "bos"), (42, "eos")] {
            guard let id = id(ofRole: number) else { continue }
            metadata["tokenizer.ggml.\(key)_token_id"] = .integer(Int64(id))
        }
        return metadata
    }

    /// The id that field `number` of the training options gives; nil for -1, which means none.
    func id(ofRole number: Int) -> Int32? { roles[number].flatMap { $0 < 0 ? nil : $0 } }
}

extension TokenizerDefinition {
    /// Reads a tokenizer.model and, if given, tokenizer_config.json.
    ///
    /// - Throws: `TokenizerError`; `FileError`.
    init(sentencePieceModel path: String, tokenizerConfig configurationPath: String?) throws {
        let file = try TokenizerJSON.contents(of: path).withUnsafeBufferPointer {
            try SentencePieceFile($0, source: path)
        }
        try self.init(file, source: path)
        guard let configurationPath else { return }
        let roles = try TokenizerJSON.decode(TokenizerConfigurationFile.self, at: configurationPath)
        try add(roles.addedTokens ?? [:], source: configurationPath)
        try addNamedTokens(of: roles, source: configurationPath)
        beginID = roles.beginToken.flatMap { pieceID(of: $0.piece) } ?? beginID
        endID = roles.endToken.flatMap { pieceID(of: $0.piece) } ?? endID
        templateTokens = TemplateTokens(
            begin: roles.beginToken?.piece, end: roles.endToken?.piece)
        addsBeginToken = roles.addsBeginToken ?? addsBeginToken
    }

    /// Adds the tokens that tokenizer_config.json has beside a tokenizer.model: new ones behind its
    /// pieces, and for pieces how they are found in a text.
    private mutating func add(
        _ tokens: [String: TokenizerConfigurationFile.AddedToken], source: String
    ) throws(TokenizerError) {
        func invalid(_ flaw: TokenizerError.Flaw) -> TokenizerError {
            .invalid(flaw, source: source)
        }
        let limit = TokenizerLimits.tokens
        var entries: [(id: Int, token: TokenizerConfigurationFile.AddedToken)] = []
        for (key, token) in tokens {
            guard let id = Int(key), String(id) == key else {
                throw invalid(
                    .wrongType(path: "added_tokens_decoder.\(key)", expected: "a token id"))
            }
            guard (0..<limit).contains(id) else {
                throw invalid(.idOutOfRange(piece: token.content, id: id, limit: limit))
            }
            entries.append((id, token))
        }
        let replaced = Set(entries.map(\.id))
        addedTokens.removeAll { replaced.contains(Int($0.id)) }
        for (id, token) in entries.sorted(by: { $0.id < $1.id }) {
            // One that the pieces have under another name is renamed, as in llama.cpp's conversion.
            if id >= pieces.count || !pieces[id].utf8.elementsEqual(token.content.utf8) {
                setPiece(token.content, at: id)
            }
            addedTokens.append(AddedToken(token, id: Int32(truncatingIfNeeded: id)))
        }
    }

    init(_ file: SentencePieceFile, source: String) throws(TokenizerError) {
        try self.init(sentencePieces: file.metadata(source: source), source: source)
        modelTokenCount = pieces.count
        unknownID = file.id(ofRole: 40)
        beginID = file.id(ofRole: 41)
        endID = file.id(ofRole: 42)
        // SentencePiece makes one unknown token of a run; llama.cpp does not.
        fusesUnknown = true
    }
}
