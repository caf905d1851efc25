import Foundation
import SkeinBasics
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

@Suite struct TokenizerTests {
    /// What a GGUF converter writes for a tokenizer.json with one of the supported pre-tokenizers.
    private func metadata(_ definition: TokenizerDefinition) -> [String: GGUFValue] {
        var types = [Int64](repeating: 1, count: definition.pieces.count)
        for token in definition.addedTokens { types[Int(token.id)] = token.isSpecial ? 3 : 4 }
        return [
            "tokenizer.ggml.model": .string("gpt2"),
            "tokenizer.ggml.pre": .string(definition.preTokenizer.rawValue),
            "tokenizer.ggml.tokens": .strings(definition.pieces),
            "tokenizer.ggml.token_type": .integers(types),
            "tokenizer.ggml.merges": .strings(definition.merges),
            "tokenizer.ggml.eos_token_id": .unsigned(2),
            "tokenizer.ggml.bos_token_id": .integer(1),
            "tokenizer.ggml.add_bos_token": .bool(true),
        ]
    }

    @Test("one tokenizer has one digest, from GGUF metadata and from tokenizer.json")
    func digests() throws {
        var digests: Set<SHA256.Digest> = []
        for name in ["gpt2", "smollm", "llama3"] {
            let definition = try TokenizerDefinition(
                tokenizerJSON: Fixtures.path(name), tokenizerConfig: nil)
            let fromJSON = try Tokenizer(definition)
            let fromGGUF = try Tokenizer(ggufMetadata: metadata(definition))
            #expect(fromJSON.contentDigest == fromGGUF.contentDigest)
            let text = "the lamp 123's <|im_end|> xyzzy\n\n"
            #expect(fromJSON.encode(text) == fromGGUF.encode(text))
            digests.insert(fromJSON.contentDigest)
        }
        #expect(digests.count == 3)
    }

    @Test("the digest changes with everything that the ids depend on")
    func digestChanges() throws {
        let base = TokenizerDefinition(
            source: "test", pieces: ["a", "b", "ab", "ba"], addedTokens: [.init(id: 3)],
            merges: ["a b", "b a"], preTokenizer: .gpt2)
        var variants = [base]
        func vary(_ change: (inout TokenizerDefinition) -> Void) {
            var variant = base
            change(&variant)
            variants.append(variant)
        }
        vary { $0.pieces = ["b", "a", "ab", "ba"] }
        vary { $0.merges = ["b a", "a b"] }
        vary { $0.merges = ["a b"] }
        vary { $0.preTokenizer = .smollm }
        vary { $0.addsPrefixSpace = true }
        vary { $0.normalizer = .composed }
        vary { $0.ignoresMerges = true }
        vary { $0.unknownID = 0 }
        vary { $0.fusesUnknown = true }
        vary { $0.addedTokens = [] }
        vary { $0.addedTokens[0].isSpecial = true }
        vary { $0.addedTokens[0].isNormalized = true }
        vary { $0.addedTokens[0].isSingleWord = true }
        vary { $0.addedTokens[0].stripsLeft = true }
        vary { $0.addedTokens[0].stripsRight = true }
        #expect(Set(try variants.map { try Tokenizer($0).contentDigest }).count == variants.count)
        // The digest does not depend on the roles of tokens.
        var roles = base
        roles.beginID = 1
        roles.endID = 2
        #expect(try Tokenizer(roles).contentDigest == Tokenizer(base).contentDigest)
    }

    @Test("gives pieces, ids and bytes")
    func vocabulary() throws {
        let tokenizer = try Fixtures.tokenizer("smollm")
        #expect(tokenizer.vocabularySize == 400)
        let id = try #require(tokenizer.id(of: "Ġthe"))
        #expect(tokenizer.piece(id) == "Ġthe")
        #expect(tokenizer.bytes(of: id) == Array(" the".utf8))
        #expect(tokenizer.bytes(of: 2) == Array("<|im_end|>".utf8))
        #expect(tokenizer.id(of: " the") == nil)
        for id: Int32 in [-1, 400, .max, .min] {
            #expect(tokenizer.piece(id) == nil)
            #expect(tokenizer.bytes(of: id) == [])
            #expect(tokenizer.decode([2, id, 2]) == "<|im_end|><|im_end|>")
        }
        #expect(tokenizer.decode([2, 0], skippingSpecialTokens: true) == "")
    }

