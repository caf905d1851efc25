import RegexBuilder
import Testing

@testable import SkeinSessions

@Suite("Texts of regular expressions")
struct RegexSourceTests {
    private static let texts = [
        "", "a", "b", "c", "ab", "abc", "ac", "bc", "abab", "ababc", "Mr. Fox", "Mrs. Fox", "Mr",
        "2026-11", "2026-1", "a+b", "aab", "a.b", "x", "Mr- Fox",
    ]

    private func text(of regex: Regex<some Any>) -> String? {
        guard let text = RegexSource.text(of: regex) else { return nil }
        // It says the same.
        if let again = try? Regex(text) {
            for text in Self.texts {
                let isSame =
                    (text.wholeMatch(of: regex) != nil)
                    == (text.wholeMatch(of: again) != nil)
                #expect(isSame, "\(text)")
            }
        } else {
            Issue.record("no expression: \(text)")
        }
        return text
    }

    @Test("literals and texts are as they were written")
    func literals() throws {
        #expect(text(of: /a|bc/) == "a|bc")
        #expect(text(of: #/a/b/#) == "a/b")
        #expect(text(of: /(?<year>\d{4})-(\d\d?)/) == #"(?<year>\d{4})\-(\d\d?)"#)
        #expect(text(of: try Regex(#"(ab)+c?"#)) == "(ab)+c?")
        #expect(text(of: /[^\]a-c]*?x\.y/) == #"[^\]a-c]*?x\.y"#)
    }

    @Test("built expressions have a text if it says the same")
    func built() {
        #expect(
            text(
                of: Regex {
                    Capture {
                        ChoiceOf {
                            "Mr"
                            "Mrs"
                        }
                    }
                    ". "
                    OneOrMore(.word)
                }) == #"(Mr|Mrs)\. \w+"#)
        #expect(
            text(
                of: Regex {
                    Repeat(.digit, count: 4)
                    "-"
                    Repeat(.digit, 1...2)
                }) == #"\d{4}\-\d{1,2}"#)
        #expect(text(of: Regex { OneOrMore("ab") }) == "(?:ab)+")
        #expect(
            text(
                of: ChoiceOf {
                    "a"
                    "bc"
                }.regex) == "a|bc")
    }

    @Test("built expressions have none if what is printed means something else")
    func misprinted() {
        let choice = ChoiceOf {
            "a"
            "b"
        }
        #expect(
            text(
                of: Regex {
                    choice
                    "c"
                }) == nil)
        #expect(text(of: Regex { OneOrMore { choice } }) == nil)
        #expect(text(of: Regex { OneOrMore(/ab/) }) == nil)
        #expect(
            text(
                of: Regex {
                    /a|b/
                    "c"
                }) == nil)
        #expect(text(of: Regex { ZeroOrMore(.any) }) == nil)
        #expect(text(of: Regex { "a\\Eb" }) == nil)
        #expect(text(of: Regex { TryCapture("a", transform: { _ -> Int? in nil }) }) == nil)
    }

    @Test("sets inside of sets are read differently elsewhere")
    func differences() {
        for source in ["[a[b]]", "[a&&b]", "[a~~b]", "[a--b]", "x[[:alpha:]]"] {
            #expect(RegexSource.difference(in: source) != nil, "\(source)")
        }
        for source in [#"[a\[b]"#, #"\[[a]"#, "[a-]--", "[a]&&[b]", "[-a]", #"[\--a]"#, "[^]]"] {
            #expect(RegexSource.difference(in: source) == nil, "\(source)")
        }
    }
}
