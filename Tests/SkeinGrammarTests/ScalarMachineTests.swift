import SkeinBasics
import Testing

@testable import SkeinGrammar

@Suite("Machines over characters")
struct ScalarMachineTests {
    static func machine(_ pattern: String, whole: Bool = false) throws -> ScalarMachine {
        try ScalarMachine(PatternParser.parse(pattern).tree, matchesWhole: whole)
    }

    /// All words of `a` and `b` of up to four letters, the shorter ones first.
    static let words = (0...4).flatMap { length in
        (0..<(1 << length)).map { bits in
            String((0..<length).reversed().map { bits >> $0 & 1 == 0 ? "a" as Character : "b" })
        }
    }

    @Test("Searches agree with Python", arguments: PythonPatterns.searches)
    func searches(pattern: String, matches: String) throws {
        try compare(pattern, PythonPatterns.texts, matches)
    }

    @Test("Random expressions agree with Python", arguments: PythonPatterns.random)
    func random(pattern: String, matches: String) throws {
        try compare(pattern, Self.words, matches)
    }

    private func compare(_ pattern: String, _ texts: [String], _ matches: String) throws {
        let machine = try Self.machine(pattern)
        let anchored = try Self.machine("^(?:\(pattern))$")
        let whole = try Self.machine(pattern, whole: true)
        #expect(texts.count == matches.count)
        for (text, expected) in zip(texts, matches) {
            if expected != "-" {
                #expect(machine.contains(text) == (expected == "1"), "\(pattern) on \(text)")
            }
            #expect(anchored.contains(text) == whole.contains(text), "\(pattern) on \(text)")
        }
    }

    @Test("What dialects disagree on is left out")
    func dialects() throws {
        for pattern in ["^\\d$", "^\\D$", "^\\w$", "^\\W$", "^[^\\d]$", "^[^\\D]$"] {
            #expect(try !Self.machine(pattern).contains("\u{661}"), "\(pattern)")
        }
        for space in ["\u{A0}", "\u{FEFF}", "\u{1C}", "\u{85}", "\u{2028}"] {
            #expect(try !Self.machine("\\s|\\S").contains(space))
        }
        for end in ["\n", "\u{B}", "\u{C}", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
            #expect(try !Self.machine(".").contains(end))
            #expect(try !Self.machine("a$").contains("a" + end))
        }
        // Unassigned here, and perhaps a letter or a digit to a newer Unicode.
        for pattern in ["\\W|\\D", "\\P{L}", "[^\\p{L}]"] {
            #expect(try !Self.machine(pattern).contains("\u{E0080}"))
        }
        #expect(try Self.machine("^\\p{Lu}\\P{Lu}$").contains("\u{C9}\u{E9}"))
        // A letter whose case Unicode 17 took away: both judges know it as a letter alone.
        for pattern in ["\\p{Ll}", "\\P{Ll}", "\\p{Lo}", "\\P{Lo}"] {
            #expect(try !Self.machine("^\(pattern)$").contains("\u{295}"), "\(pattern)")
        }
        #expect(try Self.machine("^\\p{L}$").contains("\u{295}"))
    }

