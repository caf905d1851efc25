import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinText

@Suite struct TekkenTests {
    /// What tiktoken makes of texts, made by make_tekken.py.
    private struct Golden: Decodable {
        let file: TekkenFile?
        let texts: [String]
        let ids: [[Int32]]
    }

    private static func file() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: Fixtures.path("ranks"))))
    }

    private static func tokenizer(_ bytes: [UInt8]) throws -> Tokenizer {
        let file = try TokenizerJSON.decode(TekkenFile.self, from: bytes, source: "t.json")
        return try Tokenizer(TokenizerDefinition(file, source: "t.json"))
    }

    @Test("gives tiktoken's ids, and the text back")
    func ids() throws {
        let tokenizer = try Tokenizer(TokenizerDefinition(tekken: Fixtures.path("ranks")))
        let golden = try #require(Fixtures.decode([Golden].self, "ranks_goldens").first)
        #expect(golden.texts.count == 150)
        for (text, ids) in zip(golden.texts, golden.ids) {
            #expect(tokenizer.encode(text) == ids, "\(text.debugDescription)")
            #expect(tokenizer.decode(ids) == text)
        }
        #expect(tokenizer.encode("<s>a[INST]") == [1, 97 + 20, 3])
        #expect(tokenizer.encodeWhole("a") == [1, 97 + 20])
        #expect(tokenizer.piece(19) == "<SPECIAL_19>" && tokenizer.endID == 2)
    }

    /// SKEIN_TEST_RANKS: vocabularies and texts that `make_tekken.py --check` wrote.
    @Test(
        "gives tiktoken's ids with random vocabularies",
        .enabled(if: ProcessInfo.processInfo.environment["SKEIN_TEST_RANKS"] != nil))
    func random() throws {
        let path = try #require(ProcessInfo.processInfo.environment["SKEIN_TEST_RANKS"])
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        for (number, line) in lines.enumerated() {
            let golden = try JSONDecoder().decode(Golden.self, from: Data(line.utf8))
            let file = try #require(golden.file)
            let tokenizer = try Tokenizer(TokenizerDefinition(file, source: "\(number)"))
            #expect(golden.texts.map { tokenizer.encode($0) } == golden.ids, "\(number)")
        }
    }

    @Test("what contradicts itself is refused")
    func flaws() throws {
        let text = String(decoding: try Self.file(), as: UTF8.self)
        let count = 256 + 20
        let changes: [(old: String, new: String, path: String, expected: String)] = [
            ("\"rank\":7,", "\"rank\":8,", "vocab[7].rank", "7"),
            ("\"rank\":1,\"token_str\"", "\"rank\":9,\"token_str\"", "special_tokens[1].rank", "1"),
            ("\"AA==\"", "\"AQ==\"", "vocab[0].token_bytes", "the byte 0"),
            ("\"AA==\"", "\"A\"", "vocab[0].token_bytes", "1 to 256 bytes in base 64"),
            ("\"AA==\"", "\"\"", "vocab[0].token_bytes", "1 to 256 bytes in base 64"),
        ]
        for (old, new, path, expected) in changes {
            #expect(text.contains(old), "\(old)")
            let bytes = Array(text.replacing(old, with: new, maxReplacements: 1).utf8)
            #expect(
                throws: TokenizerError.invalid(
                    .wrongType(path: path, expected: expected), source: "t.json")
            ) { try Self.tokenizer(bytes) }
        }
        let sizes = ["-1", "\(count - 1)", "9000", "9223372036854775807"]
        for size in sizes {
            let bytes = text.replacing(
                try Regex(#""default_vocab_size":\d+"#), with: "\"default_vocab_size\":\(size)")
            #expect(throws: TokenizerError.self) { try Self.tokenizer(Array(bytes.utf8)) }
        }
    }

    @Test("a damaged tekken.json is read or refused, and nothing else")
    func mutations() throws {
        let whole = try Self.file()
        var refused = 0
        for seed in Damage.seeds(60) {
            var numbers = SeededNumbers(state: seed)
            var bytes = whole
            // Half of them in the first bytes, where the expression and the sizes are.
            let end = seed % 2 == 0 ? 400 : bytes.count
            for _ in 0...Int.random(in: 0..<3, using: &numbers) {
                let place = Int.random(in: 0..<end, using: &numbers)
                bytes[place] = UInt8.random(in: 0x20...0x7E, using: &numbers)
            }
            do {
                let tokenizer = try Self.tokenizer(bytes)
                _ = tokenizer.decode(tokenizer.encode("the keeper's  lamps\n世界 abab <s>"))
            } catch is TokenizerError {
                refused += 1
            }
        }
        #expect(refused > 0)
    }
}
