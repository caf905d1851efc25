import Foundation
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

@Suite struct CharacterEncodingTests {
    static let gemma = ProcessInfo.processInfo.environment["SKEIN_TEST_GEMMA"]

    private struct Reference: Decodable {
        struct Text: Decodable {
            let text: String
            let ids: [Int32]
            let decoded: String
        }
        let strings: [Text]
    }

    @Test("Gemma's file gives the reference's ids and texts", .enabled(if: gemma != nil))
    func gemmaReference() throws {
        let path = try #require(Self.gemma)
        let tokenizer = try Tokenizer(model: ModelFiles(ModelDescription.open(path)))
        let data = try Data(
            contentsOf: URL(filePath: TestPaths.fixture("gemma/tokens.json")))
        for text in try JSONDecoder().decode(Reference.self, from: data).strings {
            let ids = tokenizer.encode(text.text)
            #expect(ids == text.ids, "\(text.text.debugDescription)")
            let decoded = tokenizer.decode(text.ids)
            #expect(decoded.unicodeScalars.elementsEqual(text.decoded.unicodeScalars))
        }
    }
}

/// What `tokenizers` and `sentencepiece` make of generated text (make_character_goldens.py).
@Suite struct CharacterGoldenTests {
    private struct Kind: Decodable {
        struct Case: Decodable {
            let text: String
            let ids: [Int32]
            let decoded: String
        }
        let name: String
        let cases: [Case]
    }

    private struct SentencePiece: Decodable {
        struct Case: Decodable {
            let text: String
            let ids: [Int32]
        }
        let pieces: [String]
        let scores: [Float]
        let types: [Int64]
        let cases: [Case]
    }

    private func decoded<Value: Decodable>(_ name: String) throws -> Value {
        try JSONDecoder().decode(
            Value.self, from: Data(contentsOf: URL(filePath: TestPaths.fixture(name))))
    }

    @Test("a tokenizer.json of characters gives the library's ids and texts")
    func json() throws {
        let kinds: [Kind] = try decoded("tokenizers/characters.json")
        #expect(kinds.map(\.name) == ["llama", "gemma", "metaspace", "unknown"])
        for kind in kinds {
            let tokenizer = try Tokenizer(
                tokenizerJSON: TestPaths.fixture("tokenizers/characters-\(kind.name).json"),
                tokenizerConfig: nil)
            #expect(tokenizer.beginID == 1 && tokenizer.addsBeginToken)
            #expect(kind.cases.count > 100)
            for sample in kind.cases {
                let ids = tokenizer.encode(sample.text)
                #expect(ids == sample.ids, "\(kind.name) \(sample.text.debugDescription)")
                let text = tokenizer.decode(sample.ids)
                #expect(
                    text.unicodeScalars.elementsEqual(sample.decoded.unicodeScalars),
                    "\(kind.name) \(sample.text.debugDescription): \(text.debugDescription)")
            }
        }
    }

    @Test("scores of a GGUF file give sentencepiece's ids")
    func scores() throws {
        let model: SentencePiece = try decoded("tokenizers/sentencepiece.json")
        func tokenizer(_ scores: [Float]) throws -> Tokenizer {
            try Tokenizer(ggufMetadata: [
                "tokenizer.ggml.model": .string("llama"),
                "tokenizer.ggml.tokens": .strings(model.pieces),
                "tokenizer.ggml.scores": .floats(scores),
                "tokenizer.ggml.token_type": .integers(model.types),
            ])
        }
        let whole = try tokenizer(model.scores)
        #expect(whole.beginID == 1 && whole.endID == 2 && whole.addsBeginToken)
        for sample in model.cases {
            #expect(
                whole.encode(sample.text, parsingSpecialTokens: false) == sample.ids,
                "\(sample.text.debugDescription)")
        }
        for (scores, flaw) in [
            (
                Array(model.scores.dropLast()),
                TokenizerError.Flaw.countMismatch(
                    path: "tokenizer.ggml.scores", expected: model.pieces.count,
                    found: model.pieces.count - 1)
            ),
            (
                [.nan] + model.scores.dropFirst(),
                .wrongType(path: "tokenizer.ggml.scores", expected: "a list of finite numbers")
            ),
        ] {
            #expect(throws: TokenizerError.invalid(flaw, source: "GGUF metadata")) {
                _ = try tokenizer(scores)
            }
        }
    }
}
