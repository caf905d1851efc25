import Foundation
import Testing

/// Comments and names of tests say what does what, as a native engineer would.
@Suite("wording")
struct WordingTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    private struct Pattern {
        let expression: NSRegularExpression
        let advice: String

        /// `words` is searched for in the comment of a line, and in the name of a test or a suite.
        init(_ words: String, _ advice: String) throws {
            let prose = #"(?://|@(?:Test|Suite)\(\s*")[^\n]*?"#
            expression = try NSRegularExpression(pattern: prose + words)
            self.advice = advice
        }
    }

    private static func patterns() throws -> [Pattern] {
        [
            // Descriptions of parameters may begin so: "- path: of the plan".
            try Pattern(
                #"(?<=[/.:;!?"]) ?Of "#,
                "say the noun: \"The width of a row.\", or the verb: \"It has four rows.\""),
            try Pattern(
                #"(?i)\b(?:nobody|somebody|anybody|everybody|anyone|someone|whoever)\b"#,
                "name the part that acts, or use the passive: \"It is never read.\""),
        ]
    }

    /// Numbers of lines that have a pattern, and what to do about them.
    private static func faults(
        _ text: String, _ patterns: [Pattern]
    ) -> [(line: Int, advice: String)] {
        let whole = NSRange(text.startIndex..., in: text)
        return patterns.flatMap { pattern in
            pattern.expression.matches(in: text, range: whole).compactMap { match in
                guard let range = Range(match.range, in: text) else { return nil }
                let line = 1 + text[..<range.upperBound].count { $0 == "\n" }
                return (line, pattern.advice)
            }
        }
    }

    @Test("no comment and no test's name begins without its noun, or speaks of an unknown person")
    func wording() throws {
        let patterns = try Self.patterns()
        var count = 0
        for room in ["Sources", "Tests"] {
            let folder = Self.root + "/" + room
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder)
            where file.hasSuffix(".swift") {
                count += 1
                let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
                for fault in Self.faults(text, patterns) {
                    Issue.record("\(room)/\(file):\(fault.line): \(fault.advice)")
                }
            }
        }
        // If the search itself broke, it would find nothing wrong.
        #expect(count > 1000, "\(count)")
    }

    @Test(
        "the two patterns are found where people read them",
        arguments: ["    /// ", "///   - a: ", "let a = 1  // ", "// In floats. ", "@Test(\n  \""],
        [
            "Of a row, in floats.", "It is for nobody.", "Whoever asks has it.",
            "Everybody has it.", "It is anyone's.", "It waits for someone.",
        ])
    func found(place: String, words: String) throws {
        let patterns = try Self.patterns()
        let faults = Self.faults(place + words, patterns)
        #expect(faults.map(\.line) == [1 + place.count { $0 == "\n" }])
        // Texts that people or models are given are no comments.
        #expect(Self.faults("let text = \"\(words)\"", patterns).isEmpty)
        #expect(Self.faults(place + "The width of a row.", patterns).isEmpty)
    }
}
