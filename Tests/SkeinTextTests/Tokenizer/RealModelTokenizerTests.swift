import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

/// The tokenizer of the real SmolLM2-135M-Instruct against ids that transformers gave for it.
private struct Reference: Decodable {
    struct Example: Decodable {
        let text: String
        let ids: [Int32]
        let decoded: String?
    }

    let strings: [Example]
    let chat: [Example]
}

@Suite(.enabled(if: TestPaths.model != nil, "needs the fetched model (SKEIN_TEST_MODEL)"))
struct RealModelTokenizerTests {
    private func tokenizer() throws -> Tokenizer {
        let path = try #require(TestPaths.model)
        return try Tokenizer(ggufMetadata: GGUFFile(path: path).metadata)
    }

    @Test("gives the ids of every reference text and rendered chat, and the texts of the ids")
    func reference() throws {
        let tokenizer = try tokenizer()
        let reference = try Fixtures.decode(Reference.self, "smollm2_reference")
        #expect(reference.strings.count == 20 && reference.chat.count == 4)
        for example in reference.strings + reference.chat {
            #expect(tokenizer.encode(example.text) == example.ids, "\(example.text)")
            let decoded = example.decoded ?? example.text
            #expect(Array(tokenizer.decode(example.ids).utf8) == Array(decoded.utf8))
        }
    }

    @Test("knows the model's roles and sizes")
    func roles() throws {
        let tokenizer = try tokenizer()
        #expect(tokenizer.vocabularySize == 49_152)
        #expect(tokenizer.beginID == 1 && tokenizer.endID == 2 && !tokenizer.addsBeginToken)
        #expect(
            tokenizer.templateTokens == TemplateTokens(begin: "<|im_start|>", end: "<|im_end|>"))
        #expect(tokenizer.endOfTurnIDs == [0, 2])
        #expect(tokenizer.piece(260) == "Ġthe" && tokenizer.id(of: "<|im_start|>") == 1)
        // U+0004 has no token in this vocabulary: dropped, as in the library.
        #expect(tokenizer.encode("a\u{4}b") == tokenizer.encode("a") + tokenizer.encode("b"))
    }

    @Test("two megabytes become the tokens of their lines, one after the other")
    func longText() throws {
        let tokenizer = try tokenizer()
        let line = "The keeper didn't count 214 steps.\n"
        let once = tokenizer.encode(line)
        let ids = tokenizer.encode(String(repeating: line, count: 60_000))
        #expect(ids.count == 60_000 * once.count)
        #expect(ids.prefix(once.count) == once[...] && ids.suffix(once.count) == once[...])
    }
}
