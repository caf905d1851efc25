import SkeinBasics
import SkeinFormats
import SkeinJSON

/// The tokenizer of a GGUF file as the files of a Hugging Face folder.
package enum TokenizerAsFiles {
    /// tokenizer.json, of a SentencePiece model also tokenizer.model, which has its scores,
    /// tokenizer_config.json, generation_config.json and chat templates.
    ///
    /// - Parameter metadata: of a GGUF file.
    /// - Returns: names and contents.
    /// - Throws: `TokenizerError`, also for a tokenizer that is not written.
    package static func files(
        _ metadata: [String: GGUFValue]
    ) throws -> [(name: String, bytes: [UInt8])] {
        var definition = try TokenizerDefinition(ggufMetadata: metadata)
        // All that can be wrong with it, before anything goes through its pieces: one of a megabyte took
        // hours.
        _ = try Tokenizer(definition)
        // tokenizers takes the later one of equal merges.
        definition.merges = definition.uniqueMerges()
        var files: [(name: String, bytes: [UInt8])] = []
        if definition.sentencePieces != nil {
            guard case .string("llama")? = metadata["tokenizer.ggml.model"] else {
                throw TokenizerError.unsupported(
                    .model("t5, as tokenizer.model"), source: definition.source)
            }
            files.append(("tokenizer.model", SentencePieceBytes.model(metadata, definition)))
        }
        if SentencePieceJSON.canState(definition) {
            files.append(("tokenizer.json", Array(try json(definition).utf8)))
        }
        files.append(("tokenizer_config.json", Array(configuration(definition, metadata).utf8)))
        var tokens: [(String, JSONValue)] = []
        for (name, id) in [
            ("bos_token_id", definition.beginID), ("eos_token_id", definition.endID),
        ] {
            if let id { tokens.append((name, .integer(Int(id)))) }
        }
        files.append(
            ("generation_config.json", Array((JSONValue.fields(tokens).written + "\n").utf8)))
        if case .string(let template)? = metadata["tokenizer.chat_template"] {
            files.append(("chat_template.jinja", Array(template.utf8)))
        }
        let prefix = "tokenizer.chat_template."
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) where key.hasPrefix(prefix) {
            guard case .string(let template) = value else { continue }
            let name = key.dropFirst(prefix.count)
            // It becomes a file's name.
            guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isPlain) else {
                throw TokenizerError.unsupported(
                    .model("a chat template named \(name.prefix(64).debugDescription)"),
                    source: definition.source)
            }
            files.append(("additional_chat_templates/\(name).jinja", Array(template.utf8)))
        }
        return files
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func configuration(
        _ definition: TokenizerDefinition, _ metadata: [String: GGUFValue]
    ) -> String {
        func piece(_ id: Int32?) -> JSONValue {
            id.map { .text(definition.pieces[Int($0)]) } ?? .null
        }
        let isOfPieces = definition.sentencePieces != nil
        var fields: [(String, JSONValue)] = [
            ("add_bos_token", .bool(definition.addsBeginToken)),
            ("add_eos_token", .bool(false)),
            ("bos_token", piece(definition.beginID)), ("eos_token", piece(definition.endID)),
            ("unk_token", isOfPieces ? piece(definition.unknownID) : .null),
            ("clean_up_tokenization_spaces", .bool(false)),
            ("tokenizer_class", .text("PreTrainedTokenizerFast")),
        ]
        if case .unsigned(let id)? = metadata["tokenizer.ggml.padding_token_id"],
            id < definition.pieces.count
        {
            fields.append(("pad_token", .text(definition.pieces[Int(id)])))
        }
        if isOfPieces {
            fields.append(
                (
                    "added_tokens_decoder",
                    .fields(
                        definition.addedTokens.map { token in
                            (String(token.id), .fields(added(token, definition)))
                        })
                ))
        }
        return JSONValue.fields(fields).written + "\n"
    }

    private static func added(
        _ token: TokenizerDefinition.AddedToken, _ definition: TokenizerDefinition
    ) -> [(String, JSONValue)] {
        [
            ("content", .text(definition.pieces[Int(token.id)])),
            ("single_word", .bool(token.isSingleWord)), ("lstrip", .bool(token.stripsLeft)),
            ("rstrip", .bool(token.stripsRight)), ("normalized", .bool(token.isNormalized)),
            ("special", .bool(token.isSpecial)),
        ]
    }

    // MARK: tokenizer.json

    private static func json(_ definition: TokenizerDefinition) throws(TokenizerError) -> String {
        let byteLevel: JSONValue = .fields([
            ("type", .text("ByteLevel")), ("add_prefix_space", .bool(false)),
            ("trim_offsets", .bool(true)), ("use_regex", .bool(true)),
        ])
        let tokens = definition.addedTokens.sorted { $0.id < $1.id }.map { token in
            JSONValue.fields(
                [("id", .integer(Int(token.id)))] + added(token, definition))
        }
        var beginning: JSONValue = .null
        if definition.addsBeginToken, let id = definition.beginID {
            beginning = template(definition.pieces[Int(id)], Int(id))
        }
        let isOfPieces = definition.sentencePieces != nil
        let unknown = isOfPieces ? definition.unknownID : nil
        let model: JSONValue = .fields([
            ("type", .text("BPE")), ("dropout", .null),
            ("unk_token", unknown.map { .text(definition.pieces[Int($0)]) } ?? .null),
            ("continuing_subword_prefix", .null), ("end_of_word_suffix", .null),
            ("fuse_unk", .bool(isOfPieces)),
            ("byte_fallback", .bool(definition.sentencePieces?.fallsBackToBytes ?? false)),
            ("ignore_merges", .bool(definition.ignoresMerges)),
            (
                "vocab",
                .fields(
                    definition.pieces.enumerated().filter { !$1.isEmpty }
                        .map { ($1, .integer($0)) })
            ),
            (
                "merges",
                .list(
                    isOfPieces
                        ? SentencePieceJSON.merges(definition)
                        : definition.merges.map { .text($0) })
            ),
        ])
        return JSONValue.fields([
            ("version", .text("1.0")), ("truncation", .null), ("padding", .null),
            ("added_tokens", .list(tokens)),
            (
                "normalizer",
                isOfPieces
                    ? SentencePieceJSON.normalizer(definition)
                    : definition.normalizer == .composed
                        ? .fields([("type", .text("NFC"))]) : .null
            ),
            ("pre_tokenizer", isOfPieces ? .null : try stages(definition, byteLevel)),
            ("post_processor", beginning),
            ("decoder", isOfPieces ? SentencePieceJSON.decoder(definition) : byteLevel),
            ("model", model),
        ]).written
    }

    /// What puts the first token before a text.
    private static func template(_ piece: String, _ id: Int) -> JSONValue {
        func token(_ type: Int) -> JSONValue {
            .fields([
                ("SpecialToken", .fields([("id", .text(piece)), ("type_id", .integer(type))]))
            ])
        }
        func sequence(_ name: String, _ type: Int) -> JSONValue {
            .fields([("Sequence", .fields([("id", .text(name)), ("type_id", .integer(type))]))])
        }
        let single = [token(0), sequence("A", 0)]
        let known: JSONValue = .fields([
            ("id", .text(piece)), ("ids", .list([.integer(id)])),
            ("tokens", .list([.text(piece)])),
        ])
        return .fields([
            ("type", .text("TemplateProcessing")), ("single", .list(single)),
            ("pair", .list(single + [token(1), sequence("B", 1)])),
            ("special_tokens", .fields([(piece, known)])),
        ])
    }

    private static func stages(
        _ definition: TokenizerDefinition, _ byteLevel: JSONValue
    ) throws(TokenizerError) -> JSONValue {
        func sequence(_ first: JSONValue, _ last: JSONValue) -> JSONValue {
            .fields([
                ("type", .text("Sequence")), ("pretokenizers", .list([first, last])),
            ])
        }
        guard definition.preTokenSteps == nil else {
            throw .unsupported(
                .preTokenizer("of several expressions, as tokenizer.json"),
                source: definition.source)
        }
        if let pattern = definition.preTokenizer.pattern {
            let split: JSONValue = .fields([
                ("type", .text("Split")), ("pattern", .fields([("Regex", .text(pattern))])),
                ("behavior", .text("Isolated")), ("invert", .bool(false)),
            ])
            return sequence(
                split,
                .fields([
                    ("type", .text("ByteLevel")), ("add_prefix_space", .bool(false)),
                    ("trim_offsets", .bool(true)), ("use_regex", .bool(false)),
                ]))
        }
        switch definition.preTokenizer {
        case .smollm:
            return sequence(
                .fields([("type", .text("Digits")), ("individual_digits", .bool(true))]),
                byteLevel)
        case .gpt2: return byteLevel
        default:
            throw .unsupported(
                .preTokenizer(definition.preTokenizer.rawValue), source: definition.source)
        }
    }
}

