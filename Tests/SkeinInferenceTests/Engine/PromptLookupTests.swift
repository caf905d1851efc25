import Testing

@testable import SkeinInference

/// Guesses at what comes next.
@Suite struct PromptLookupTests {
    @Test("the continuation of the last place with the same three tokens is guessed")
    func guesses() {
        var lookup = PromptLookup(prompt: [1, 2, 3, 4, 5, 9, 9, 1, 2, 3])
        #expect(lookup.guess(atMost: 7).starts(with: [4, 5, 9]))
        #expect(lookup.guess(atMost: 1) == [4])
        #expect(lookup.guess(atMost: 0).isEmpty)
        lookup.append(7)
        #expect(lookup.guess(atMost: 7).isEmpty)
        // The later place counts.
        for token in [1, 2, 3] as [Int32] { lookup.append(token) }
        #expect(lookup.guess(atMost: 7).first == 7)
        for short in [[], [1], [1, 1], [1, 1, 1]] as [[Int32]] {
            var lookup = PromptLookup(prompt: short)
            #expect(lookup.guess(atMost: 7).isEmpty)
        }
    }

    @Test("right guesses make longer ones, wrong ones none for a while")
    func learns() {
        let row = Array(repeating: [1, 2, 3, 4, 5, 6, 7, 8] as [Int32], count: 4).joined()
        var lookup = PromptLookup(prompt: Array(row))
        for _ in 0..<8 { lookup.note(right: 3, of: 3) }
        #expect(lookup.guess(atMost: 99).count == PromptLookup.longest)
        for _ in 0..<12 { lookup.note(right: 0, of: 3) }
        #expect(lookup.guess(atMost: 99).isEmpty)
        // One is tried now and then.
        #expect((0..<64).contains { _ in !lookup.guess(atMost: 99).isEmpty })
    }
}
