import SkeinBasics
import SkeinJSON

/// The parts of tokenizer.json that BPE needs, as in the file.
struct TokenizerFile: Decodable {
    private(set) var model: Model
    let normalizer: Stage?
    let preTokenizer: Stage?
    let postProcessor: Stage?
    let decoder: Stage?
    let addedTokens: [AddedToken]?

    enum CodingKeys: String, CodingKey {
        case model
        case normalizer
        case preTokenizer = "pre_tokenizer"
        case postProcessor = "post_processor"
        case decoder
        case addedTokens = "added_tokens"
    }

    /// Reads a tokenizer.json.
    ///
    /// - Throws: `TokenizerError` that names `source`.
    static func read(_ json: [UInt8], source: String) throws(TokenizerError) -> TokenizerFile {
        let tree = try TokenizerJSON.tree(json, source: source)
        var file = try TokenizerJSON.decode(TokenizerFile.self, from: tree, source: source)
        if file.model.type == "BPE" { try file.model.readPieces(tree["model"], source: source) }
        return file
    }

    /// The vocabulary and merges of BPE, or the pieces of Unigram; of other models only the type is
    /// read.
    struct Model: Decodable {
        var type = "BPE"
        /// Unigram's pieces and their scores, by id.
        private(set) var scoredPieces: [ScoredPiece] = []
        private(set) var unknownIndex: Int?
        /// Pieces and their ids as the file lists them.
        private(set) var vocabulary: [(piece: String, id: Int)] = []
        private(set) var merges: [String] = []
        var dropout: Double?
        var unknownToken: String?
        var fusesUnknown: Bool?
        var byteFallback: Bool?
        var ignoresMerges: Bool?
        var subwordPrefix: String?
        var wordSuffix: String?

        private enum CodingKeys: String, CodingKey {
            case type
            case vocabulary = "vocab"
            case merges
            case dropout
            case unknownToken = "unk_token"
            case unknownIndex = "unk_id"
            case fusesUnknown = "fuse_unk"
            case byteFallback = "byte_fallback"
            case ignoresMerges = "ignore_merges"
            case subwordPrefix = "continuing_subword_prefix"
            case wordSuffix = "end_of_word_suffix"
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            type = try values.decodeIfPresent(String.self, forKey: .type) ?? type
            if type == "Unigram" {
                scoredPieces = try values.decode([ScoredPiece].self, forKey: .vocabulary)
                unknownIndex = try values.decodeIfPresent(Int.self, forKey: .unknownIndex)
                byteFallback = try values.decodeIfPresent(Bool.self, forKey: .byteFallback)
            }
            guard type == "BPE" else { return }
            dropout = try values.decodeIfPresent(Double.self, forKey: .dropout)
            unknownToken = try values.decodeIfPresent(String.self, forKey: .unknownToken)
            fusesUnknown = try values.decodeIfPresent(Bool.self, forKey: .fusesUnknown)
            byteFallback = try values.decodeIfPresent(Bool.self, forKey: .byteFallback)
            ignoresMerges = try values.decodeIfPresent(Bool.self, forKey: .ignoresMerges)
            subwordPrefix = try values.decodeIfPresent(String.self, forKey: .subwordPrefix)
            wordSuffix = try values.decodeIfPresent(String.self, forKey: .wordSuffix)
        }

        /// Reads vocabulary and merges of BPE. There are hundreds of thousands of them, for which a
        /// decoder would take longer than all else does.
        fileprivate mutating func readPieces(
            _ model: JSONValue?, source: String
        ) throws(TokenizerError) {
            func value(_ key: CodingKeys) throws(TokenizerError) -> JSONValue {
                guard let value = model?[key.rawValue] else {
                    throw .invalid(.missingValue(path: "model.\(key.rawValue)"), source: source)
                }
                return value
            }
            func wrong(_ path: String, _ expected: String) -> TokenizerError {
                .invalid(.wrongType(path: "model.\(path)", expected: expected), source: source)
            }
            guard let entries = try value(.vocabulary).fields else {
                throw wrong("vocab", "an object")
            }
            vocabulary.reserveCapacity(entries.count)
            for entry in entries {
                guard let id = entry.value.integer else {
                    throw wrong("vocab.\(ForeignText.shown(entry.name))", "a whole number")
                }
                vocabulary.append((entry.name, id))
            }
            guard let list = try value(.merges).list else { throw wrong("merges", "a list") }
            merges.reserveCapacity(list.count)
            // As "a b" (until tokenizers 0.19) or as ["a", "b"] (since 0.20).
            let areTexts = list.first?.list == nil
            for (rank, merge) in list.enumerated() {
                switch merge {
                case .text(let line) where areTexts: merges.append(line)
                case .list(let pair) where !areTexts:
                    guard pair.count == 2 else { throw wrong("merges", "a list of pairs of texts") }
                    guard let left = pair[0].string, let right = pair[1].string else {
                        let place = pair[0].string == nil ? 0 : 1
                        throw wrong("merges[\(rank)][\(place)]", "a text")
                    }
                    merges.append(left + " " + right)
                default: throw wrong("merges[\(rank)]", areTexts ? "a text" : "a list")
                }
            }
        }
    }

