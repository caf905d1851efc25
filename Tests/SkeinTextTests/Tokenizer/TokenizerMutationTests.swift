import Foundation
import SkeinFormats
import SkeinTestSupport
import Testing

@testable import SkeinText

/// Readers of tokenizers against damaged files.
struct TokenizerMutationTests {
    private static let seeds = Damage.seeds(150)
    private static let text = "the keeper  counts\n世界 😀 <s> ﬁ½ e\u{301} 한\t\u{3000}<|u|> zzz"

    private static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: TestPaths.fixture("tokenizers/\(name)"))))
    }

    /// Changes some bytes, or cuts the end.
    private static func damage(_ bytes: inout [UInt8], _ numbers: inout SeededNumbers) {
        for _ in 0...Int.random(in: 0..<4, using: &numbers) {
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            bytes[place] = UInt8.random(in: .min ... .max, using: &numbers)
        }
        if Int.random(in: 0..<8, using: &numbers) == 0 {
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &numbers))
        }
    }

    /// Uses a tokenizer in every way, also on bytes that are not UTF-8.
    private static func use(_ tokenizer: Tokenizer) {
        let ids = tokenizer.encode(text) + tokenizer.encodeWhole(text)
        _ = tokenizer.decode(ids)
        let broken = Array(text.utf8).shuffledPairs + [0xE2, 0x96]
        _ = broken.withUnsafeBufferPointer { tokenizer.encode(utf8: $0, after: ids.first) }
    }

    @Test(
        "a damaged file is read or refused, and nothing else",
        arguments: [
            "unigram_t5.json", "unigram_whole.json", "unigram_accents.json", "unigram.model",
            "unigram_bytes.model", "pairs_mapped.model",
        ])
    func files(_ name: String) throws {
        let whole = try Self.bytes(name)
        var refused = 0
        for seed in Self.seeds {
            var numbers = SeededNumbers(state: seed)
            var bytes = whole
            Self.damage(&bytes, &numbers)
            do {
                let definition =
                    try name.hasSuffix(".json")
                    ? TokenizerDefinition(
                        TokenizerFile.read(bytes, source: name), source: name)
                    : TokenizerDefinition(
                        bytes.withUnsafeBufferPointer { try SentencePieceFile($0, source: name) },
                        source: name)
                Self.use(try Tokenizer(definition))
            } catch is TokenizerError {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test("a damaged map of characters is read or refused, and ends every look-up")
    func maps() throws {
        let whole = try Self.bytes("unigram.model").withUnsafeBufferPointer {
            try SentencePieceFile($0, source: "whole").metadata(source: "whole")
        }
        guard case .integers(let values)? = whole["tokenizer.ggml.precompiled_charsmap"] else {
            throw TokenizerError.missing(model: "unigram.model")
        }
        let map = values.map { UInt8(truncatingIfNeeded: $0) }
        let text = Array(Self.text.utf8)
        let expected = try #require(CharacterMap(map)).applied(to: text)
        var changed = 0
        for seed in Self.seeds {
            var numbers = SeededNumbers(state: seed)
            var bytes = map
            Self.damage(&bytes, &numbers)
            guard let map = CharacterMap(bytes) else { continue }
            if TextNormalizer.characters(map).applied(to: text, ExpressionEffort()) != expected {
                changed += 1
            }
            _ = text.withUnsafeBufferPointer {
                SentencePieceRules(map: map, removesSpaces: true)
                    .normalize($0, kept: nil, addsPrefix: true, goesOn: false)
            }
        }
        #expect(changed > 0)
    }

    @Test("GGUF metadata with a value that is missing, cut or wild is read or refused")
    func metadata() throws {
        var refused = 0
        for name in ["unigram.model", "unigram_bytes.model"] {
            let whole = try Self.bytes(name).withUnsafeBufferPointer {
                try SentencePieceFile($0, source: name).metadata(source: name)
            }
            let keys = whole.keys.sorted()
            for seed in Self.seeds {
                var numbers = SeededNumbers(state: seed)
                var metadata = whole
                let key = keys[Int.random(in: 0..<keys.count, using: &numbers)]
                metadata[key] = Self.wild(whole[key], &numbers)
                do {
                    Self.use(try Tokenizer(ggufMetadata: metadata))
                } catch is TokenizerError {
                    refused += 1
                }
            }
        }
        #expect(refused > 0)
    }

    private static func wild(_ value: GGUFValue?, _ numbers: inout SeededNumbers) -> GGUFValue? {
        let kind = Int.random(in: 0..<4, using: &numbers)
        let number = Int64.random(in: .min ... .max, using: &numbers)
        switch value {
        case .strings(var texts)? where kind < 3:
            let place = Int.random(in: 0..<texts.count, using: &numbers)
            texts[place] = ["", "▁", texts[0]][kind]
            return .strings(texts)
        case .floats(var scores)? where kind < 3:
            let place = Int.random(in: 0..<scores.count, using: &numbers)
            scores[place] = [.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude][kind]
            return .floats(scores)
        case .integers(var values)? where kind < 2 && !values.isEmpty:
            let place = Int.random(in: 0..<values.count, using: &numbers)
            values[place] = kind == 0 ? number : number % 8
            return .integers(values)
        case .integers(let values)? where kind == 2: return .integers(values.dropLast())
        case .integer? where kind < 3: return .integer([number, -1, number % 300][kind])
        case .bool(let flag)? where kind < 3: return .bool(!flag)
        default: return kind == 3 ? nil : .string("wild")
        }
    }

    @Test("normalizers that could make a text grow without end are refused")
    func growth() throws {
        func file(_ steps: [String]) -> String {
            #"{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1]]}, "normalizer": "#
                + #"{"type": "Sequence", "normalizers": ["# + steps.joined(separator: ",") + "]}}"
        }
        let double = #"{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}"#
        let definition = try Fixtures.definition(file([String](repeating: double, count: 12)))
        #expect(try Tokenizer(definition).encode("a").count == 4096)
        let long = String(repeating: "a", count: 257)
        for steps in [
            [String](repeating: double, count: 13),
            [String](repeating: #"{"type": "Nmt"}"#, count: 65),
            [double.replacing("aa", with: long)],
        ] {
            #expect(throws: TokenizerError.self) { try Fixtures.definition(file(steps)) }
        }
    }
}

extension [UInt8] {
    /// With every two neighbours exchanged.
    fileprivate var shuffledPairs: [UInt8] {
        indices.map { self[$0 ^ 1 < count ? $0 ^ 1 : $0] }
    }
}