    @Test("What a pattern allows, Swift's Regex matches: code points, classes of ASCII")
    func swiftRegex() throws {
        let patterns = [
            ".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "[^a-z]", "[^\\d]", "[^\\w]", "[^\\s]",
            "\\p{L}", "\\P{Lu}", "\\v", "\\f", "[\\b]",
        ]
        // With newlines, numbers and numerals that only some call so.
        let numbers = Array(UInt32(0)...0x24FF) + [0x3000, 0x4E00]
        let scalars = numbers.compactMap(Unicode.Scalar.init)
        for pattern in patterns {
            let regex = try Regex(pattern).asciiOnlyDigits().asciiOnlyWordCharacters()
                .matchingSemantics(.unicodeScalar)
            let machine = try Self.machine("^\(pattern)$")
            for scalar in scalars where machine.contains(String(scalar)) {
                #expect(
                    String(scalar).wholeMatch(of: regex) != nil,
                    "\(pattern) on U+\(String(scalar.value, radix: 16))")
            }
        }
    }

    @Test("Loops over alternatives stay small")
    func size() throws {
        #expect(try Self.machine("(a|b|c|d)*", whole: true).states.count == 1)
        #expect(try Self.machine("(a|b)*", whole: true).states[0].count == 1)
        #expect(try Self.machine("^(a|b|c|d)*$").states.count == 2)
        #expect(try Self.machine("(?:)", whole: true).states.count == 1)
        #expect(try Self.machine("^a{0,100}$").states.count == 101)
        #expect(try Self.machine("^[a-z]{1,4096}$").states.count == 4097)
        #expect(try Self.machine("((a*)*)*", whole: true).states.count == 2)
    }

    @Test("Lengths count scalars")
    func lengths() throws {
        let two = try ScalarMachine.length(2, 3)
        let expected = ["": false, "a": false, "ab": true, "abc": true, "abcd": false]
        for (text, isIn) in expected { #expect(two.contains(text) == isIn) }
        #expect(two.contains("e\u{301}"))
        #expect(!two.contains("\u{1F600}"))
        #expect(try ScalarMachine.length(2, nil).contains("abcdefg"))
        #expect(try !ScalarMachine.length(2, nil).contains("a"))
        #expect(try ScalarMachine.length(-1, 0).contains(""))
        #expect(try ScalarMachine.length(3, 2).isEmpty)
        #expect(throws: ScalarMachineTooLarge.states) { try ScalarMachine.length(1 << 40, nil) }
        #expect(throws: ScalarMachineTooLarge.states) { try ScalarMachine.length(0, .max) }
    }

    @Test("Every text but some")
    func excluding() throws {
        func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }
        let machine = try ScalarMachine.excluding(
            ["", "ab", "abba", "b", "\u{1F600}"].map(scalars) + [[0xD800]])
        for word in Self.words {
            #expect(machine.contains(word) == !["", "ab", "abba", "b"].contains(word), "\(word)")
        }
        #expect(!machine.contains("\u{1F600}"))
        #expect(machine.contains("\u{1F600}\u{1F600}"))
        #expect(machine.contains("abbab"))
        #expect(try ScalarMachine.excluding([]).contains(""))
        let long = Array(repeating: UInt32(0x61), count: GrammarLimits.machineStates)
        #expect(throws: ScalarMachineTooLarge.states) { try ScalarMachine.excluding([long]) }
    }

    @Test("An intersection has the texts of both, and is trimmed")
    func intersections() throws {
        let patterns = PythonPatterns.random.map(\.pattern)
        for index in 0..<patterns.count - 1 {
            let first = try Self.machine(patterns[index])
            let second = try Self.machine(patterns[index + 1])
            let both = try first.intersection(second)
            for word in Self.words {
                let expected = first.contains(word) && second.contains(word)
                #expect(
                    both.contains(word) == expected,
                    "\(patterns[index]) and \(patterns[index + 1]) on \(word)")
            }
            #expect(both.trimmed.states.count == both.states.count)
        }
        let some = try Self.machine("^[a-c]+$").intersection(.length(2, 2))
        #expect(some.contains("ac"))
        #expect(!some.contains("abc"))
        #expect(some.states.count == 3)
        #expect(try some.intersection(.any).contains("ab"))
        #expect(try Self.machine("^a$").intersection(Self.machine("^b$")).isEmpty)
    }

    @Test("States that lead nowhere are removed")
    func trimming() throws {
        for pattern in ["a^", "$a", "^b^", "a{2}^"] {
            let machine = try Self.machine(pattern)
            #expect(machine.isEmpty)
            #expect(machine.states == [[]])
        }
        let step = { (to: Int) in ScalarMachine.Step(set: .all, to: to) }
        let machine = ScalarMachine(
            states: [
                [step(1), step(2)], [step(1)], [ScalarMachine.Step(set: .none, to: 1), step(3)],
                [], [step(3)],
            ],
            accepting: [false, false, false, true, true]
        ).trimmed
        #expect(machine.states == [[step(1)], [step(2)], []])
        #expect(machine.accepting == [false, false, true])
    }

    static let large: [(String, ScalarMachineTooLarge)] = [
        ("(a{4096}){4096}", .states),
        ("(?:a?){1000}", .steps),
        ("(?:a?b?c?d?){4096}", .states),
        ("(((((){4096}){4096}){4096}){4096}){4096}", .work),
    ]

    @Test("A short expression of a large machine is refused", arguments: large)
    func limits(pattern: String, error: ScalarMachineTooLarge) throws {
        let tree = try PatternParser.parse(pattern).tree
        #expect(throws: error) { try ScalarMachine(tree, matchesWhole: true) }
    }

    @Test("A product that is too large is refused")
    func largeProduct() throws {
        let first = try Self.machine("(?:a.{0,200})*b", whole: true)
        #expect(throws: ScalarMachineTooLarge.self) { try first.intersection(.length(0, 4096)) }
    }

    @Test("A text that takes too much work is not in the language")
    func work() throws {
        let machine = try Self.machine("(?:a?){400}$")
        #expect(machine.contains("aaaa"))
        #expect(!machine.contains(String(repeating: "a", count: 100_000)))
    }

    @Test(
        "a deterministic machine has as few states as its language needs",
        arguments: [
            ("^(ab|cb|db){3}$", 7), ("^a{40}$", 41), ("^(a|ba|bba)*$", 3), ("^(aa|bb|ab|ba)*$", 2),
            ("^(a|b)(c|d)e?$", 4), ("^(xa{9}|ya{9})$", 11),
        ])
    func merged(_ pattern: String, _ count: Int) throws {
        let machine = try Self.machine(pattern)
        let merged = try #require(machine.determinised())
        #expect(merged.states.count == count)
        for text in ["", "a", "ab", "abcbdb", "ace", "bd", "bba", "xaaaaaaaaa", "aabb", "aab"] {
            #expect(merged.contains(text) == machine.contains(text), "\(text)")
        }
    }
}
