import SkeinTestSupport
import Testing

@testable import SkeinGrammar

/// What is prepared of a tokenizer's tokens, beside what is found by looking at them one by one.
@Suite("Prepared tokens")
struct TokenVocabularyTests {
    /// Few different bytes, so that many tokens are equal or begin alike, over more than one word of
    /// eight bytes; some are nothing, and some too long.
    private static func tokens(_ random: inout TestRandom) -> [[UInt8]?] {
        let alphabet: [UInt8] = [
            0x61, 0, 0x62, 0x1F, 0x22, 0x20, 0x5C, 0x23, 0x7F, 0xC3, 0xA9, 0xE6, 0x97, 0xA5, 0xFF,
        ]
        let letters = Int.random(in: 1...alphabet.count, using: &random)
        return (0..<Int.random(in: 0..<300, using: &random)).map { _ in
            switch Int.random(in: 0..<40, using: &random) {
            case 0: nil
            case 1: [UInt8](repeating: 0x61, count: Int.random(in: 1_020...1_028, using: &random))
            case 2...9: [UInt8](repeating: 0x61, count: Int.random(in: 0..<45, using: &random))
            default:
                (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<letters, using: &random)]
                }
            }
        }
    }

    /// A trie's tokens in order, with their bytes; nil if its nodes are not a trie.
    private static func words(_ trie: TokenTrie) -> [(id: Int32, bytes: [UInt8])]? {
        var words: [(id: Int32, bytes: [UInt8])] = []
        var path: [UInt8] = []
        var ends: [Int] = []
        for (index, node) in trie.nodes.enumerated() {
            while let end = ends.last, end == index {
                ends.removeLast()
                path.removeLast()
            }
            let end = index + Int(node.size)
            guard Int(node.depth) == path.count, end <= ends.last ?? trie.nodes.count else {
                return nil
            }
            path.append(node.byte)
            ends.append(end)
            if node.token >= 0 {
                words.append((node.token, path))
            } else if node.size == 1 {
                return nil
            }
        }
        return words
    }

    /// Characters of a text that is body of a JSON string alone.
    private static func characters(_ bytes: [UInt8]) -> Int? {
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let isBody = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\"" && $0 != "\\" }
        return isBody ? text.unicodeScalars.count : nil
    }

    @Test("tries, bodies and twins are what each token's bytes say", arguments: UInt64(0)..<200)
    func prepared(seed: UInt64) throws {
        var random = TestRandom(state: seed)
        let tokens = Self.tokens(&random)
        let vocabulary = TokenVocabulary(tokens: tokens)
        let texts = tokens.map { $0.flatMap { $0.count <= 1_024 ? $0 : nil } ?? [] }
        #expect(vocabulary.size == tokens.count)
        #expect(texts.indices.allSatisfy { Array(vocabulary.bytes[Int32($0)]) == texts[$0] })
        #expect(vocabulary.longest == max(1, texts.map(\.count).max() ?? 0))

        var twins = [Int32](repeating: -1, count: texts.count)
        var firsts: [(id: Int32, bytes: [UInt8])] = []
        var last: [[UInt8]: Int] = [:]
        for (id, text) in texts.enumerated() where !text.isEmpty {
            if let twin = last.updateValue(id, forKey: text) {
                twins[twin] = Int32(id)
            } else {
                firsts.append((Int32(id), text))
            }
        }
        #expect(vocabulary.twins == twins)
        #expect(vocabulary.hasTwins == twins.contains { $0 >= 0 })
        firsts.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        let whole = try #require(Self.words(vocabulary.whole))
        #expect(whole.elementsEqual(firsts, by: ==))
        let mixed = try #require(Self.words(vocabulary.mixed))
        #expect(mixed.elementsEqual(firsts.filter { Self.characters($0.bytes) == nil }, by: ==))
        for byte in 0..<256 {
            let single = firsts.first { $0.bytes == [UInt8(byte)] }?.id ?? -1
            #expect(vocabulary.singles[byte] == single)
        }

        let bodies = texts.map { Self.characters($0) }
        #expect(vocabulary.bodyLengths == Set(bodies.compactMap(\.self)).sorted())
        for limit in [0, 1, 2, 5, 31, 32, 33, 34, 40, 1_023, Int(Int32.max)] {
            let expected = bodies.indices.filter { bodies[$0].map { $0 <= limit } ?? false }
            #expect(vocabulary.bodies(upTo: Int32(limit)).tokens == expected.map { Int32($0) })
        }
    }
}