    /// ["piece", -3.5].
    struct ScoredPiece: Decodable {
        let piece: String
        let score: Double

        init(from decoder: any Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            piece = try pair.decode(String.self)
            score = try pair.decode(Double.self)
        }
    }

    /// A normalizer, pre-tokenizer, post-processor or decoder, or a sequence of them.
    struct Stage: Decodable {
        let type: String
        private let normalizers: [Stage]?
        private let pretokenizers: [Stage]?
        private let processors: [Stage]?
        private let decoders: [Stage]?
        /// Fields of ByteLevel.
        let addsPrefixSpace: Bool?
        let usesRegex: Bool?
        /// A field of Digits.
        let isolatesDigits: Bool?
        /// A field of CharDelimiterSplit.
        let delimiter: String?
        /// Fields of Split.
        let pattern: [String: String]?
        let behavior: String?
        let isInverted: Bool?
        /// Fields of Prepend, Replace, Strip and Metaspace.
        let prepended: String?
        let content: String?
        let start: Int?
        let stop: Int?
        let replacement: String?
        let prependScheme: String?
        let splits: Bool?
        /// Fields of the normalizers Strip and Precompiled.
        let stripsLeft: Bool?
        let stripsRight: Bool?
        let characterMap: String?
        /// A field of BertProcessing and RobertaProcessing: the token before a text, and its id.
        let firstToken: NamedToken?
        /// A field of TemplateProcessing: what surrounds a single text.
        let single: [TemplatePart]?

        /// The stage itself, or the parts of a sequence, however deeply nested.
        var steps: [Stage] {
            guard type == "Sequence" else { return [self] }
            let parts = normalizers ?? pretokenizers ?? processors ?? decoders ?? []
            return parts.flatMap(\.steps)
        }

        private enum CodingKeys: String, CodingKey {
            case type
            case normalizers
            case pretokenizers
            case processors
            case decoders
            case addsPrefixSpace = "add_prefix_space"
            case usesRegex = "use_regex"
            case isolatesDigits = "individual_digits"
            case delimiter
            case pattern
            case behavior
            case isInverted = "invert"
            case prepended = "prepend"
            case content
            case start
            case stop
            case replacement
            case prependScheme = "prepend_scheme"
            case splits = "split"
            case stripsLeft = "strip_left"
            case stripsRight = "strip_right"
            case characterMap = "precompiled_charsmap"
            case firstToken = "cls"
            case single
        }
    }

    /// ["<s>", 0].
    struct NamedToken: Decodable {
        let piece: String

        init(from decoder: any Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            piece = try pair.decode(String.self)
        }
    }

    /// {"SpecialToken": {"id": "<s>"}} or {"Sequence": {"id": "A"}}.
    struct TemplatePart: Decodable {
        struct Token: Decodable { let id: String }
        let token: Token?

        private enum CodingKeys: String, CodingKey { case token = "SpecialToken" }
    }

    struct AddedToken: Decodable {
        let id: Int
        let content: String
        let special: Bool?
        let normalized: Bool?
        let isSingleWord: Bool?
        let stripsLeft: Bool?
        let stripsRight: Bool?

        private enum CodingKeys: String, CodingKey {
            case id
            case content
            case special
            case normalized
            case isSingleWord = "single_word"
            case stripsLeft = "lstrip"
            case stripsRight = "rstrip"
        }
    }
}

/// The parts of tokenizer_config.json that give tokens their roles.
struct TokenizerConfigurationFile: Decodable {
    let beginToken: Name?
    let endToken: Name?
    let addsBeginToken: Bool?
    /// By id, as a decimal number.
    let addedTokens: [String: AddedToken]?

    private enum CodingKeys: String, CodingKey {
        case addedTokens = "added_tokens_decoder"
        case beginToken = "bos_token"
        case endToken = "eos_token"
        case addsBeginToken = "add_bos_token"
    }

    struct AddedToken: Decodable {
        let content: String
        let special: Bool?
        let normalized: Bool?
        let isSingleWord: Bool?
        let stripsLeft: Bool?
        let stripsRight: Bool?

        private enum CodingKeys: String, CodingKey {
            case content
            case special
            case normalized
            case isSingleWord = "single_word"
            case stripsLeft = "lstrip"
            case stripsRight = "rstrip"
        }
    }

    /// A token by its piece: a text, or an object with the text as its `content`.
    struct Name: Decodable {
        let piece: String
        /// What the object says besides; nil for a text.
        let form: AddedToken?

        private enum CodingKeys: String, CodingKey { case content }

        init(from decoder: any Decoder) throws {
            let fields: KeyedDecodingContainer<CodingKeys>
            do {
                fields = try decoder.container(keyedBy: CodingKeys.self)
            } catch DecodingError.typeMismatch(_, let context)
                where context.codingPath.count == decoder.codingPath.count
            {
                piece = try decoder.singleValueContainer().decode(String.self)
                form = nil
                return
            }
            piece = try fields.decode(String.self, forKey: .content)
            form = try AddedToken(from: decoder)
        }
    }
}
