import Foundation
import SkeinBasics
import Testing

@testable import SkeinText

/// How `tokenizers` cuts a long text, made by make_slow_expressions.py.
private struct SlowCut: Decodable {
    struct Part: Decodable {
        let text: String
        let count: Int
    }

    let pattern: String
    let parts: [Part]
    /// A length of pieces in bytes, and how many pieces of it follow each other.
    let lengths: [[Int]]

    var text: String {
        parts.map { String(repeating: $0.text, count: $0.count) }.joined()
    }
}

@Suite struct SlowExpressionTests {
    @Test("cuts texts that take many steps as the library does, in a bounded number of steps")
    func cuts() throws {
        let path = Fixtures.path("slow_expressions")
        let cases = try JSONDecoder().decode(
            [SlowCut].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(cases.count >= 12)
        for test in cases {
            let expression = try SkeinText.Expression(test.pattern)
            let text = test.text
            let few = ExpressionEffort(
                steps: 64 * text.utf8.count, laterSteps: 64 * text.utf8.count)
            let lengths = Self.lengths(of: text, by: expression, effort: few)
            #expect(lengths == test.lengths, "\(test.pattern)")
        }
    }

    /// Those of the texts above that took more than 2^29 steps.
    @Test("without a memory the same texts take too many steps")
    func withoutMemory() throws {
        for pattern in [#"\s+$"#, #"\s++$"#] {
            let expression = try SkeinText.Expression(pattern)
            let text = String(repeating: " ", count: 4000) + "a"
            let effort = ExpressionEffort(steps: 200 * text.utf8.count, laterSteps: 0)
            #expect(Self.lengths(of: text, by: expression, effort: effort) == nil, "\(pattern)")
        }
    }

    @Test("what a matcher remembers never changes what it finds, in a window of any size")
    func equivalence() throws {
        let patterns = [
            #"(?=(?:ab?)*c)a|(?!(?:a|b)+?c)b+|c"#, #"(?:a|ab)(?:c|bcd)?|(?>a+|b)*?c{2,}"#,
            #"(?<=a(?=b+c)|b)(?:a?b)+|a{2,3}?b"#, #"(?:a*b?)*c|(?:(?:ab|a)?c?)+b"#,
            #"(?:(?!ab*c)[abc])+?c|(?:a{0,2}b){1,3}(?=c|a+$)"#, #"a+?b*c??$|(?>(?:a|b)+)c|b"#,
            #"\b(?:a+b)+(?!c)|(?=a*?c)[ab]"#, #"(?:a|b(?=(?:ab)*c))+c|(?<!(?=ab)a)b"#,
        ]
        var numbers = SeededNumbers(state: 7)
        for pattern in patterns {
            let node = try ExpressionParser.parse(pattern)
            let program = try ExpressionCompiler.compile(node)
            for _ in 0..<400 {
                let count = Int.random(in: 0...20, using: &numbers)
                let text = String(
                    (0..<count).map { _ in "aaabbbcc 世".randomElement(using: &numbers) ?? "a" })
                let whole = Self.matches(of: text, by: program, ExpressionEffort(bytes: count))
                for bits in [0, 300, 1 << 20] {
                    let effort = ExpressionEffort(
                        steps: 1, laterSteps: 1 << 24, rememberedBits: bits)
                    let found = Self.matches(of: text, by: program, effort)
                    #expect(found == whole, "\(pattern) in \(text.debugDescription), \(bits) bits")
                }
            }
        }
    }

    @Test("a text that takes too much is an error, not a text in one piece")
    func error() throws {
        let stage = try JSONDecoder().decode(
            [TokenizerFile.Stage].self,
            from: Data(
                #"""
                [{"type":"Split","pattern":{"Regex":"(?:a|b)+"},"behavior":"Isolated"},
                {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]
                """#.utf8))
        let steps = try PreTokenSteps(stage, source: "t")
        // One choice for each byte, more than the stack has room for.
        let text = [UInt8](repeating: UInt8(ascii: "b"), count: ExpressionLimits.frames + 1)
        var count = 0
        let unfinished = text.withUnsafeBufferPointer { bytes in
            CharacterClasses.shared.withReader { classes in
                steps.forEachPiece(of: UTF8Reader(bytes: bytes, classes: classes)) { _ in
                    count += 1
                }
            }
        }
        #expect(unfinished?.step.spelling == "(?:a|b)+")
        #expect(unfinished?.bytes == text.count)
        #expect(count == 0)
    }

    @Test("loops that never fail are bounded, when they are compiled and when they match")
    func endless() throws {
        // Neither a loop's end nor a look-ahead's fails; one level more takes 256 times as many.
        var pattern = "[ab]*"
        for _ in 0..<12 { pattern = "(?:(?=\(pattern))[ab]?)*" }
        #expect(throws: ExpressionFlaw.tooSlow) { try SkeinText.Expression(pattern) }
        let expression = try SkeinText.Expression("(?:(?=[ab]*)[ab])*")
        let text = String(repeating: "ab", count: 1 << 14)
        let few = ExpressionEffort(steps: 1 << 16, laterSteps: 64 * text.utf8.count)
        #expect(Self.lengths(of: text, by: expression, effort: few) == [[text.utf8.count, 1]])
        let forgetful = ExpressionEffort(steps: 64 * text.utf8.count, laterSteps: 0)
        #expect(Self.lengths(of: text, by: expression, effort: forgetful) == nil)
    }

    @Test("the pieces of a text together may take no more than one of them")
    func shared() throws {
        let steps = try PreTokenSteps(
            JSONDecoder().decode(
                [TokenizerFile.Stage].self,
                from: Data(
                    #"""
                    [{"type":"Split","pattern":{"String":"x"},"behavior":"Removed"},
                    {"type":"Split","pattern":{"Regex":"(?:(?:ab|ab)*)*c"},"behavior":"Isolated"},
                    {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]
                    """#.utf8)), source: "t")
        func isDone(_ pieces: Int, laterSteps: Int) -> Bool {
            var text = String(
                repeating: String(repeating: "ab", count: 12) + "x", count: pieces)
            return text.withUTF8 { bytes in
                CharacterClasses.shared.withReader { classes in
                    let effort = ExpressionEffort(steps: 1000, laterSteps: laterSteps)
                    return steps.forEachPiece(
                        of: UTF8Reader(bytes: bytes, classes: classes), effort: effort
                    ) { _ in } == nil
                }
            }
        }
        var needed = 1024
        while !isDone(1, laterSteps: needed), needed < 1 << 30 { needed *= 2 }
        #expect(needed > 1024 && needed < 1 << 30)
        #expect(isDone(1, laterSteps: 2 * needed))
        #expect(!isDone(8, laterSteps: 2 * needed))
    }

    /// Runs of equal lengths; nil: it took too many steps.
    private static func lengths(
        of text: String, by expression: SkeinText.Expression, effort: ExpressionEffort
    ) -> [[Int]]? {
        var text = text
        return text.withUTF8 { bytes in
            var runs: [[Int]] = []
            let isComplete = expression.forEachStretch(of: bytes, effort: effort) { stretch, _ in
                guard !stretch.isEmpty else { return }
                if runs.last?[0] == stretch.count {
                    runs[runs.count - 1][1] += 1
                } else {
                    runs.append([stretch.count, 1])
                }
            }
            return isComplete ? runs : nil
        }
    }

    private static func matches(
        of text: String, by program: ExpressionProgram, _ effort: ExpressionEffort
    ) -> [Range<Int>] {
        var text = text
        return text.withUTF8 { bytes in
            ExpressionMatcher.with(bytes, program, effort) { matcher in
                var found: [Range<Int>] = []
                var start = 0
                while start <= bytes.count, let match = matcher.firstMatch(from: start) {
                    found.append(match)
                    start = max(match.upperBound, start + 1)
                }
                let gaveUp = matcher.gaveUp
                #expect(!gaveUp)
                return found
            }
        }
    }
}
