import Foundation
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

/// Ids that sentencepiece and tokenizers gave (Tests/Fixtures/tokenizers/make_pieces.py).
private struct Golden: Decodable {
    struct Example: Decodable {
        let text: String
        let ids: [Int32]
        let decoded: String
    }

    let pieces: [String]
    let scores: [Float]
    let types: [Int64]
    let addsPrefix: Bool
    let examples: [Example]

    var metadata: [String: GGUFValue] {
        [
            "tokenizer.ggml.model": .string("llama"),
            "tokenizer.ggml.tokens": .strings(pieces),
            "tokenizer.ggml.scores": .floats(scores),
            "tokenizer.ggml.token_type": .integers(types),
            "tokenizer.ggml.add_space_prefix": .bool(addsPrefix),
        ]
    }
}

struct SentencePieceTests {
    @Test("gives the ids of sentencepiece, with a space before the text and without")
    func scores() throws {
        for golden in try Fixtures.decode([Golden].self, "pieces") {
            let tokenizer = try Tokenizer(ggufMetadata: golden.metadata)
            #expect(golden.examples.count >= 100)
            for example in golden.examples {
                let ids = tokenizer.encode(example.text, parsingSpecialTokens: false)
                #expect(ids == example.ids, "\(example.text.debugDescription)")
            }
        }
    }

    @Test("gives the ids and texts of tokenizers for each published form of tokenizer.json")
    func files() throws {
        let goldens = try Fixtures.decode([String: [Golden.Example]].self, "pieces_goldens")
        #expect(goldens.count == 4)
        for (name, examples) in goldens {
            let tokenizer = try Tokenizer(
                tokenizerJSON: Fixtures.path(name), tokenizerConfig: nil)
            for example in examples {
                let place = "\(name): \(example.text.debugDescription)"
                #expect(tokenizer.encode(example.text) == example.ids, "\(place)")
                let decoded = tokenizer.decode(example.ids)
                #expect(Array(decoded.utf8) == Array(example.decoded.utf8), "\(place)")
            }
        }
    }

    @Test("reads a tokenizer.model, and refuses one that is cut at any byte")
    func models() throws {
        for (golden, name) in zip(
            try Fixtures.decode([Golden].self, "pieces"), ["pieces", "pieces_bare"])
        {
            let path = TestPaths.fixture("tokenizers/\(name).model")
            let tokenizer = try Tokenizer(
                TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: nil))
            #expect(tokenizer.beginID == 1 && tokenizer.endID == 2)
            for example in golden.examples {
                let ids = tokenizer.encode(example.text, parsingSpecialTokens: false)
                #expect(ids == example.ids, "\(example.text.debugDescription)")
            }
            let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            var refused = 0
            for count in 0..<whole.count {
                do {
                    let file = try whole[..<count].withUnsafeBufferPointer {
                        try SentencePieceFile($0, source: "cut")
                    }
                    _ = try TokenizerDefinition(file, source: "cut")
                } catch is TokenizerError {
                    refused += 1
                }
            }
            // A cut between two fields of the last message, the options, can leave a whole file.
            #expect(refused > whole.count - 200)
        }
    }

    @Test("a damaged tokenizer.model or tokenizer.json is read or refused, and nothing else")
    func mutations() throws {
        let model = TestPaths.fixture("tokenizers/pieces.model")
        let files = try [model, Fixtures.path("pieces_llama")].map {
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0)))
        }
        var refused = 0
        for seed in Damage.seeds(200) {
            var numbers = SeededNumbers(state: seed)
            var bytes = files[Int(seed % 2)]
            for _ in 0...Int.random(in: 0..<4, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                bytes[place] = UInt8.random(in: .min ... .max, using: &numbers)
            }
            do {
                let definition =
                    try seed % 2 == 0
                    ? TokenizerDefinition(
                        bytes.withUnsafeBufferPointer {
                            try SentencePieceFile($0, source: "seed \(seed)")
                        }, source: "seed \(seed)")
                    : TokenizerDefinition(
                        TokenizerFile.read(bytes, source: "seed \(seed)"),
                        source: "seed \(seed)")
                let tokenizer = try Tokenizer(definition)
                _ = tokenizer.decode(tokenizer.encode("the keeper  counts\n世界 😀 <s>"))
            } catch is TokenizerError {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test("roles and prefix default to what llama.cpp takes for granted")
    func defaults() throws {
        var metadata = try #require(Fixtures.decode([Golden].self, "pieces").first).metadata
        metadata["tokenizer.ggml.add_space_prefix"] = nil
        let tokenizer = try Tokenizer(ggufMetadata: metadata)
        #expect(tokenizer.beginID == 1 && tokenizer.endID == 2 && tokenizer.addsBeginToken)
        #expect(tokenizer.decode(tokenizer.encode("the")) == "the")
        #expect(tokenizer.encode("the").flatMap { tokenizer.bytes(of: $0) } == Array(" the".utf8))
    }

    @Test("every byte string comes back, also one that is not UTF-8")
    func bytes() throws {
        let golden = try #require(Fixtures.decode([Golden].self, "pieces").first { !$0.addsPrefix })
        let tokenizer = try Tokenizer(ggufMetadata: golden.metadata)
        let bytes = (UInt8.min...UInt8.max).map(\.self) + [0xF0, 0x9F, 0x98, 0xE2, 0x96]
        let ids = bytes.withUnsafeBufferPointer { tokenizer.encode(utf8: $0) }
        #expect(ids.flatMap { tokenizer.bytes(of: $0) } == bytes)
    }

    @Test("scores that are missing, too few or not numbers, and endless pieces are refused")
    func flaws() throws {
        let valid = try #require(Fixtures.decode([Golden].self, "pieces").first).metadata
        func check(_ key: String, _ value: GGUFValue?, _ flaw: TokenizerError.Flaw) {
            var metadata = valid
            metadata["tokenizer.ggml." + key] = value
            #expect(throws: TokenizerError.invalid(flaw, source: "GGUF metadata")) {
                try Tokenizer(ggufMetadata: metadata)
            }
        }
        guard case .floats(var scores)? = valid["tokenizer.ggml.scores"],
            case .strings(var pieces)? = valid["tokenizer.ggml.tokens"]
        else { throw TokenizerError.missing(model: "pieces.json") }
        let count = scores.count
        check("scores", nil, .missingValue(path: "tokenizer.ggml.scores"))
        check(
            "scores", .strings([]),
            .wrongType(path: "tokenizer.ggml.scores", expected: "a list of numbers"))
        check(
            "scores", .floats([0]),
            .countMismatch(path: "tokenizer.ggml.scores", expected: count, found: 1))
        scores[300] = .nan
        check("scores", .floats(scores), .scoreNotFinite(id: 300))
        pieces[300] = String(repeating: "a", count: 257)
        check("tokens", .strings(pieces), .scoredPieceTooLong(id: 300, bytes: 257, limit: 256))
    }
}