/// A tokenizer.model: the message of SentencePiece's sentencepiece_model.proto.
enum SentencePieceBytes {
    static func model(
        _ metadata: [String: GGUFValue], _ definition: TokenizerDefinition
    ) -> [UInt8] {
        var scores: [Float] = []
        if case .floats(let values)? = metadata["tokenizer.ggml.scores"] { scores = values }
        var types: [Int64] = []
        if case .integers(let values)? = metadata["tokenizer.ggml.token_type"] { types = values }
        var out: [UInt8] = []
        for (id, piece) in definition.pieces.enumerated() {
            var message: [UInt8] = []
            // SentencePiece refuses an empty piece; llama.cpp gives it this name.
            append(1, Array((piece.isEmpty ? "[EMPTY_\(id)]" : piece).utf8), to: &message)
            message.append(2 << 3 | 5)
            withUnsafeBytes(of: (id < scores.count ? scores[id] : 0).bitPattern.littleEndian) {
                message += $0
            }
            append(3, UInt64(id < types.count ? types[id] : 1), to: &message)
            append(1, message, to: &out)
        }
        var training: [UInt8] = []
        append(3, 2, to: &training)
        append(35, types.contains(6) ? 1 : 0, to: &training)
        for (field, id) in [
            (40, definition.unknownID), (41, definition.beginID), (42, definition.endID),
        ] {
            // None is -1, of 64 bits as all negative numbers there.
            append(field, UInt64(bitPattern: Int64(id ?? -1)), to: &training)
        }
        append(2, training, to: &out)
        var normalizer: [UInt8] = []
        append(1, Array("identity".utf8), to: &normalizer)
        let hasPrefix = definition.sentencePieces.map { $0.prefix != .none } ?? true
        append(3, hasPrefix ? 1 : 0, to: &normalizer)
        append(4, 0, to: &normalizer)
        append(5, 1, to: &normalizer)
        append(3, normalizer, to: &out)
        return out
    }

    private static func varint(_ number: UInt64, to out: inout [UInt8]) {
        var rest = number
        while rest > 0x7f {
            out.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(rest))
    }

    private static func append(_ field: Int, _ number: UInt64, to out: inout [UInt8]) {
        varint(UInt64(field << 3), to: &out)
        varint(number, to: &out)
    }

    private static func append(_ field: Int, _ bytes: [UInt8], to out: inout [UInt8]) {
        varint(UInt64(field << 3 | 2), to: &out)
        varint(UInt64(bytes.count), to: &out)
        out += bytes
    }
}
