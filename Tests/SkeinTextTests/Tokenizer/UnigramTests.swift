import Foundation
import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinText

/// Against what sentencepiece and tokenizers gave (Tests/Fixtures/tokenizers/make_unigram.py).
struct UnigramTests {
    private struct Example: Decodable {
        let text: String
        let ids: [Int32]
        let decoded: String
    }

    private static func tokenizer(_ name: String) throws -> Tokenizer {
        let path = TestPaths.fixture("tokenizers/\(name)")
        return try name.hasSuffix(".json")
            ? Tokenizer(tokenizerJSON: path, tokenizerConfig: nil)
            : Tokenizer(TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: nil))
    }

    @Test("gives the ids and texts of sentencepiece and of tokenizers")
    func goldens() throws {
        let goldens = try Fixtures.decode([String: [Example]].self, "unigram_goldens")
        #expect(goldens.count == 8)
        for (name, examples) in goldens {
            let tokenizer = try Self.tokenizer(name)
            for example in examples {
                let place = "\(name): \(example.text.debugDescription)"
                let isFile = name.hasSuffix(".json")
                let ids = tokenizer.encode(example.text, parsingSpecialTokens: isFile)
                #expect(ids == example.ids, "\(place)")
                // These join pieces with spaces, or have a surface for the unknown token.
                if name == "unigram_bare.json" || !isFile && ids.contains(0) { continue }
                let decoded = tokenizer.decode(example.ids)
                #expect(Array(decoded.utf8) == Array(example.decoded.utf8), "\(place)")
            }
        }
    }

    /// Each scalar alone, but for planes without characters. What tokenizers makes of it is older
    /// than what Foundation knows.
    @Test("what is put before a text is not put where one goes on")
    func prefix() throws {
        let tokenizer = try Tokenizer(
            Fixtures.definition(
                #"{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["x", -1]]}, "#
                    + #""normalizer": {"type": "Sequence", "normalizers": "#
                    + #"[{"type": "Prepend", "prepend": "x"}, {"type": "Lowercase"}]}}"#))
        #expect(tokenizer.encode("Aa") == [2, 1, 1])
        #expect(tokenizer.encode("Aa", after: 1) == [1, 1])
    }

    @Test("changes every character as the normalizers of tokenizers do")
    func scalars() throws {
        let wanted = try Fixtures.decode([String: String].self, "normalizer_goldens")
        let steps: [String: TextNormalizer] = try [
            "NFC": .form(.composed), "NFD": .form(.decomposed), "NFKC": .form(.compatiblyComposed),
            "NFKD": .form(.compatiblyDecomposed), "Lowercase": .lowercase,
            "StripAccents": .stripAccents, "Nmt": .nmt, "Strip": .strip(left: true, right: true),
            "Replace": .replace(TextPattern(expression: #"\s+"#), Array("_".utf8)),
        ]
        #expect(wanted.count == steps.count)
        for (name, step) in steps {
            var all: [UInt8] = []
            for value in Array(UInt32(0)..<0x3_0000) + Array(0xE_0000..<0xE_0200) {
                guard let scalar = Unicode.Scalar(value) else { continue }
                all += step.applied(to: Array(scalar.utf8), ExpressionEffort()) + [0]
            }
            #expect("\(SHA256.digest(of: all))" == wanted[name], "\(name)")
        }
    }

    @Test("a stream of tokens gives the text that they have together")
    func streams() throws {
        let goldens = try Fixtures.decode([String: [Example]].self, "unigram_goldens")
        for (name, examples) in goldens {
            let tokenizer = try Self.tokenizer(name)
            let byte = Array(tokenizer.byteTokens.sorted().prefix(200).suffix(40))
            for (index, example) in examples.enumerated() {
                let ids =
                    example.ids + byte.dropFirst(index % 40) + example.ids + byte.prefix(index % 3)
                var stream = TokenText(tokenizer)
                let parts = ids.map { stream.text(of: $0) }
                let text = parts.joined() + stream.rest()
                #expect(Array(text.utf8) == Array(tokenizer.decode(ids).utf8), "\(name)")
            }
        }
    }

    @Test(
        "a byte of a run that is not UTF-8 is U+FFFD; of a file of tokenizers, each of the run is")
    func runs() throws {
        func decode(_ name: String, _ bytes: [UInt8]) throws -> String {
            let tokenizer = try Self.tokenizer(name)
            let ids = try bytes.map { byte in
                try #require(
                    tokenizer.id(
                        of: "<0x" + (byte < 16 ? "0" : "")
                            + String(byte, radix: 16, uppercase: true) + ">"))
            }
            return tokenizer.decode(ids)
        }
        let bytes: [UInt8] = [0xE2, 0x82, 0xC3, 0xA9, 0xFF]
        #expect(try decode("unigram_bytes.model", bytes) == "\u{FFFD}\u{FFFD}é\u{FFFD}")
        #expect(try decode("unigram_whole.json", bytes) == String(repeating: "\u{FFFD}", count: 5))
        #expect(try decode("unigram_whole.json", [0xC3, 0xA9]) == "é")
    }
}

/// tokenizer.model beside a tokenizer_config.json.
struct AddedTokensDecoderTests {
    private func tokenizer(_ model: String, _ added: String) throws -> Tokenizer {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tokenizer_config.json"
            try Data("{\"added_tokens_decoder\": {\(added)}}".utf8)
                .write(to: URL(fileURLWithPath: path))
            return try Tokenizer(
                TokenizerDefinition(
                    sentencePieceModel: TestPaths.fixture("tokenizers/\(model).model"),
                    tokenizerConfig: path))
        }
    }

    @Test("tokens of tokenizer_config.json follow the pieces and are found by their flags")
    func added() throws {
        for model in ["pieces", "unigram_bytes"] {
            let bare = try tokenizer(model, "")
            let count = Int32(bare.vocabularySize)
            let added = try tokenizer(
                model,
                """
                "\(count)": {"content": "<|turn|>", "special": true, "rstrip": true},
                "\(count + 1)": {"content": "lamp", "special": false, "single_word": true},
                "1": {"content": "<s>", "special": true, "lstrip": true}
                """)
            #expect(added.vocabularySize == Int(count) + 2)
            let ids = added.encode("the <s><|turn|> \n lamp lamps")
            #expect(ids.contains(1))
            #expect(ids.filter { $0 == count }.count == 1)
            #expect(ids.filter { $0 == count + 1 }.count == 1)
            // White space beside the two is theirs.
            #expect(Array(ids.prefix(while: { $0 != 1 })) == bare.encode("the"))
            #expect(added.decode([count, count + 1]) == "<|turn|>lamp")
            #expect(added.encode("the keeper") == bare.encode("the keeper"))
        }
    }

    @Test("an id may leave a hole, and the piece that it belongs to is renamed")
    func holes() throws {
        let count = try tokenizer("pieces", "").vocabularySize
        let far = try tokenizer("pieces", "\"\(count + 3)\": {\"content\": \"<|far|>\"}")
        #expect(far.vocabularySize == count + 4)
        #expect(far.encode("<|far|>").last == Int32(count + 3))
        #expect(far.decode([Int32(count), Int32(count + 3)]) == "<|far|>")
        let renamed = try tokenizer("pieces", #""1": {"content": "<|new|>"}"#)
        #expect(renamed.encode("<|new|>").last == 1 && renamed.id(of: "<s>") == nil)
    }

    @Test("an id that is no number or out of range is refused")
    func flaws() throws {
        func check(_ added: String, _ matches: (TokenizerError.Flaw) -> Bool) throws {
            do {
                _ = try tokenizer("pieces", added)
                Issue.record("read: \(added)")
            } catch TokenizerError.invalid(let flaw, _) {
                #expect(matches(flaw), "\(flaw)")
            }
        }
        try check(#""x": {"content": "a"}"#) {
            $0 == .wrongType(path: "added_tokens_decoder.x", expected: "a token id")
        }
        try check(#""-1": {"content": "a"}"#) { if case .idOutOfRange = $0 { true } else { false } }
        // Otherwise two of them could be one id.
        try check(#""07": {"content": "a"}"#) {
            $0 == .wrongType(path: "added_tokens_decoder.07", expected: "a token id")
        }
    }
}
