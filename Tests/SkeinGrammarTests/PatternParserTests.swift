import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinGrammar

@Suite("Parser of regular expressions")
struct PatternParserTests {
    private static func letter(_ character: Unicode.Scalar) -> PatternNode {
        .set(ScalarSet(character.value))
    }

    static let trees: [(String, PatternNode)] = [
        ("", .sequence([])),
        ("a", letter("a")),
        ("ab", .sequence([letter("a"), letter("b")])),
        ("a|b|", .choice([letter("a"), letter("b"), .sequence([])])),
        ("(a)", letter("a")),
        ("(?:a)", letter("a")),
        ("(?<name_1>a)", letter("a")),
        ("(^)*", .repetition(.sequence([.beginning]), least: 0, most: nil)),
        ("^a$", .sequence([.beginning, letter("a"), .end])),
        ("a*", .repetition(letter("a"), least: 0, most: nil)),
        ("a+?", .repetition(letter("a"), least: 1, most: nil)),
        ("a??", .repetition(letter("a"), least: 0, most: 1)),
        ("a{3}", .repetition(letter("a"), least: 3, most: 3)),
        ("a{3,}", .repetition(letter("a"), least: 3, most: nil)),
        ("a{3,4}?", .repetition(letter("a"), least: 3, most: 4)),
        ("a{", .sequence([letter("a"), letter("{")])),
        ("{}", .sequence([letter("{"), letter("}")])),
        ("a{,", .sequence([letter("a"), letter("{"), letter(",")])),
        ("]", letter("]")),
        (".", .set(PatternParser.dot)),
        ("\\.", letter(".")),
        ("\\-\\_\\/", .sequence([letter("-"), letter("_"), letter("/")])),
        ("\\x41", letter("A")),
        ("\\u00e9", letter("\u{E9}")),
        ("\\uD83D\\uDE00", letter("\u{1F600}")),
        ("\\u{1F600}", letter("\u{1F600}")),
        ("\\cJ\\0", .sequence([letter("\n"), letter("\0")])),
        ("\\d", .set(ScalarSet([0x30...0x39]))),
        ("[a-c_]", .set(ScalarSet([0x61...0x63, 0x5F...0x5F]))),
        ("[^\\0-\\u{10FFFE}]", .set(ScalarSet(0x10_FFFF))),
        ("[\\uD83D\\uDE00-\\uD83D\\uDE02]", .set(ScalarSet([0x1_F600...0x1_F602]))),
        ("[-a]", .set(ScalarSet([0x2D...0x2D, 0x61...0x61]))),
        ("[a-]", .set(ScalarSet([0x2D...0x2D, 0x61...0x61]))),
        ("[\\b\\]]", .set(ScalarSet([0x08...0x08, 0x5D...0x5D]))),
        ("[[:]", .set(ScalarSet([0x5B...0x5B, 0x3A...0x3A]))),
        ("[^\\D]", .set(ScalarSet([0x30...0x39]))),
        ("\\p{gc=Cc}", .set(ScalarSet([0...0x1F, 0x7F...0x9F]))),
        ("\\p{Line_Separator}", .set(ScalarSet(0x2028))),
    ]

    @Test("Each construct has its tree", arguments: trees)
    func accepted(text: String, tree: PatternNode) throws {
        #expect(try PatternParser.parse(text) == Pattern(tree: tree))
    }

