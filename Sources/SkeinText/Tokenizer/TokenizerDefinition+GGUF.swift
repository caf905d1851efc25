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
    /// Tokens without a text are allowed, any number of them: they are never made of a text.
    ///
    /// - Throws: `TokenizerError`.
    init(ggufMetadata metadata: [String: GGUFValue]) throws(TokenizerError) {
        let reader = GGUFTokenizerReader(metadata: metadata)
        guard let model = try reader.string("model") else {
            throw reader.invalid(.missingValue(path: "tokenizer.ggml.model"))
        }
        if model == "llama" || model == "t5" {
            // llama.cpp rewrites no text of a "llama" model, whatever its file says.
            try self.init(sentencePieces: reader, isUnigram: model == "t5", rewrites: model == "t5")
            return
        }
        guard model == "gpt2" else {
            throw .unsupported(.model(model), source: reader.source)
        }
        let name = try reader.string("pre")
        let known = name.flatMap { PreTokenizer(gguf: $0) }
        let steps =
            known == nil
            ? try name.flatMap { (name) throws(TokenizerError) in
                try PreTokenSteps(gguf: name)
            } : nil
        guard let name, known != nil || steps != nil else {
            throw .unsupported(.preTokenizer(name), source: reader.source)
        }
        let pieces = try reader.strings("tokens")
        self.init(
            source: reader.source, pieces: pieces,
            merges: try reader.strings("merges"), preTokenizer: known ?? .whole)
        preTokenSteps = steps
        addedTokens = try reader.addedTokens(count: pieces.count)
        // The file does not say this: it is what the published models of these families used.
        normalizer =
            known == .qwen2 || ["qwen35", "f2llmv2"].contains(name) ? .composed : .none
        // llama.cpp sets both for these names only; others share Llama 3's expression.
        let isWhole = [
            "llama-bpe", "llama3", "llama-v3", "tekken", "falcon3", "falcon-h1", "pixtral",
            "midm-2.0", "lfm2", "jina-v5-nano",
        ].contains(name)
        let keepsWhole = ["youtu", "minicpm5", "granite-embed-multi-97m"].contains(name)
        ignoresMerges = isWhole || keepsWhole
        beginID = try reader.id("bos_token_id", count: pieces.count)
        endID = try reader.id("eos_token_id", count: pieces.count)
        // As in llama.cpp: empty where the file has no such token.
        templateTokens = TemplateTokens(
            begin: beginID.map { pieces[Int($0)] } ?? "", end: endID.map { pieces[Int($0)] } ?? "")
        addsBeginToken =
            try reader.bool("add_bos_token") ?? (isWhole || name == "chameleon")
    }
}

extension TokenizerDefinition {
    /// Reads a tokenizer.model that was turned into GGUF metadata.
    init(sentencePieces metadata: [String: GGUFValue], source: String) throws(TokenizerError) {
        let reader = GGUFTokenizerReader(source: source, metadata: metadata)
        try self.init(
            sentencePieces: reader, isUnigram: reader.string("model") == "t5", rewrites: true)
    }

