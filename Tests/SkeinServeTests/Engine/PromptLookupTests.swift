import Testing

@testable import SkeinServe

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

    @Test("guesses change no answer, and some are right where an answer repeats itself")
    func exact() throws {
        let fields =
            #""prompt":"the in the in the in","max_tokens":300,"ignore_eos":true,"temperature":"#
        var said: [[String]] = []
        for guesses in [false, true] {
            try ServeCase.run {
                $0.guesses = guesses
            } with: { server in
                said.append(
                    try server.complete(fields + "0").texts
                        + server.complete(fields + #"0.3,"seed":1"#).texts
                        + server.complete(fields + #"0,"presence_penalty":0.1"#).texts)
                let figures = server.server.figures
                #expect((figures.rightGuesses > 20) == guesses)
                #expect(figures.rightGuesses <= figures.guessedTokens)
            }
        }
        #expect(said[0] == said[1])
    }
}
