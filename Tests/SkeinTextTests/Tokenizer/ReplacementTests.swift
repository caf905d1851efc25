import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinText

@Suite struct ReplacementTests {
    private struct Golden: Decodable {
        let pattern: String
        let content: String
        /// Before and after.
        let texts: [[String]]
    }

    @Test("replaces what an expression matches as tokenizers does")
    func goldens() throws {
        let goldens = try Fixtures.decode([Golden].self, "replacements")
        #expect(goldens.count >= 14)
        for golden in goldens {
            let pattern = try TextPattern(expression: golden.pattern)
            for text in golden.texts {
                let effort = ExpressionEffort()
                let found = pattern.replaced(
                    in: Array(text[0].utf8), by: Array(golden.content.utf8), effort)
                #expect(
                    String(decoding: found, as: UTF8.self) == text[1],
                    "\(golden.pattern) in \(text[0].debugDescription)")
                #expect(found.count <= text[0].utf8.count * pattern.growth(content: 8) + 8)
                #expect(effort.unfinished == nil)
            }
        }
    }

    /// A Unigram tokenizer with a normalizer.
    private static func tokenizer(_ pattern: String, added: String = "") throws -> Tokenizer {
        let text =
            #"{"added_tokens": ["# + added + #"], "model": {"type": "Unigram", "unk_id": 0, "#
            + #""vocab": [["<unk>", 0], ["a", -1], ["z", -2]]}, "normalizer": {"type": "Replace", "#
            + #""pattern": {"Regex": ""# + pattern + #""}, "content": "a"}}"#
        return try Tokenizer(Fixtures.definition(text))
    }

    @Test("an expression of a normalizer is bounded, for texts and for added tokens")
    func bounds() throws {
        #expect(try Self.tokenizer("z{2,}|b").encode("zbzz") == [2, 1, 1])
        // One choice for each byte, more than the stack has room for.
        let long = String(repeating: "b", count: ExpressionLimits.frames + 1)
        let slow = try Self.tokenizer("(?:z|b)+")
        #expect(throws: TokenizerError.textTooSlow(expression: "(?:z|b)+", bytes: long.utf8.count))
        {
            try slow.ids(of: long)
        }
        #expect(throws: TokenizerError.self) { try Self.tokenizer("(z)\\\\1") }
        let token =
            #"{"id": 2, "content": ""# + String(repeating: "zz", count: 200)
            + #"", "normalized": true}"#
        let error = #expect(throws: TokenizerError.self) {
            try Self.tokenizer("(?:(?:z|zz)*)*b", added: token)
        }
        guard case .unsupported(.expression(_, .tooSlow), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