    @Test("pieces that Unicode calls equivalent are different tokens")
    func equivalence() throws {
        var definition = TokenizerDefinition(
            source: "test", pieces: ["a", "\u{E9}", "e\u{301}"], merges: [], preTokenizer: .gpt2)
        definition.addedTokens = [.init(id: 1), .init(id: 2)]
        let tokenizer = try Tokenizer(definition)
        #expect(tokenizer.encode("a\u{E9}e\u{301}") == [0, 1, 2])
        #expect(tokenizer.id(of: "e\u{301}") == 2)
    }

    @Test("equivalent pieces of a tokenizer.json are different tokens, however they are written")
    func equivalenceInJSON() throws {
        // K and the Kelvin sign; \u{E9} in one and in two scalars, plain and escaped.
        let entries = [
            "\"K\": 0", "\"\u{212A}\": 1", "\"\u{E9}\": 2.0", "\"e\\u0301\" : 3e0", "\"\\\"\": 4",
            "\"\\ud83e\\udd86\": 5", "\"[{,}]\": 6",
        ]
        let added = ["K", "\u{212A}", "\u{E9}", "e\u{301}"].enumerated().map {
            "{\"id\": \($0), \"content\": \"\($1)\"}"
        }
        let json = """
            {"first": {"vocab": {"x": 9}}, "list": ["}", "\\"]", {"model": 1}], "n": -1.5e3,
            "model": {"merges": [], "type": "BPE", "unk_token": "\u{212A}",
            "vocab" : { \(entries.joined(separator: " ,\n"))} },
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
            "added_tokens": [\(added.joined(separator: ","))], "model ": {}}
            """
        let definition = try Fixtures.definition(json)
        #expect(
            definition.pieces.map { Array($0.unicodeScalars) }
                == ["K", "\u{212A}", "\u{E9}", "e\u{301}", "\"", "\u{1F986}", "[{,}]"].map {
                    Array($0.unicodeScalars)
                })
        #expect(definition.unknownID == 1)
        let tokenizer = try Tokenizer(definition)
        #expect(tokenizer.encode("K\u{212A}\u{E9}e\u{301}") == [0, 1, 2, 3])
        // One piece twice counts once, however it is written.
        let twice = json.replacing("\"[{,}]\": 6", with: "\"\\u004B\": 6")
        #expect(try Fixtures.definition(twice).pieces[0].isEmpty)
        #expect(try Tokenizer(Fixtures.definition(twice)).encode("K") == [6])
    }

    @Test("a whole text gets the begin token if the model expects it, and never twice")
    func begin() throws {
        var definition = TokenizerDefinition(
            source: "test", pieces: ["a", "<s>"], addedTokens: [.init(id: 1, isSpecial: true)],
            merges: [], preTokenizer: .gpt2)
        func whole(_ text: String) throws -> [Int32] { try Tokenizer(definition).encodeWhole(text) }
        definition.beginID = 1
        #expect(try whole("a") == [0])
        definition.addsBeginToken = true
        #expect(try whole("a") == [1, 0] && whole("") == [1])
        #expect(try whole("<s>a") == [1, 0] && whole("a<s>") == [1, 0, 1])
        #expect(try Tokenizer(definition).encode("a") == [0])
        definition.beginID = nil
        #expect(try whole("a") == [0])
        // Without a tokenizer_config.json the post-processor alone decides.
        #expect(try Fixtures.tokenizer("llama3").encodeWhole("") == [443])
        #expect(try Fixtures.tokenizer("smollm").encodeWhole("") == [])
    }

    @Test("any bytes come back from their tokens, valid UTF-8 or not", arguments: 0..<8)
    func anyBytes(_ seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        for name in ["gpt2", "llama3", "qwen2"] {
            let tokenizer = try Fixtures.tokenizer(name)
            for length in [1, 2, 3, 7, 50, 1000] {
                var bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &numbers) }
                bytes.append(0xFF)
                let ids = bytes.withUnsafeBufferPointer { tokenizer.encode(utf8: $0) }
                #expect(ids.flatMap(tokenizer.bytes) == bytes, "seed \(seed), \(name), \(length)")
            }
        }
    }

    @Test("tokenizer_config.json names the tokens that begin and end a text")
    func roles() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tokenizer_config.json"
            func roles(_ name: String, _ configuration: String) throws -> Tokenizer {
                try AtomicFile.write(Array(configuration.utf8), to: path)
                return try Tokenizer(tokenizerJSON: Fixtures.path(name), tokenizerConfig: path)
            }
            let smollm = try roles(
                "smollm",
                #"{"bos_token": "<|im_start|>", "eos_token": {"content": "<|im_end|>"}, "x": 1}"#)
            #expect(smollm.beginID == 1 && smollm.endID == 2 && !smollm.addsBeginToken)
            #expect(smollm.endOfTurnIDs == [0, 2])
            let llama3 = try roles("llama3", #"{"bos_token": "<|begin_of_text|>"}"#)
            #expect(llama3.beginID == 443 && llama3.endID == nil && llama3.addsBeginToken)
            #expect(llama3.endOfTurnIDs == [444])
            #expect(llama3.templateTokens == TemplateTokens(begin: "<|begin_of_text|>"))
            #expect(
                smollm.templateTokens == TemplateTokens(begin: "<|im_start|>", end: "<|im_end|>"))
            // It is still put before texts, but no template sees it.
            for unnamed in ["{}", #"{"bos_token": null}"#] {
                let tokenizer = try roles("llama3", unnamed)
                #expect(tokenizer.beginID == 443 && tokenizer.addsBeginToken)
                #expect(tokenizer.templateTokens == TemplateTokens())
            }
            let told = try roles(
                "llama3", #"{"bos_token": "<|begin_of_text|>", "add_bos_token": false}"#)
            #expect(!told.addsBeginToken)
            #expect(try roles("smollm", #"{"bos_token": null}"#).beginID == nil)

            func error(_ flaw: TokenizerError.Flaw) -> TokenizerError {
                .invalid(flaw, source: path)
            }
            let other = try roles("smollm", #"{"eos_token": "</s>"}"#)
            #expect(other.endID == 400 && other.piece(400) == "</s>")
            #expect(throws: error(.wrongType(path: "eos_token", expected: "a text"))) {
                try roles("smollm", #"{"eos_token": 2}"#)
            }
            #expect(throws: error(.wrongType(path: "eos_token.content", expected: "a text"))) {
                try roles("smollm", #"{"eos_token": {"content": 2}}"#)
            }
            #expect(throws: error(.wrongType(path: "eos_token.lstrip", expected: "true or false")))
            {
                try roles("smollm", #"{"eos_token": {"content": "<|im_end|>", "lstrip": "no"}}"#)
            }
            #expect(throws: error(.notJSON("byte 0: a value was expected"))) {
                try roles("smollm", "bos_token: <s>")
            }
            // As Python writes numbers that are none.
            let python = try roles(
                "smollm",
                #"{"model_max_length": Infinity, "x": [NaN], "bos_token": "<|im_start|>"}"#)
            #expect(python.beginID == 1)
            #expect(throws: error(.wrongType(path: "bos_token", expected: "a text"))) {
                try roles("smollm", #"{"bos_token": NaN}"#)
            }
        }
    }

    @Test("files of other kinds in the place of a tokenizer's are named")
    func foreign() throws {
        let pointer =
            "version https://git-lfs.github.com/spec/v1\noid sha256:"
            + String(repeating: "4d", count: 32) + "\nsize 12345\n"
        let rows: [([UInt8], ForeignFile)] = [
            (Array(pointer.utf8), .pointer), ([0x1F, 0x8B, 8, 0], .packed(.gzip)),
            (Array("<!DOCTYPE html>".utf8), .webPage),
            ([0x80, 4, 0x95, 0], .pickle(isTorch: false)),
            ([0x7B, 0, 0x7D, 0], .wideText(encoding: "UTF-16LE")),
        ]
        for (bytes, kind) in rows {
            try TestPaths.withTemporaryDirectory { directory in
                let path = directory + "/file"
                try AtomicFile.write(bytes, to: path)
                let expected = ForeignFileError(path: path, kind: kind, use: .text)
                #expect(throws: expected) {
                    _ = try TokenizerDefinition(tokenizerJSON: path, tokenizerConfig: nil)
                }
                #expect(throws: expected) {
                    _ = try TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: nil)
                }
                #expect(throws: expected) { _ = try TokenizerDefinition(tekken: path) }
                #expect(throws: expected) {
                    _ = try TokenizerDefinition(
                        tokenizerJSON: Fixtures.path("smollm"), tokenizerConfig: path)
                }
            }
        }
    }
}
