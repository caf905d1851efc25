import Testing

@testable import SkeinText

@Suite struct BytePairEncodingTests {
    /// A vocabulary over a, b and c with random merges, each of two tokens that exist.
    private func definition(
        merges count: Int, using numbers: inout SeededNumbers
    ) -> TokenizerDefinition {
        var pieces = ["a", "b", "c"]
        var merges: [String] = []
        while merges.count < count {
            let left = pieces[Int.random(in: 0..<pieces.count, using: &numbers)]
            let right = pieces[Int.random(in: 0..<pieces.count, using: &numbers)]
            let line = "\(left) \(right)"
            if left.count + right.count > 12 || merges.contains(line) { continue }
            merges.append(line)
            // Several merges may make the same piece.
            if !pieces.contains(left + right) { pieces.append(left + right) }
        }
        merges.shuffle(using: &numbers)
        return TokenizerDefinition(
            source: "test", pieces: pieces, merges: merges, preTokenizer: .whole)
    }

    /// The definition of byte pair encoding, taken literally: rescan after every merge.
    private func rescanned(_ text: String, _ definition: TokenizerDefinition) -> [String] {
        var symbols = text.map(String.init)
        while true {
            var best: (rank: Int, at: Int)?
            for i in 0..<max(0, symbols.count - 1) {
                let line = symbols[i] + " " + symbols[i + 1]
                guard let rank = definition.merges.firstIndex(of: line) else { continue }
                if best.map({ rank < $0.rank }) ?? true { best = (rank, i) }
            }
            guard let best else { return symbols }
            symbols[best.at] += symbols.remove(at: best.at + 1)
        }
    }

    @Test("merges as the definition says", arguments: 0..<20)
    func rescan(_ seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let definition = definition(merges: 40, using: &numbers)
        let tokenizer = try Tokenizer(definition)
        for length in 0..<60 {
            let text = String((0..<length).map { _ in "abc".randomElement(using: &numbers) ?? "a" })
            let pieces = tokenizer.encode(text).compactMap(tokenizer.piece)
            #expect(pieces == rescanned(text, definition), "seed \(seed), \(text)")
        }
    }

    @Test("a million equal letters are one pre-token that is not scanned over and over")
    func longPreToken() throws {
        var pieces = ["a"]
        var merges: [String] = []
        for power in 0..<8 {
            let half = String(repeating: "a", count: 1 << power)
            merges.append("\(half) \(half)")
            pieces.append(half + half)
        }
        let tokenizer = try Tokenizer(
            TokenizerDefinition(
                source: "test", pieces: pieces, merges: merges, preTokenizer: .gpt2))
        // 0.15 s here; a rescan would take hours.
        let ids = tokenizer.encode(String(repeating: "a", count: 1_000_003))
        #expect(ids.count == 3906 + 3)  // 1,000,003 = 3906 * 256 + 64 + 2 + 1
        #expect(ids.suffix(3) == [6, 1, 0])
    }

    @Test("a byte that the vocabulary lacks is dropped, or unknown, or one unknown for a run")
    func unknownBytes() throws {
        var definition = TokenizerDefinition(
            source: "test", pieces: ["a", "b", "ab", "?"], merges: ["a b"], preTokenizer: .whole)
        #expect(try Tokenizer(definition).encode("axxb") == [2])
        definition.unknownID = 3
        #expect(try Tokenizer(definition).encode("axxb") == [0, 3, 3, 1])
        definition.fusesUnknown = true
        #expect(try Tokenizer(definition).encode("axxb") == [0, 3, 1])
        #expect(try Tokenizer(definition).encode("xax") == [3, 0, 3])
    }

    @Test("the merge table finds what was put in and nothing else")
    func table() {
        var table = MergeTable(count: 1000)
        for i in 0..<1000 as Range<Int32> {
            #expect(table.append(left: i, right: i &* 7, into: i + 1) == nil)
        }
        #expect(table.append(left: 5, right: 35, into: 9) == 5)
        table.withReader { reader in
            for i in 0..<1000 as Range<Int32> {
                #expect(reader.rank(i, i &* 7) == UInt32(i))
                #expect(reader.rank(i, i &* 7 + 1) == MergeTable.none)
                #expect(reader.merged[Int(i)] == i + 1)
            }
        }
    }
}
