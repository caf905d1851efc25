import SkeinTestSupport
import Testing

@testable import SkeinText

/// Where tokens stand in their text.
struct TokenOffsetsTests {
    private struct Example: Decodable {
        let ids: [Int32]
    }

    /// Offsets of tokens between which no character is cut, against the text of those before them.
    private func check(_ ids: [Int32], _ tokenizer: Tokenizer, _ place: String) {
        for skips in [false, true] {
            var offsets = TokenOffsets(tokenizer, skippingSpecialTokens: skips)
            for (count, id) in ids.enumerated() {
                let before = tokenizer.decode(
                    Array(ids[..<count]), skippingSpecialTokens: skips)
                let offset = offsets.offset(of: id)
                if before.unicodeScalars.contains("\u{FFFD}") { continue }
                #expect(offset == before.unicodeScalars.count, "\(place), token \(count)")
            }
        }
    }

    @Test("a token stands behind the text of those before it")
    func goldens() throws {
        for (name, examples) in try Fixtures.decode([String: [Example]].self, "unigram_goldens") {
            let path = TestPaths.fixture("tokenizers/\(name)")
            let tokenizer =
                try name.hasSuffix(".json")
                ? Tokenizer(tokenizerJSON: path, tokenizerConfig: nil)
                : Tokenizer(TokenizerDefinition(sentencePieceModel: path, tokenizerConfig: nil))
            for example in examples { check(example.ids, tokenizer, name) }
        }
    }

    @Test("tokens of one character stand where it stands")
    func cut() throws {
        let tokenizer = try Tokenizer(
            Fixtures.definition(
                #"{"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["<unk>", 0], ["a", -1]"#
                    + (0..<256).map {
                        let digits = String($0, radix: 16, uppercase: true)
                        return #", ["<0x\#($0 < 16 ? "0" : "")\#(digits)>", -9]"#
                    }.joined()
                    + #"]}, "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}}"#
            ))
        func offsets(_ text: String, from start: Int = 0) -> [Int] {
            var offsets = TokenOffsets(tokenizer, from: start)
            return tokenizer.encode(text).map { offsets.offset(of: $0) }
        }
        #expect(offsets("aéa😀ña") == [0, 1, 1, 2, 3, 3, 3, 3, 4, 4, 5])
        #expect(offsets("éa", from: 7) == [7, 7, 8])
        var odd = TokenOffsets(tokenizer)
        // "a", the beginning of a character, "a", two bytes that continue nothing, "a".
        let ids: [Int32] = [1, 2 + 0xC3, 1, 2 + 0x80, 2 + 0x81, 1]
        #expect(ids.map { odd.offset(of: $0) } == [0, 1, 2, 3, 4, 5])
        #expect(odd.here == 6)
    }
}
