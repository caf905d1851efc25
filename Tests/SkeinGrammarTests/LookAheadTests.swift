import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinGrammar

/// Look-aheads at the beginning of an expression, against what Python says of all texts of up to four
/// characters: made by Tests/Fixtures/grammar/look-aheads.py.
@Suite("Look-aheads")
struct LookAheadTests {
    private static func machine(_ pattern: String) throws -> ScalarMachine {
        let language = try TextMachines(WorkBudget(Demand())).language(
            pattern, matchesWhole: false, pointer: "")
        #expect(!language.isCounted)
        return language.machine
    }

    @Test("agree with Python, whatever its classes and its end of a text mean")
    func python() throws {
        let path = TestPaths.fixture("grammar/look-aheads.json")
        let made = try GrammarJSON.read([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
        let alphabet = Array(made["alphabet"]?.string ?? "").map(String.init)
        var texts = [""]
        var level = [""]
        for _ in 0..<4 {
            level = level.flatMap { text in alphabet.map { text + $0 } }
            texts += level
        }
        var held = 0
        for row in made["patterns"]?.list ?? [] {
            let pattern = try #require(row["pattern"]?.string)
            let isExact = row["isExact"] == .bool(true)
            let matches = Array((row["matches"]?.string ?? "").utf8).map { $0 == UInt8(ascii: "1") }
            try #require(matches.count == texts.count)
            let machine: ScalarMachine
            do {
                machine = try Self.machine(pattern)
            } catch let error as GrammarError {
                #expect(!isExact, "\(pattern): \(error)")
                continue
            }
            held += 1
            let wrong = zip(texts, matches).filter { text, isMatch in
                let isIn = machine.contains(text)
                return isExact ? isIn != isMatch : isIn && !isMatch
            }
            #expect(wrong.isEmpty, "\(pattern): \(wrong.prefix(3))")
        }
        #expect(held > 60)
    }

    @Test("stand right after the first ^, any number up to a limit")
    func places() throws {
        let a = PatternNode.set(ScalarSet(0x61))
        let feed = PatternNode.sequence([.set(ScalarSet(0x0A)), .end])
        #expect(
            try PatternParser.parse("^(?=a)(?!a$)a$")
                == Pattern(
                    tree: .sequence([.beginning, .sequence([a, .end])]),
                    lookAheads: [
                        .init(tree: a, isNegative: false),
                        .init(tree: .sequence([a, .choice([.end, feed])]), isNegative: true),
                    ]))
        func flaw(_ pattern: String) -> PatternFlaw? {
            #expect(throws: PatternFlaw.self) { try PatternParser.parse(pattern) }
        }
        for (pattern, offset) in [
            ("^(?!a)b|c", 1), ("^(?!a)*b", 1), ("^(?!a){2}", 1), ("^(?!a)?", 1), ("(?!a)b", 0),
            ("^a(?!b)", 2), ("(^(?!a)b)", 2), ("^(?!a(?=b))", 5), ("^(?!(?<!a))", 4),
            // What follows the end may be a line feed to Python.
            ("^(?!a$\\s)b", 1), ("^(?!(?:a$)*)b", 1),
        ] {
            let found = flaw(pattern)
            #expect(found?.kind == .lookAround && found?.offset == offset, "\(pattern)")
        }
        #expect(flaw("^(?!a")?.kind == .unterminatedGroup)
        let most = String(repeating: "(?!a)", count: GrammarLimits.lookAheads)
        _ = try PatternParser.parse("^" + most)
        #expect(flaw("^" + most + "(?!a)")?.kind == .lookAround)
    }

    @Test("hold together with lengths and other keywords, and in an answer as a whole")
    func schemas() throws {
        func isWritten(_ text: String, _ grammar: CompiledGrammar) throws -> Bool {
            var matcher = try GrammarMatcher(grammar, limit: 100)
            for byte in text.utf8 {
                guard try matcher.allows(Int32(byte)) else { return false }
                try matcher.accept(Int32(byte))
            }
            return try matcher.isComplete()
        }
        let password = try CompiledGrammar(
            schema: Array(
                #"""
                {"type":"string","pattern":"^(?=.*[a-z])(?=.*\\d)[a-z0-9]+$","minLength":4,
                "maxLength":50}
                """#.utf8), Vocabularies.bytes)
        for text in [#""abc1""#, #""1abcd""#, #""z000000""#] {
            #expect(try isWritten(text, password), "\(text)")
        }
        for text in [#""abc""#, #""abcd""#, #""1234""#, #""ab1""#] {
            #expect(try !isWritten(text, password), "\(text)")
        }
        let counted = try CompiledGrammar(
            expression: #"^(?!b)[a-z]{2,5000}"#, Vocabularies.bytes)
        #expect(try isWritten("ab", counted) && !isWritten("ba", counted))
        #expect(try !isWritten("a", counted))
        // No text is left.
        #expect(throws: GrammarError.self) {
            let none = try CompiledGrammar(
                schema: Array(#"{"type":"string","pattern":"^(?!a)a"}"#.utf8), Vocabularies.bytes)
            _ = try GrammarMatcher(none, limit: 100)
        }
    }

    @Test("that would need too large a machine are refused in time")
    func size() throws {
        #expect(throws: GrammarError.self) { try Self.machine("^(?!.*a.{100}b)a") }
        let many = (0..<16).map { "(?=.*\(Character(Unicode.Scalar(0x61 + UInt8($0)))))" }.joined()
        #expect(throws: GrammarError.self) { try Self.machine("^\(many)[a-z]+$") }
    }
}
