import Testing

@testable import SkeinText

@Suite("Tokens as a grammar sees them")
struct WrittenTokensTests {
    @Test("what ends a turn is never part of a text, whatever the file calls it")
    func stopTokens() throws {
        var definition = TokenizerDefinition(
            source: "test", pieces: ["a", "b", "ab", "<|im_end|>", "Ġ", "<s>", "</s>"],
            merges: ["a b"], preTokenizer: .whole)
        definition.beginID = 5
        definition.endID = 6
        let tokenizer = try Tokenizer(definition)
        #expect(
            tokenizer.writtenTokens
                == [Array("a".utf8), Array("b".utf8), Array("ab".utf8), nil, [0x20], nil, nil])
    }

    @Test(
        "control and added tokens write nothing, all others their bytes", arguments: Fixtures.names)
    func bytes(_ name: String) throws {
        let tokenizer = try Fixtures.tokenizer(name)
        let written = tokenizer.writtenTokens
        #expect(written.count == tokenizer.vocabularySize)
        #expect(written.contains { $0 == nil })
        for (id, bytes) in written.enumerated() {
            guard let bytes else { continue }
            #expect(bytes == tokenizer.bytes(of: Int32(id)) && !bytes.isEmpty)
        }
    }

    /// The others lack bytes, or begin a text with a space.
    @Test(
        "segments of a text put together are the text",
        arguments: ["gpt2", "llama3", "qwen2", "tekken", "o200k"])
    func segments(_ name: String) throws {
        let tokenizer = try Fixtures.tokenizer(name)
        for text in [#"{"name": "#, "name", #"", "age": "#, "é日本", " a", "<|im_end|>"] {
            let ids = tokenizer.segments(of: Array(text.utf8), after: nil)
            let written = ids.flatMap { tokenizer.bytes(of: $0) }
            #expect(String(decoding: written, as: UTF8.self) == text)
            // A text that spells a special token is plain text.
            let tokens = tokenizer.writtenTokens
            #expect(ids.allSatisfy { tokens[Int($0)] != nil })
        }
    }
}
