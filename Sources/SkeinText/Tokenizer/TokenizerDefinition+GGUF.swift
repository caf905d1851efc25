import SkeinFormats

extension TokenizerDefinition {
    /// Reads the tokenizer of a GGUF file.
    ///
    /// Token types (gguf specification): 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused,
    /// 6 byte. Control and unknown tokens are special, user-defined ones are added but are text.
    /// `tokenizer.ggml.add_space_prefix` belongs to SentencePiece models; llama.cpp does not apply
    /// it to byte pair encoding, and neither does this. A byte that the vocabulary lacks (SmolLM2's
    /// lacks U+0004, for one) is dropped, as it is there and as it was when the model was trained.
    ///
    /// - Throws: `TokenizerError`.
    init(ggufMetadata metadata: [String: GGUFValue]) throws(TokenizerError) {
        let reader = GGUFTokenizerReader(metadata: metadata)
        guard let model = try reader.string("model") else {
            throw reader.invalid(.missingValue(path: "tokenizer.ggml.model"))
        }
        if model == "llama" {
            try self.init(sentencePieces: reader)
            return
        }
        guard model == "gpt2" else {
            throw .unsupported(.model(model), source: reader.source)
        }
        let name = try reader.string("pre")
        guard let name, let preTokenizer = PreTokenizer(gguf: name) else {
            throw .unsupported(.preTokenizer(name), source: reader.source)
        }
        let pieces = try reader.strings("tokens")
        self.init(
            source: reader.source, pieces: pieces,
            merges: try reader.strings("merges"), preTokenizer: preTokenizer)
        addedTokens = try reader.addedTokens(count: pieces.count)
        // The file does not say this: it is what the published models of these families used.
        normalizer = preTokenizer == .qwen2 ? .composed : .none
        // llama.cpp sets both for these names only; others share Llama 3's expression.
        let isWhole = ["llama-bpe", "llama3", "llama-v3", "tekken"].contains(name)
        ignoresMerges = isWhole
        beginID = try reader.id("bos_token_id", count: pieces.count)
        endID = try reader.id("eos_token_id", count: pieces.count)
        // As in llama.cpp: empty where the file has no such token.
        templateTokens = TemplateTokens(
            begin: beginID.map { pieces[Int($0)] } ?? "", end: endID.map { pieces[Int($0)] } ?? "")
        addsBeginToken = try reader.bool("add_bos_token") ?? isWhole
    }
}

extension TokenizerDefinition {
    /// Reads a tokenizer.model that was turned into GGUF metadata.
    init(sentencePieces metadata: [String: GGUFValue], source: String) throws(TokenizerError) {
        try self.init(
            sentencePieces: GGUFTokenizerReader(source: source, metadata: metadata))
    }

    /// Reads a SentencePiece model of pairs with scores (`llama`). Defaults are llama.cpp's.
    ///
    /// A user-defined token is matched in the text as its spaces are spelled, as SentencePiece
    /// does: "▁▁" in a run of spaces comes before any merge.
    fileprivate init(sentencePieces reader: GGUFTokenizerReader) throws(TokenizerError) {
        let pieces = try reader.strings("tokens")
        self.init(
            source: reader.source, pieces: pieces, merges: [], preTokenizer: .whole)
        let types = try reader.types(count: pieces.count)
        addedTokens = try reader.addedTokens(count: pieces.count)
        for index in addedTokens.indices where !addedTokens[index].isSpecial {
            addedTokens[index].isNormalized = true
        }
        var design = SentencePieces()
        design.scores = try reader.scores(count: pieces.count)
        design.unmergeable = Set(types.indices.filter { types[$0] != 1 })
        design.prefix = try reader.bool("add_space_prefix") ?? true ? .always : .none
        design.dropsPrefix = design.prefix != .none
        design.fallsBackToBytes = true
        sentencePieces = design
        func id(_ key: String, _ usual: Int) throws(TokenizerError) -> Int32? {
            try reader.id(key, count: pieces.count)
                ?? (usual < pieces.count ? Int32(usual) : nil)
        }
        unknownID = try id("unknown_token_id", 0)
        beginID = try id("bos_token_id", 1)
        endID = try id("eos_token_id", 2)
        templateTokens = TemplateTokens(
            begin: beginID.map { pieces[Int($0)] } ?? "", end: endID.map { pieces[Int($0)] } ?? "")
        addsBeginToken = try reader.bool("add_bos_token") ?? true
    }
}

