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

    @Test("any bytes have as many beginnings as their text has characters")
    func bytes() {
        // Those that decide what is well-formed, and few others.
        let kinds: [UInt8] = [
            0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
            0xEC,
            0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        for number in 0..<kinds.count * kinds.count * kinds.count * kinds.count {
            var rest = number
            var bytes: [UInt8] = []
            for _ in 0..<4 {
                bytes.append(kinds[rest % kinds.count])
                rest /= kinds.count
            }
            var beginnings = CharacterBeginnings()
            let count = bytes.count { beginnings.isBeginning($0) }
            let text = String(decoding: bytes, as: UTF8.self)
            guard count != text.unicodeScalars.count else { continue }
            Issue.record("\(bytes): \(count)")
        }
    }
}
