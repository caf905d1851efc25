import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

/// Tokenizers written in the other format give the same tokens.
@Suite struct TokenizerFormatsTests {
    private static let texts = [
        "The keeper didn't count 214 steps.\n\n  Two  spaces, and\ttabs.",
        "HelloWorld it's O'Brien",
        "caf\u{e9} e\u{301} \u{1f600} \u{4f60}\u{597d}", "<|im_start|>user\nhi<|im_end|>", " ",
        "a", "def f(x):\n    return x ** 2  # 1,000,000", "",
    ]

    /// What a GGUF reader sees of entries that were written.
    private static func read(_ entries: [TokenizerAsGGUF.Entry]) throws -> [String: GGUFValue] {
        try TestPaths.withTemporaryDirectory { directory in
            try GGUFWriter.write(metadata: entries, tensors: [], to: directory + "/t.gguf")
            return try GGUFFile(path: directory + "/t.gguf").metadata
        }
    }

    /// `size`: rows of the embedding; nil: as many as ids.
    private static func entries(
        _ source: ModelFiles.TokenizerSource, size: Int? = nil
    ) throws -> [TokenizerAsGGUF.Entry] {
        let tokenizer: Tokenizer? =
            switch source {
            case .files(let path, let config):
                try Tokenizer(tokenizerJSON: path, tokenizerConfig: config)
            case .sentencePiece(let path, let config):
                try Tokenizer(
                    TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: config))
            default: nil
            }
        return try TokenizerAsGGUF.metadata(
            of: source, path: "model", vocabularySize: size ?? tokenizer?.vocabularySize ?? 0)
    }

    private static func written(
        _ metadata: [String: GGUFValue], to directory: String
    ) throws -> [String] {
        let files = try TokenizerAsFiles.files(metadata)
        for (name, bytes) in files { try AtomicFile.write(bytes, to: "\(directory)/\(name)") }
        return files.map(\.name)
    }

    @Test(
        "tokenizer.json becomes GGUF metadata and tokenizer.json again",
        arguments: ["gpt2", "smollm", "llama3", "qwen2", "o200k"])
    func ofBytes(name: String) throws {
        let path = Fixtures.path(name)
        let original = try Fixtures.tokenizer(name)
        let size = original.vocabularySize
        let metadata = try Self.read(
            Self.entries(.files(tokenizerJSON: path, tokenizerConfig: nil), size: size + 3))
        let names = [
            "gpt2": "gpt-2", "llama3": "llama-bpe", "o200k": "gpt-4o",
        ]
        #expect(metadata["tokenizer.ggml.pre"] == .string(names[name] ?? name))
        let gguf = try Tokenizer(ggufMetadata: metadata)
        #expect(gguf.vocabularySize == size + 3)
        #expect(gguf.addsBeginToken == original.addsBeginToken && gguf.beginID == original.beginID)
        for text in Self.texts { #expect(gguf.encode(text) == original.encode(text), "\(text)") }
        try TestPaths.withTemporaryDirectory { directory in
            #expect(
                try Self.written(metadata, to: directory)
                    == ["tokenizer.json", "tokenizer_config.json", "generation_config.json"])
            let again = try Tokenizer(
                tokenizerJSON: directory + "/tokenizer.json",
                tokenizerConfig: directory + "/tokenizer_config.json")
            #expect(again.contentDigest == gguf.contentDigest)
            #expect(again.beginID == gguf.beginID && again.endID == gguf.endID)
            #expect(again.addsBeginToken == gguf.addsBeginToken)
            for text in Self.texts {
                #expect(try again.ids(ofWhole: text) == gguf.ids(ofWhole: text))
            }
        }
    }

    @Test("tokenizer.model becomes GGUF metadata and tokenizer.model again")
    func ofPieces() throws {
        let path = TestPaths.fixture("tokenizers/pieces.model")
        let original = try Tokenizer(
            TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: nil))
        let metadata = try Self.read(
            Self.entries(.sentencePiece(model: path, tokenizerConfig: nil)))
        #expect(metadata["tokenizer.ggml.model"] == .string("llama"))
        let gguf = try Tokenizer(ggufMetadata: metadata)
        for text in Self.texts { #expect(gguf.encode(text) == original.encode(text), "\(text)") }
        try Self.expectPieces(gguf, metadata, files: ["tokenizer.model"])
        // The fixture's pieces of two spaces come before any merge, which tokenizer.json cannot say
        // of a model that puts a space before a text.
        var others = metadata
        guard case .integers(let types)? = metadata["tokenizer.ggml.token_type"] else { return }
        others["tokenizer.ggml.token_type"] = .integers(types.map { $0 == 4 ? 5 : $0 })
        try Self.expectPieces(
            Tokenizer(ggufMetadata: others), others, files: ["tokenizer.model", "tokenizer.json"])
    }

    /// The files of pieces with scores that are written, and that each gives the same tokens.
    private static func expectPieces(
        _ gguf: Tokenizer, _ metadata: [String: GGUFValue], files: [String]
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            #expect(try written(metadata, to: directory).prefix(files.count) == files[...])
            let config = directory + "/tokenizer_config.json"
            var tokenizers = [
                try Tokenizer(
                    TokenizerDefinition(
                        sentencePieceModel: directory + "/tokenizer.model",
                        tokenizerConfig: config))
            ]
            if files.contains("tokenizer.json") {
                tokenizers.append(
                    try Tokenizer(
                        tokenizerJSON: directory + "/tokenizer.json", tokenizerConfig: config))
            }
            for tokenizer in tokenizers {
                #expect(tokenizer.beginID == gguf.beginID && tokenizer.endID == gguf.endID)
                for text in texts {
                    #expect(try tokenizer.ids(ofWhole: text) == gguf.ids(ofWhole: text), "\(text)")
                }
            }
        }
    }

    @Test("what the other format cannot state is refused by name")
    func refused() throws {
        // llama.cpp ignores merges for tekken's name; this file does not.
        for name in ["tekken", "prefix", "unigram_t5", "pieces_llama"] {
            #expect(throws: TokenizerError.self, "\(name)") {
                try Self.entries(
                    .files(tokenizerJSON: Fixtures.path(name), tokenizerConfig: nil))
            }
        }
        for name in ["unigram.model", "pairs_mapped.model"] {
            #expect(throws: TokenizerError.self, "\(name)") {
                try Self.entries(
                    .sentencePiece(
                        model: TestPaths.fixture("tokenizers/" + name), tokenizerConfig: nil))
            }
        }
        var metadata = try Self.read(
            Self.entries(.files(tokenizerJSON: Fixtures.path("gpt2"), tokenizerConfig: nil)))
        let sound = metadata
        metadata["tokenizer.ggml.pre"] = .string("falcon")
        #expect(throws: TokenizerError.self) { try TokenizerAsFiles.files(metadata) }
        // Names of chat templates become names of files.
        for (name, isRead) in [
            ("tool-use_2", true), ("", false), ("a/b", false), ("..", false), ("ü", false),
            (String(repeating: "a", count: 65), false),
        ] {
            metadata = sound
            metadata["tokenizer.chat_template." + name] = .string("x")
            let names = try? TokenizerAsFiles.files(metadata).map(\.name)
            #expect(
                names?.contains("additional_chat_templates/\(name).jinja") == (isRead ? true : nil))
        }
    }

    @Test("the real model's tokenizer keeps its digest", .enabled(if: TestPaths.model != nil))
    func realModel() throws {
        let path = try #require(TestPaths.model)
        let metadata = try GGUFFile(path: path).metadata
        let gguf = try Tokenizer(ggufMetadata: metadata)
        try TestPaths.withTemporaryDirectory { directory in
            _ = try Self.written(metadata, to: directory)
            let files = ModelFiles.TokenizerSource.files(
                tokenizerJSON: directory + "/tokenizer.json",
                tokenizerConfig: directory + "/tokenizer_config.json")
            let again = try Tokenizer(ggufMetadata: Self.read(Self.entries(files)))
            #expect(again.contentDigest == gguf.contentDigest)
        }
    }
}