/// Typed access to the values below `tokenizer.ggml.`.
private struct GGUFTokenizerReader {
    var source = "GGUF metadata"
    let metadata: [String: GGUFValue]

    func invalid(_ flaw: TokenizerError.Flaw) -> TokenizerError {
        .invalid(flaw, source: source)
    }

    private func wrongType(_ key: String, _ expected: String) -> TokenizerError {
        invalid(.wrongType(path: "tokenizer.ggml." + key, expected: expected))
    }

    func string(_ key: String) throws(TokenizerError) -> String? {
        switch metadata["tokenizer.ggml." + key] {
        case nil: return nil
        case .string(let text)?: return text
        default: throw wrongType(key, "a text")
        }
    }

    func bool(_ key: String) throws(TokenizerError) -> Bool? {
        switch metadata["tokenizer.ggml." + key] {
        case nil: return nil
        case .bool(let flag)?: return flag
        default: throw wrongType(key, "true or false")
        }
    }

    func strings(_ key: String) throws(TokenizerError) -> [String] {
        switch metadata["tokenizer.ggml." + key] {
        case nil: throw invalid(.missingValue(path: "tokenizer.ggml." + key))
        case .strings(let texts)?: return texts
        default: throw wrongType(key, "a list of texts")
        }
    }

    /// A token id below `count`; nil without the key.
    func id(_ key: String, count: Int) throws(TokenizerError) -> Int32? {
        let number: Int?
        switch metadata["tokenizer.ggml." + key] {
        case nil: return nil
        case .unsigned(let value)?: number = Int(exactly: value)
        case .integer(let value)?: number = Int(exactly: value)
        default: throw wrongType(key, "a whole number")
        }
        guard let number, (0..<count).contains(number), let id = Int32(exactly: number) else {
            throw invalid(
                .idOutOfRange(
                    piece: "tokenizer.ggml." + key, id: number ?? Int.max, limit: count))
        }
        return id
    }

    /// A score for each token.
    func scores(count: Int) throws(TokenizerError) -> [Float] {
        let scores: [Float]
        switch metadata["tokenizer.ggml.scores"] {
        case nil: throw invalid(.missingValue(path: "tokenizer.ggml.scores"))
        case .floats(let values)?: scores = values
        default: throw wrongType("scores", "a list of numbers")
        }
        guard scores.count == count else {
            throw invalid(
                .countMismatch(
                    path: "tokenizer.ggml.scores", expected: count, found: scores.count))
        }
        return scores
    }

    /// The tokens that are cut out of the text because of their type.
    func addedTokens(count: Int) throws(TokenizerError) -> [TokenizerDefinition.AddedToken] {
        let types = try types(count: count)
        var added: [TokenizerDefinition.AddedToken] = []
        for (id, type) in types.enumerated() {
            switch type {
            case 1, 5, 6: continue
            case 2, 3:
                added.append(.init(id: Int32(truncatingIfNeeded: id), isSpecial: true))
            case 4: added.append(.init(id: Int32(truncatingIfNeeded: id)))
            default: throw invalid(.unknownTokenType(id: id, type: Int(type)))
            }
        }
        return added
    }

    /// The type of each token; none without the key.
    func types(count: Int) throws(TokenizerError) -> [Int64] {
        let types: [Int64]
        switch metadata["tokenizer.ggml.token_type"] {
        case nil: return []
        case .integers(let values)?: types = values
        default: throw wrongType("token_type", "a list of whole numbers")
        }
        guard types.count == count else {
            throw invalid(
                .countMismatch(
                    path: "tokenizer.ggml.token_type", expected: count, found: types.count))
        }
        return types
    }
}