    static let flaws: [(String, PatternFlaw.Kind, Int, String)] = [
        ("a(?=b)", .lookAround, 1, "(?=b)"),
        ("(?!b)", .lookAround, 0, "(?!b)"),
        ("(?<=b)", .lookAround, 0, "(?<=b)"),
        ("é(?<!b)", .lookAround, 2, "(?<!b)"),
        ("(a)\\1", .backReference, 3, "\\1"),
        ("\\k<a>", .backReference, 0, "\\k<a>"),
        ("a\\b", .wordBoundary, 1, "\\b"),
        ("\\B", .wordBoundary, 0, "\\B"),
        ("a*+", .possessive, 1, "*+"),
        ("a{1}+", .possessive, 1, "{1}+"),
        ("(?>a)", .unknownGroup, 0, "(?>a)"),
        ("(?i)a", .unknownGroup, 0, "(?i)a"),
        ("(?P<n>a)", .unknownGroup, 0, "(?P<n>a)"),
        ("(?", .unknownGroup, 0, "(?"),
        ("[[:alpha:]]", .posixClass, 1, "[:alpha:]]"),
        ("\\a", .unknownEscape, 0, "\\a"),
        ("\\Z", .unknownEscape, 0, "\\Z"),
        ("\\07", .unknownEscape, 0, "\\07"),
        ("\\p{Greek}", .unknownProperty, 0, "\\p{Greek}"),
        ("\\p{L", .incompleteEscape, 0, "\\p{L"),
        ("\\pL", .incompleteEscape, 0, "\\pL"),
        ("a{,3}", .ambiguousBraces, 1, "{,3}"),
        ("{,}", .ambiguousBraces, 0, "{,}"),
        ("[]", .emptyClass, 0, "[]"),
        ("[^]a]", .emptyClass, 0, "[^]a]"),
        ("a\\", .incompleteEscape, 1, "\\"),
        ("\\x4", .incompleteEscape, 0, "\\x4"),
        ("\\u12g4", .incompleteEscape, 0, "\\u12g4"),
        ("\\u{}", .incompleteEscape, 0, "\\u{}"),
        ("\\c1", .incompleteEscape, 0, "\\c1"),
        ("[a", .unterminatedClass, 0, "[a"),
        ("x[", .unterminatedClass, 1, "["),
        ("[a-", .unterminatedClass, 0, "[a-"),
        ("a(b|(c)", .unterminatedGroup, 1, "(b|(c)"),
        ("a)b", .unmatchedParenthesis, 1, ")b"),
        ("(?<1>a)", .groupName, 3, "1>a)"),
        ("(?<>a)", .groupName, 3, ">a)"),
        ("(?<a", .groupName, 3, "a"),
        ("*", .nothingToRepeat, 0, "*"),
        ("a|+", .nothingToRepeat, 2, "+"),
        ("a**", .nothingToRepeat, 2, "*"),
        ("a{1}{2}", .nothingToRepeat, 4, "{2}"),
        ("^*", .nothingToRepeat, 1, "*"),
        ("{1}", .nothingToRepeat, 0, "{1}"),
        ("[b-a]", .descendingRange, 1, "b-a]"),
        ("[a-\\d]", .classInRange, 1, "a-\\d]"),
        ("[\\d-z]", .classInRange, 1, "\\d-z]"),
        ("[\\p{Zl}-\\u2029]", .classInRange, 1, "\\p{Zl}-\\u2029]"),
        ("a{3,2}", .leastAboveMost, 1, "{3,2}"),
        ("\\uD800", .notACharacter, 0, "\\uD800"),
        ("\\uD800\\u0041", .notACharacter, 0, "\\uD800\\u0041"),
        ("\\uDC00", .notACharacter, 0, "\\uDC00"),
        ("\\u{110000}", .notACharacter, 0, "\\u{110000}"),
        ("a{1048577}", .tooManyRepetitions(limit: 1 << 20), 1, "{1048577}"),
        ("a{0,99999999999999999999}", .tooManyRepetitions(limit: 1 << 20), 1, "{0,9999999999999"),
    ]

    @Test("What is wrong or not supported is refused with its place", arguments: flaws)
    func refused(text: String, kind: PatternFlaw.Kind, offset: Int, found: String) {
        let flaw = PatternFlaw(kind: kind, offset: offset, found: found)
        #expect(throws: flaw) { try PatternParser.parse(text) }
        #expect(!flaw.reason.isEmpty)
    }

    @Test("Depth, length and ranges of classes have limits")
    func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + String(repeating: ")", count: depth)
        }
        _ = try PatternParser.parse(nested(64))
        let found = "(" + String(repeating: ")", count: 15)
        #expect(throws: PatternFlaw(kind: .tooDeep(limit: 64), offset: 64, found: found)) {
            try PatternParser.parse(nested(65))
        }
        let long = String(repeating: "a", count: GrammarLimits.patternBytes)
        _ = try PatternParser.parse(long)
        #expect(throws: PatternFlaw.self) { try PatternParser.parse(long + "a") }
        let wide = String(repeating: "[\\W]", count: GrammarLimits.patternBytes / 4)
        #expect(throws: PatternFlaw.self) { try PatternParser.parse(wide) }
    }

    @Test("Random texts are parsed or refused", arguments: [1, 2, 3])
    func anyText(seed: UInt64) {
        var random = TestRandom(state: seed)
        let pieces = Array("()[]{}?*+|^$\\.-,:=!<>09afnuxpLdW\u{E9}\u{1F600}")
        for _ in 0..<3000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = String(
                (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] })
            do {
                let machine = try ScalarMachine(
                    PatternParser.parse(text).tree, matchesWhole: false)
                _ = machine.contains(text)
            } catch let flaw as PatternFlaw {
                #expect(flaw.offset <= text.utf8.count, "seed \(seed): \(text)")
            } catch {
                #expect(error is ScalarMachineTooLarge, "seed \(seed): \(text)")
            }
        }
    }

    @Test("A class is certain where dialects agree, and its negation is, too")
    func dialects() throws {
        let arabicDigit: UInt32 = 0x661
        #expect(!ScalarClass.digit.certain.contains(arabicDigit))
        #expect(!ScalarClass.digit.inverted.certain.contains(arabicDigit))
        #expect(ScalarClass.digit.inverted.inverted == .digit)
        let letters = try #require(ScalarClass.category(named: "Letter", isNegated: false))
        #expect(ScalarClass.category(named: "L", isNegated: true) == letters.inverted)
        for type in [ScalarClass.digit, .word, .space, letters] {
            #expect(type.certain.subtracting(type.possible).isEmpty)
            #expect(type.certain.intersection(type.inverted.certain).isEmpty)
        }
    }
}
