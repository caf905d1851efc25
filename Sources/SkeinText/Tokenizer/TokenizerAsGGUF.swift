import SkeinBasics
import SkeinFormats

/// The tokenizer of a Hugging Face folder as GGUF metadata, with the keys that llama.cpp's
/// conversion writes.
///
/// The name in `tokenizer.ggml.pre` is found by trial: the first one with which the metadata is read
/// to the same tokenizer. So nothing is written that would give other tokens.
package enum TokenizerAsGGUF {
    package typealias Entry = (key: String, value: GGUFWriter.Value)

    /// Names that are tried first: others mean the same.
    private static let usualNames = [
        "llama-bpe", "qwen2", "smollm", "gpt-2", "tekken", "gpt-4o", "refact",
    ]

    /// The metadata below `tokenizer.`.
    ///
    /// - Parameters:
    ///   - model: a folder.
    ///   - vocabularySize: rows of the embedding; those without a token get one that is not used.
    /// - Returns: keys and values, in the file's order.
    /// - Throws: `TokenizerError`, also for a tokenizer that GGUF files cannot state; `FileError`.
    package static func metadata(
        of model: ModelFiles, vocabularySize: Int
    ) throws -> [Entry] {
        var entries = try metadata(
            of: model.tokenizerSource, path: model.path, vocabularySize: vocabularySize)
        if let template = model.chatTemplate {
            entries.append(("tokenizer.chat_template", .string(template)))
        }
        for (name, template) in model.namedChatTemplates.sorted(by: { $0.key < $1.key }) {
            entries.append(("tokenizer.chat_template.\(name)", .string(template)))
        }
        return entries
    }

    /// The metadata below `tokenizer.ggml.`.
    static func metadata(
        of source: ModelFiles.TokenizerSource?, path: String, vocabularySize: Int
    ) throws -> [Entry] {
        let entries: [Entry]
        let definition: TokenizerDefinition
        let config: String?
        switch source {
        case .files(let path, let tokenizerConfig):
            config = tokenizerConfig
            var read = try TokenizerDefinition(
                tokenizerJSON: path, tokenizerConfig: tokenizerConfig)
            _ = try Tokenizer(read)
            // llama.cpp takes the earlier one of equal merges.
            read.merges = read.uniqueMerges()
            definition = read
            if definition.sentencePieces == nil {
                entries = try ofBytes(definition, vocabularySize)
            } else {
                // tokenizer.json has no scores.
                let pieces = FilePath.join(FilePath.parent(of: path), "tokenizer.model")
                guard try FileKind.at(pieces) != nil else {
                    throw TokenizerError.unsupported(
                        .model("SentencePiece without tokenizer.model"), source: path)
                }
                entries = try ofPieces(pieces, definition, vocabularySize)
            }
        case .sentencePiece(let path, let tokenizerConfig):
            config = tokenizerConfig
            definition = try TokenizerDefinition(
                sentencePieceModel: path, tokenizerConfig: tokenizerConfig)
            entries = try ofPieces(path, definition, vocabularySize)
        case .tekken(let path):
            throw TokenizerError.unsupported(.model("tekken"), source: path)
        case .gguf, nil: throw TokenizerError.missing(model: path)
        }
        return try entries + roles(definition, config, vocabularySize)
    }

    private static func roles(
        _ definition: TokenizerDefinition, _ config: String?, _ vocabularySize: Int
    ) throws -> [Entry] {
        var entries: [Entry] = []
        func add(_ role: String, _ id: Int32?) {
            guard let id, Int(id) < vocabularySize else { return }
            entries.append(("tokenizer.ggml.\(role)_token_id", .uint32(UInt32(id))))
        }
        add("bos", definition.beginID)
        add("eos", definition.endID)
        add("unknown", definition.unknownID)
        if let config {
            let padding = try TokenizerJSON.decode(PaddingField.self, at: config).name?.piece
            add(
                "padding",
                padding.flatMap { name in definition.pieces.firstIndex { $0 == name } }
                    .flatMap { Int32(exactly: $0) })
        }
        // Without the token, llama.cpp would put another one before a text.
        let hasBegin = definition.beginID.map { Int($0) < vocabularySize } ?? true
        entries.append(
            ("tokenizer.ggml.add_bos_token", .bool(definition.addsBeginToken && hasBegin)))
        return entries
    }

    private struct PaddingField: Decodable {
        let name: TokenizerConfigurationFile.Name?

        private enum CodingKeys: String, CodingKey { case name = "pad_token" }
    }

    /// Pieces up to the size of the vocabulary, and the type of each. A GGUF file has as many as its
    /// model has embeddings: the others are left out, and ids without a token get a name, as in
    /// llama.cpp's conversion.
    private static func pieces(
        _ definition: TokenizerDefinition, _ vocabularySize: Int
    ) -> (pieces: [String], types: [Int32]) {
        var pieces = Array(definition.pieces.prefix(vocabularySize))
        var types = [Int32](repeating: 1, count: vocabularySize)
        for token in definition.addedTokens where Int(token.id) < vocabularySize {
            types[Int(token.id)] = token.isSpecial ? 3 : 4
        }
        while pieces.count < vocabularySize { pieces.append("") }
        for id in pieces.indices where pieces[id].isEmpty {
            pieces[id] = "[PAD\(id)]"
            types[id] = 5
        }
        return (pieces, types)
    }

    // MARK: Tokenizers of bytes

    private static func ofBytes(
        _ definition: TokenizerDefinition, _ vocabularySize: Int
    ) throws -> [Entry] {
        let (pieces, types) = pieces(definition, vocabularySize)
        let added = Set(definition.addedTokens.map { Int($0.id) })
        if let id = definition.pieces.indices.dropFirst(vocabularySize).first(where: {
            !definition.pieces[$0].isEmpty && !added.contains($0)
        }) {
            // Merges would be left that make it.
            throw TokenizerError.unsupported(
                .tokenWithoutEmbedding(id: id), source: definition.source)
        }
        let others = PreTokenizer.namesInGGUF + PreTokenSteps.namesInGGUF
        for name in usualNames + others.filter({ !usualNames.contains($0) }) {
            var metadata: [String: GGUFValue] = [
                "tokenizer.ggml.model": .string("gpt2"), "tokenizer.ggml.pre": .string(name),
                // The names' meaning first: whole vocabularies are compared for one that fits.
                "tokenizer.ggml.tokens": .strings(["a"]), "tokenizer.ggml.merges": .strings([]),
            ]
            let outline = try TokenizerDefinition(ggufMetadata: metadata)
            guard outline.preTokenizer == definition.preTokenizer,
                outline.preTokenSteps?.description == definition.preTokenSteps?.description,
                outline.normalizer == definition.normalizer,
                outline.ignoresMerges == definition.ignoresMerges
            else { continue }
            metadata["tokenizer.ggml.tokens"] = .strings(pieces)
            metadata["tokenizer.ggml.merges"] = .strings(definition.merges)
            metadata["tokenizer.ggml.token_type"] = .integers(types.map { Int64($0) })
            let found = try TokenizerDefinition(ggufMetadata: metadata)
            guard isAlike(found, definition, padded: pieces) else { continue }
            return [
                ("tokenizer.ggml.model", .string("gpt2")), ("tokenizer.ggml.pre", .string(name)),
                ("tokenizer.ggml.tokens", .strings(pieces)),
                ("tokenizer.ggml.token_type", .int32s(types)),
                ("tokenizer.ggml.merges", .strings(definition.merges)),
            ]
        }
        throw TokenizerError.unsupported(
            .preTokenizer("\(definition.preTokenizer.rawValue), as GGUF metadata"),
            source: definition.source)
    }

    /// Whether two definitions give the same tokens. GGUF files do not say whether an added token
    /// swallows the space beside it or is found in the normalized text.
    private static func isAlike(
        _ found: TokenizerDefinition, _ original: TokenizerDefinition, padded pieces: [String]
    ) -> Bool {
        func plain(_ definition: TokenizerDefinition) -> TokenizerDefinition {
            var plain = definition
            plain.pieces = pieces
            plain.addedTokens = definition.addedTokens.filter { Int($0.id) < pieces.count }.map {
                TokenizerDefinition.AddedToken(id: $0.id, isSpecial: $0.isSpecial)
            }
            // Only for bytes that the vocabulary lacks.
            plain.unknownID = nil
            plain.fusesUnknown = false
            return plain
        }
        return plain(found).contentDigest() == plain(original).contentDigest()
    }

    // MARK: Tokenizers of characters

    /// What a tokenizer.model says, and the tokens that the folder's other files add.
    private static func ofPieces(
        _ path: String, _ definition: TokenizerDefinition, _ vocabularySize: Int
    ) throws -> [Entry] {
        let file = try TokenizerJSON.contents(of: path).withUnsafeBufferPointer {
            try SentencePieceFile($0, source: path)
        }
        let metadata = try file.metadata(source: path)
        guard case .string("llama")? = metadata["tokenizer.ggml.model"] else {
            throw TokenizerError.unsupported(.model("Unigram, as GGUF metadata"), source: path)
        }
        // llama.cpp rewrites no text of such a model.
        let rewrites = try TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: nil)
        guard rewrites.sentencePieces?.rules == nil else {
            throw TokenizerError.unsupported(
                .normalizer("of tokenizer.model, as GGUF metadata"), source: path)
        }
        let (pieces, added) = pieces(definition, vocabularySize)
        var types = file.types.prefix(pieces.count).map { Int32($0) }
        var scores = Array(file.scores.prefix(pieces.count))
        for (id, token) in file.pieces.prefix(pieces.count).enumerated()
        where !token.utf8.elementsEqual(pieces[id].utf8) {
            // The folder's other files name it otherwise.
            scores[id] = -1000
        }
        for id in types.indices where added[id] != 1 && types[id] != 2 { types[id] = added[id] }
        for id in types.count..<pieces.count {
            types.append(added[id] == 1 ? 4 : added[id])
            // As llama.cpp's conversion has it for tokens without a score.
            scores.append(-1000)
        }
        var addsPrefix = true
        if case .bool(let flag)? = metadata["tokenizer.ggml.add_space_prefix"] { addsPrefix = flag }
        return [
            ("tokenizer.ggml.model", .string("llama")), ("tokenizer.ggml.pre", .string("default")),
            ("tokenizer.ggml.tokens", .strings(pieces)),
            ("tokenizer.ggml.scores", .float32s(scores)),
            ("tokenizer.ggml.token_type", .int32s(types)),
            ("tokenizer.ggml.add_space_prefix", .bool(addsPrefix)),
        ]
    }
}
