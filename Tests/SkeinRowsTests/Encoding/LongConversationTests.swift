import SkeinJSON
import SkeinText
import Testing

@testable import SkeinRows

/// Conversations whose beginnings are rendered at once.
@Suite struct LongConversationTests {
    /// Writes thoughts only after the last question, as Qwen 3 does, and looks for it from the end.
    private static let rewriting = """
        {% set ns = namespace(open=true, last=messages|length - 1) %}\
        {% for m in messages[::-1] %}{% set index = (messages|length - 1) - loop.index0 %}\
        {% if ns.open and m.role == 'user' %}{% set ns.open = false %}{% set ns.last = index %}\
        {% endif %}{% endfor %}{% for m in messages %}<{{ m.role }}>\
        {% if m.role == 'assistant' and m.reasoning_content and loop.index0 > ns.last %}\
        ({{ m.reasoning_content }}){% endif %}{{ m.content }}<end>{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}
        """

    private static let appending = """
        {{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content|trim }}<end>{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}
        """

    /// Questions, each with `answers` answers after it, some of which say nothing.
    private func turns(_ count: Int, answers: Int) -> [ChatTurn] {
        (0..<count).map { index in
            if index % (answers + 1) == 0 {
                return ChatTurn(role: "user", content: "Question \(index)?")
            }
            var message = ChatMessage(
                role: "assistant", content: index % 7 == 0 ? "" : "Answer \(index).")
            message.set("reasoning_content", .text("Thought \(index)."))
            return ChatTurn(message: message, isTrained: index % 5 != 0)
        }
    }

    @Test("tokens are the same whether beginnings are rendered at once or one by one")
    func tokens() throws {
        for source in [Self.rewriting, Self.appending] {
            let shared = try TemplateTokenizer().encoder(source)
            var alone = shared
            alone.renderBeginnings = { _, _ in nil }
            for trained in TrainedTurns.allCases {
                for answers in 1...3 {
                    let row = PairRow.conversation(turns(21, answers: answers), tools: nil)
                    let (one, other) = (
                        try encoder(shared, trained).drafts(row),
                        try encoder(alone, trained).drafts(row)
                    )
                    #expect(one.map(\.ids) == other.map(\.ids))
                    #expect(one.map(\.targets) == other.map(\.targets))
                    #expect(one.map(\.remarks) == other.map(\.remarks))
                }
            }
        }
    }

    @Test("a long conversation renders nothing one by one")
    func once() throws {
        var text = try TemplateTokenizer().encoder(Self.appending)
        text.renderChat = { _, _, _ in throw RowError.noTemplate }
        let turns = turns(RowEncoder.sharedMessages, answers: 1)
        let drafts = try encoder(text, .all).drafts(.conversation(turns, tools: nil))
        #expect(drafts.count == 1)
    }

    @Test("a row of 100,000 messages is an error, before any is rendered")
    func tooMany() {
        let message = #"{"role":"user","content":"a"}"#
        let list = Array(repeating: message, count: 100_000).joined(separator: ",")
        #expect(throws: LineProblem.messageCount(found: 100_000, limit: Limits.turns)) {
            try Array("{\"messages\":[\(list)]}".utf8).withUnsafeBytes { try PairRow(line: $0) }
        }
    }

    private func encoder(_ text: TextEncoder, _ trained: TrainedTurns) throws -> RowEncoder {
        try RowEncoder(
            encoder: text, format: .chat, trainedTurns: trained, maximumLength: 1 << 20)
    }
}