    /// Reads a SentencePiece model: of pairs with scores (`llama`) or Unigram (`t5`). Defaults are
    /// llama.cpp's.
    ///
    /// A user-defined token is matched in the text as its spaces are spelled, as SentencePiece
    /// does: "▁▁" in a run of spaces comes before any merge.
    fileprivate init(
        sentencePieces reader: GGUFTokenizerReader, isUnigram: Bool, rewrites: Bool
    ) throws(TokenizerError) {
        let pieces = try reader.strings("tokens")
        self.init(
            source: reader.source, pieces: pieces, merges: [], preTokenizer: .whole)
        let types = try reader.types(count: pieces.count)
        addedTokens = try reader.addedTokens(count: pieces.count)
        let preferred = types.indices.filter { types[$0] == 4 }
        // In a Unigram model these are pieces with a score above all others.
        if isUnigram { addedTokens.removeAll { !$0.isSpecial } }
        for index in addedTokens.indices where !addedTokens[index].isSpecial {
            addedTokens[index].isNormalized = true
        }
        var design = SentencePieces()
        let scores = try reader.scores(count: pieces.count)
        if isUnigram {
            design.unigram = UnigramEncoding.Scores(
                values: scores.map(Double.init),
                unmatched: Set(types.indices.filter { types[$0] != 1 && types[$0] != 4 }),
                preferred: Set(preferred), roundsToFloat: true)
        } else {
            design.scores = scores
            design.unmergeable = Set(types.indices.filter { types[$0] != 1 })
        }
        if rewrites {
            let rules = SentencePieceRules(
                map: try reader.characterMap(),
                removesSpaces: try reader.bool("remove_extra_whitespaces") ?? false,
                keptIDs: preferred.map { Int32(truncatingIfNeeded: $0) })
            // Without either, pairs are merged as those of a GGUF file are.
            if isUnigram || rules.map != nil || rules.removesSpaces { design.rules = rules }
        }
        design.prefix = try reader.bool("add_space_prefix") ?? true ? .always : .none
        design.dropsPrefix = design.prefix != .none
        design.fallsBackToBytes = !isUnigram || types.contains(6)
        sentencePieces = design
        func id(_ key: String, _ usual: Int) throws(TokenizerError) -> Int32? {
            try reader.id(key, count: pieces.count)
                ?? (usual < pieces.count ? Int32(usual) : nil)
        }
        unknownID = try id("unknown_token_id", types.firstIndex(of: 2) ?? 0)
        beginID =
            isUnigram
            ? try reader.id("bos_token_id", count: pieces.count) : try id("bos_token_id", 1)
        endID = try id("eos_token_id", isUnigram ? 1 : 2)
        templateTokens = TemplateTokens(
            begin: beginID.map { pieces[Int($0)] } ?? "", end: endID.map { pieces[Int($0)] } ?? "")
        addsBeginToken = try reader.bool("add_bos_token") ?? !isUnigram
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

    /// A token id; nil without the key, or if there is no such token, as in llama.cpp.
    func id(_ key: String, count: Int) throws(TokenizerError) -> Int32? {
        let number: Int?
        switch metadata["tokenizer.ggml." + key] {
        case nil: return nil
        case .unsigned(let value)?: number = Int(exactly: value)
        case .integer(let value)?: number = Int(exactly: value)
        default: throw wrongType(key, "a whole number")
        }
        if let number, number < 0 {
            throw invalid(
                .idOutOfRange(piece: "tokenizer.ggml." + key, id: number, limit: count))
        }
        return number.flatMap { $0 < count ? Int32(exactly: $0) : nil }
    }

    /// The precompiled map of characters; nil without one.
    func characterMap() throws(TokenizerError) -> CharacterMap? {
        switch metadata["tokenizer.ggml.precompiled_charsmap"] {
        case nil: return nil
        case .integers(let values)?:
            if values.isEmpty { return nil }
            // Bytes, signed or not.
            guard let map = CharacterMap(values.map { UInt8(truncatingIfNeeded: $0) }) else {
                throw invalid(.malformedCharacterMap)
            }
            return map
        default: throw wrongType("precompiled_charsmap", "a list of bytes")
        }
    }

    /// A score for each token. Further ones are of no token.
    func scores(count: Int) throws(TokenizerError) -> [Float] {
        let scores: [Float]
        switch metadata["tokenizer.ggml.scores"] {
        case nil: throw invalid(.missingValue(path: "tokenizer.ggml.scores"))
        case .floats(let values)?: scores = values
        default: throw wrongType("scores", "a list of numbers")
        }
        guard scores.count >= count else {
            throw invalid(
                .countMismatch(
                    path: "tokenizer.ggml.scores", expected: count, found: scores.count))
        }
        return Array(scores.prefix(count))
    }

    /// The tokens that are cut out of the text because of their type.
    func addedTokens(count: Int) throws(TokenizerError) -> [TokenizerDefinition.AddedToken] {
        let types = try types(count: count)
        var added: [TokenizerDefinition.AddedToken] = []
        for (id, type) in types.enumerated() {
            switch type {
            case 2, 3:
                added.append(.init(id: Int32(truncatingIfNeeded: id), isSpecial: true))
            case 4: added.append(.init(id: Int32(truncatingIfNeeded: id)))
            // Others than 1, 5 and 6 are undefined to llama.cpp.
            default: continue
            }
        }
        return added
    }

    /// The type of each token; none without the key. Further ones are of no token.
    func types(count: Int) throws(TokenizerError) -> [Int64] {
        let types: [Int64]
        switch metadata["tokenizer.ggml.token_type"] {
        case nil: return []
        case .integers(let values)?: types = values
        default: throw wrongType("token_type", "a list of whole numbers")
        }
        guard types.count >= count else {
            throw invalid(
                .countMismatch(
                    path: "tokenizer.ggml.token_type", expected: count, found: types.count))
        }
        return Array(types.prefix(count))
    }
}
