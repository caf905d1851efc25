import Testing

@testable import SkeinText

@Suite struct AddedTokenTests {
    private typealias Section = AddedTokenMatcher.Section

    /// The sections of `text` with added tokens 0, 1, ... that the flags are set for.
    private func sections(
        of text: String, tokens: [(String, TokenizerDefinition.AddedToken)],
        parsingSpecialTokens: Bool = true
    ) -> [Section] {
        var matcher = AddedTokenMatcher()
        for (piece, token) in tokens {
            Array(piece.utf8).withUnsafeBufferPointer { matcher.add(token, bytes: $0) }
        }
        var sections: [Section] = []
        CharacterClasses.shared.withReader { classes in
            Array(text.utf8).withUnsafeBufferPointer {
                matcher.forEachSection(
                    of: UTF8Reader(bytes: $0, classes: classes),
                    parsingSpecialTokens: parsingSpecialTokens
                ) { sections.append($0) }
            }
        }
        return sections
    }

    @Test("takes the leftmost token and the longest of those that begin there")
    func leftmostLongest() {
        let tokens: [(String, TokenizerDefinition.AddedToken)] = [
            ("ab", .init(id: 0)), ("abcd", .init(id: 1)), ("bcde", .init(id: 2)),
            ("", .init(id: 3)),
        ]
        #expect(sections(of: "", tokens: tokens) == [])
        #expect(sections(of: "xyz", tokens: tokens) == [.text(0..<3)])
        #expect(sections(of: "xabcde", tokens: tokens) == [.text(0..<1), .token(1), .text(5..<6)])
        #expect(sections(of: "abcxbcde", tokens: tokens) == [.token(0), .text(2..<4), .token(2)])
        #expect(sections(of: "abab", tokens: tokens) == [.token(0), .token(0)])
    }

    @Test("flags move the borders of a match or undo it")
    func flags() {
        let left = [("<l>", TokenizerDefinition.AddedToken(id: 7, stripsLeft: true))]
        #expect(
            sections(of: "a \u{3000}<l> b", tokens: left) == [
                .text(0..<1), .token(7), .text(8..<10),
            ])
        #expect(sections(of: " <l> <l>", tokens: left) == [.token(7), .token(7)])
        let right = [("<r>", TokenizerDefinition.AddedToken(id: 7, stripsRight: true))]
        #expect(
            sections(of: "a <r> \nb", tokens: right) == [
                .text(0..<2), .token(7), .text(7..<8),
            ])
        let word = [("lamp", TokenizerDefinition.AddedToken(id: 7, isSingleWord: true))]
        #expect(
            sections(of: "lamps lamp é", tokens: word) == [
                .text(0..<6), .token(7), .text(10..<13),
            ])
        for text in [
            "élamp", "lampé", "_lamp", "lamp1", "海lamp", "lamp🦙海".replacing("🦙", with: ""),
        ] {
            #expect(sections(of: text, tokens: word) == [.text(0..<text.utf8.count)], "\(text)")
        }
        #expect(
            sections(of: "🦙lamp!", tokens: word) == [
                .text(0..<4), .token(7), .text(8..<9),
            ])
    }

    @Test("special tokens are text when they are not parsed; other added tokens are not")
    func notParsed() {
        let tokens = [
            ("<s>", TokenizerDefinition.AddedToken(id: 0, isSpecial: true)),
            ("<t>", TokenizerDefinition.AddedToken(id: 1)),
        ]
        #expect(
            sections(of: "a<s>b<t>", tokens: tokens, parsingSpecialTokens: false)
                == [.text(0..<5), .token(1)])
    }
}
