import SkeinBasics
import Testing

@testable import SkeinText

@Suite struct ExpressionPairsTests {
    /// The text's first place of a match by two characters, and where the matcher finds one.
    private static func places(
        of text: String, by program: ExpressionProgram
    ) -> (place: Int, match: Range<Int>?) {
        var text = text
        return text.withUTF8 { bytes in
            let match = ExpressionMatcher.with(bytes, program, ExpressionEffort(bytes: bytes.count))
            {
                $0.firstMatch(from: 0)
            }
            return (program.firstPlaceOfMatch(in: bytes), match)
        }
    }

    @Test("no match is passed over, wherever it begins")
    func passesNothingOver() throws {
        let patterns = [
            #"\s?[a-c]+"#, #"\s+$"#, #"\s?[!-/]+"#, #"a{2}b?"#, #"(?:ab){1,2}"#, #"(?:ab?){2,3}c"#,
            #"a(?=b)b|c$"#, #"a(?!b)"#, #"(?<=a)b"#, #"$\n"#, #"(?:$|a)b"#, #"\bab\b"#, #"a+?b"#,
            #"(?>a|ab)c"#, #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{L}]+|\p{N}{1,3}"#, #"\s*[\r\n]+"#,
            #"a?b?c"#, #"(?:a|b\z|c\Z)\n?"#, #"^a|\n$"#, #"(?:a$|a\n)+b?"#, #"(?i:'s|'re)"#,
        ]
        var numbers = SeededNumbers(state: 12)
        for pattern in patterns {
            let program = try ExpressionCompiler.compile(ExpressionParser.parse(pattern))
            var found = 0
            for _ in 0..<1000 {
                let count = Int.random(in: 0...8, using: &numbers)
                let scalars = (0..<count).map { _ in
                    Array("aabbc  \n1A!é's".unicodeScalars).randomElement(using: &numbers) ?? "a"
                }
                let text = String(String.UnicodeScalarView(scalars))
                let (place, match) = Self.places(of: text, by: program)
                guard let match else { continue }
                found += 1
                #expect(place <= match.lowerBound, "\(pattern) in \(text.debugDescription)")
            }
            #expect(found > 0, "\(pattern)")
        }
    }

    @Test(
        "what two characters rule out needs no matcher",
        arguments: [
            (#"\s?[!-/]+"#, " word", 5), (#"\s+$"#, " word", 5), (#"\s+$"#, "word ", 4),
            (#"(?:ab){2}"#, "acab", 2), (#"a{2}"#, "aba", 3), (#"a$"#, "ab a", 3),
            (#"a\z"#, "a\n", 2),
            (#"a(?=b)"#, "ac", 0), (#"a?"#, "b", 0),
        ])
    func rulesOut(pattern: String, text: String, expected: Int) throws {
        let program = try ExpressionCompiler.compile(ExpressionParser.parse(pattern))
        #expect(Self.places(of: text, by: program).place == expected)
    }
}
