import Foundation

/// Mistral's tekken.json: tokens by their bytes, the most urgent first, and special tokens, whose
/// ids come before those.
struct TekkenFile: Decodable {
    struct Configuration: Decodable {
        let pattern: String
        let vocabularySize: Int
        let specialTokenCount: Int

        private enum CodingKeys: String, CodingKey {
            case pattern
            case vocabularySize = "default_vocab_size"
            case specialTokenCount = "default_num_special_tokens"
        }
    }

    struct Token: Decodable {
        let rank: Int
        /// In base 64.
        let bytes: String

        private enum CodingKeys: String, CodingKey {
            case rank
            case bytes = "token_bytes"
        }
    }

    struct SpecialToken: Decodable {
        let rank: Int
        let text: String

        private enum CodingKeys: String, CodingKey {
            case rank
            case text = "token_str"
        }
    }

    let configuration: Configuration
    let tokens: [Token]
    /// Nil in the first files of this kind: `usualSpecialTokens`.
    let specialTokens: [SpecialToken]?

    private enum CodingKeys: String, CodingKey {
        case configuration = "config"
        case tokens = "vocab"
        case specialTokens = "special_tokens"
    }

    static let usualSpecialTokens = [
        "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
        "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]",
        "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
        "[TOOL_CONTENT]",
    ]
}

extension TokenizerDefinition {
    /// Reads a tekken.json.
    ///
    /// - Throws: `TokenizerError`; `FileError`.
    init(tekken path: String) throws {
        try self.init(TokenizerJSON.decode(TekkenFile.self, at: path), source: path)
    }

    /// The first 256 tokens are the bytes; of the others, those beyond the size of the vocabulary
    /// are left out, as mistral_common does.
    init(_ file: TekkenFile, source: String) throws(TokenizerError) {
        let limit = TokenizerLimits.tokens
        func invalid(_ flaw: TokenizerError.Flaw) -> TokenizerError {
            .invalid(flaw, source: source)
        }
        let configuration = file.configuration
        let count = configuration.vocabularySize
        guard count <= limit else { throw invalid(.tooManyTokens(found: count, limit: limit)) }
        guard configuration.specialTokenCount >= 0, configuration.specialTokenCount <= count else {
            throw invalid(
                .wrongType(
                    path: "config.default_num_special_tokens", expected: "in 0...\(count)"))
        }
        let ordinary = count - configuration.specialTokenCount
        guard ordinary >= 256, ordinary <= file.tokens.count else {
            throw invalid(
                .countMismatch(path: "vocab", expected: ordinary, found: file.tokens.count))
        }
        self.init(
            source: source, pieces: try Self.specialPieces(file, source: source), merges: [],
            preTokenizer: .whole)
        addedTokens = pieces.indices.map {
            AddedToken(id: Int32(truncatingIfNeeded: $0), isSpecial: true)
        }
        firstRankedID = Int32(truncatingIfNeeded: pieces.count)
        ignoresMerges = true
        for (rank, token) in file.tokens.prefix(ordinary).enumerated() {
            pieces.append(try Self.piece(of: token, rank: rank, source: source))
        }
        if let known = PreTokenizer(pattern: configuration.pattern) {
            preTokenizer = known
        } else {
            do throws(ExpressionFlaw) {
                let pattern = configuration.pattern
                preTokenSteps = PreTokenSteps(
                    steps: [PreTokenStep(try Expression(pattern), name: "r" + pattern)])
            } catch {
                throw .unsupported(
                    .expression(configuration.pattern, error), source: source)
            }
        }
        func id(_ piece: String) -> Int32? {
            addedTokens.first { pieces[Int($0.id)] == piece }?.id
        }
        beginID = id("<s>")
        endID = id("</s>")
        templateTokens = TemplateTokens(
            begin: beginID.map { _ in "<s>" }, end: endID.map { _ in "</s>" })
        addsBeginToken = beginID != nil
    }

    /// The special tokens by id; those without a name are called as mistral_common calls them.
    private static func specialPieces(
        _ file: TekkenFile, source: String
    ) throws(TokenizerError) -> [String] {
        let count = file.configuration.specialTokenCount
        let named = file.specialTokens?.map(\.text) ?? TekkenFile.usualSpecialTokens
        guard named.count <= count else {
            throw .invalid(
                .countMismatch(path: "special_tokens", expected: count, found: named.count),
                source: source)
        }
        for (index, token) in (file.specialTokens ?? []).enumerated() where token.rank != index {
            throw .invalid(
                .wrongType(path: "special_tokens[\(index)].rank", expected: "\(index)"),
                source: source)
        }
        return named + (named.count..<count).map { "<SPECIAL_\($0)>" }
    }

    /// A token in the byte alphabet.
    private static func piece(
        of token: TekkenFile.Token, rank: Int, source: String
    ) throws(TokenizerError) -> String {
        func invalid(_ field: String, _ expected: String) -> TokenizerError {
            .invalid(
                .wrongType(path: "vocab[\(rank)].\(field)", expected: expected), source: source)
        }
        guard token.rank == rank else { throw invalid("rank", "\(rank)") }
        let limit = TokenizerLimits.rankedTokenBytes
        guard token.bytes.utf8.count <= limit * 4 / 3 + 4,
            let bytes = Data(base64Encoded: token.bytes), !bytes.isEmpty, bytes.count <= limit
        else { throw invalid("token_bytes", "1 to \(limit) bytes in base 64") }
        if rank < 256, bytes.count != 1 || Int(bytes[bytes.startIndex]) != rank {
            throw invalid("token_bytes", "the byte \(rank)")
        }
        return String(
            decoding: bytes.flatMap { ByteAlphabet.spelling(of: $0) }, as: UTF8.self)
    }
}
