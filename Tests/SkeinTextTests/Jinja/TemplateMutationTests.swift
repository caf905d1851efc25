import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinText

/// Damaged templates on damaged conversations: each writes a text or is refused, and never stops the
/// process.
@Suite struct TemplateMutationTests {
    private static let count = Damage.count(600)
    private static let seed = Damage.seed

    private struct Goldens: Decodable {
        let entries: [Entry]

        struct Entry: Decodable { let template: String }
    }

    private static func sources() throws -> [[UInt8]] {
        try ["families.json", "constructs.json"].flatMap { name in
            let path = TestPaths.fixture("templates/" + name)
            return try JSONDecoder().decode(
                Goldens.self, from: Data(contentsOf: URL(fileURLWithPath: path))
            ).entries.map { Array($0.template.utf8) }
        }
    }

    private static let words = [
        "{% for x in messages %}", "{% endfor %}", "{% if ", "{% else %}", "{% endif %}", "{{",
        "}}",
        "{% set ns.x = ", "namespace(", "loop.", "messages", "[", "]", "(", ")", "|", "~", "**",
        "-",
        "9223372036854775807", "-9223372036854775808", "1e308", "0", "''", "{}", "none", "not ",
        " is ", " in ", "range(", "|tojson", "|indent(", "|batch(", "|round(", ".split(", "[::-1]",
        "* 99999", "%", ".format(", "{% macro m(a=1) %}", "{% endmacro %}", "m(",
        "{% generation %}",
        "{% endgeneration %}", "strftime_now('%Y')", "{#", "#}", "{%- raw %}", "é", "\u{1F999}",
    ]

    private static let conversation = Array(
        #"""
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", \#
        "text": "Why?"}]}, {"role": "assistant", "content": null, "tool_calls": [{"function": \#
        {"name": "f", "arguments": {"a": 1, "b": [2.5, true]}}}]}, {"role": "tool", "content": "18"}, \#
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nIt is.", "thinking": "hm"}]
        """#.utf8)

    private static let values = [
        "null", "-1", "1e308", "1e-308", "9223372036854775808", "true", "[]", "{}", "\"\"",
        "[[[[]]]]",
        "\"\\ud83e\\udd99\"", "\"\\u0000\"", "{\"a\":{\"a\":{}}}", ",", "\"", "}", "]", "\\",
        "\"role\":",
    ]

    /// `bytes` with a stretch removed, doubled or replaced by a word or a part of `other`.
    private func damaged(
        _ bytes: [UInt8], by draw: [UInt32], words: [String], other: [UInt8]
    ) -> [UInt8] {
        let start = Int(draw[0]) % (bytes.count + 1)
        let length = min(Int(draw[1] % 24), bytes.count - start)
        var result = bytes
        switch draw[2] % 5 {
        case 0: result.removeSubrange(start..<(start + length))
        case 1: result.insert(contentsOf: bytes[start..<(start + length)], at: start)
        case 2:
            let from = Int(draw[3]) % (other.count + 1)
            result.insert(contentsOf: other[from...].prefix(length * 4), at: start)
        default:
            let word = words[Int(draw[3]) % words.count]
            result.replaceSubrange(
                start..<(start + Int(draw[1] % 3) * length / 24), with: word.utf8)
        }
        return result
    }

    @Test("a damaged template with a damaged conversation writes a text or is refused")
    func mutations() throws {
        let random = AddressedRandom(seed: Self.seed, purpose: .benchmark)
        let sources = try Self.sources()
        var (written, refused) = (0, 0)
        for index in 0..<Self.count {
            let words = random.block(UInt32(index))
            var source = sources[Int(words[0]) % sources.count]
            var conversation = Self.conversation
            for change in 0...Int(words[1] % 3) {
                let draw = (0..<4).map { random.block(UInt32(index), UInt32(change + 1))[$0] }
                if draw[0] % 3 == 0 {
                    conversation = damaged(
                        conversation, by: draw, words: Self.values, other: Self.conversation)
                } else {
                    let other = sources[Int(words[2]) % sources.count]
                    source = damaged(source, by: draw, words: Self.words, other: other)
                }
            }
            do {
                let template = try ChatTemplate(
                    source: String(decoding: source, as: UTF8.self), name: "t")
                guard case .list(let items) = try JSONValue(parsing: conversation) else { continue }
                let messages = items.map { item -> ChatMessage in
                    guard case .object(let fields) = item else {
                        return ChatMessage(role: "user", content: item.described)
                    }
                    return ChatMessage(fields: fields)
                }
                let chat = try template.render(
                    messages, addGenerationPrompt: words[3] % 2 == 0,
                    tokens: TemplateTokens(begin: "<s>", end: "</s>"), tools: items.first)
                #expect(chat.text == chat.pieces.map(\.text).joined())
                written += 1
            } catch is TemplateError {
                refused += 1
            } catch is JSONFlaw {
                refused += 1
            }
        }
        #expect(written > Self.count / 20 && refused > Self.count / 20, "\(written), \(refused)")
    }
}
