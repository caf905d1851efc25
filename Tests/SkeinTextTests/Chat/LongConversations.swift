import SkeinJSON

@testable import SkeinText

/// Conversations of any length, of the kinds that templates tell apart.
enum LongConversations {
    /// What a conversation is made of, over and over.
    enum Kind: String, CaseIterable {
        case plain
        /// Thoughts in fields of their own, and in the content.
        case thinking
        /// Questions that take several calls, and an answer.
        case calls
        /// One question and nothing but calls.
        case agent
        /// Turns that say nothing, roles that do not alternate, the assistant first.
        case odd
    }

    static let tools = try? JSONValue(
        parsing: Array(
            """
            [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": \
            {"type": "object", "properties": {"a": {"type": "integer", "description": "One."}}, \
            "required": ["a"]}}}]
            """.utf8))

    static func messages(_ kind: Kind, _ count: Int) -> [ChatMessage] {
        var messages: [ChatMessage] = []
        if kind == .thinking || kind == .agent {
            messages.append(ChatMessage(role: "system", content: "Be brief."))
        }
        var turn = 0
        while messages.count < count {
            turn += 1
            let user = ChatMessage(role: "user", content: "Question \(turn)?")
            let answer = ChatMessage(role: "assistant", content: "Answer \(turn).")
            switch kind {
            case .plain: messages += [user, answer]
            case .thinking:
                var thoughtful = answer
                if turn.isMultiple(of: 3) {
                    thoughtful.set(
                        "content", .text("<think>\nHm, \(turn).\n</think>\n\nAnswer \(turn)."))
                } else {
                    thoughtful.set("reasoning_content", .text("Thought \(turn)."))
                }
                messages += [user, thoughtful]
            case .calls: messages += [user] + calls(turn, results: 1 + turn % 2) + [answer]
            case .agent:
                messages += (turn == 1 ? [user] : []) + calls(turn, results: 1)
            case .odd:
                let silent = ChatMessage(role: "assistant", content: "")
                messages +=
                    turn == 1
                    ? [answer, silent, user]
                    : turn.isMultiple(of: 2) ? [user, user, silent] : [answer, answer, user]
            }
        }
        return Array(messages.prefix(count))
    }

    private static func calls(_ turn: Int, results: Int) -> [ChatMessage] {
        let id = String("call\(turn)xxxxxxxxx".prefix(9))
        let call = JSONValue.object([
            JSONField(name: "id", value: .text(id)),
            JSONField(name: "type", value: .text("function")),
            JSONField(
                name: "function",
                value: .object([
                    JSONField(name: "name", value: .text("add")),
                    JSONField(
                        name: "arguments",
                        value: .object([JSONField(name: "a", value: .number("\(turn)"))])),
                ])),
        ])
        let message = ChatMessage(fields: [
            JSONField(name: "role", value: .text("assistant")),
            JSONField(name: "content", value: .text("")),
            JSONField(name: "reasoning_content", value: .text("Adding \(turn).")),
            JSONField(name: "tool_calls", value: .list([call])),
        ])
        let result = ChatMessage(fields: [
            JSONField(name: "role", value: .text("tool")),
            JSONField(name: "content", value: .text("Sum \(turn).")),
            JSONField(name: "tool_call_id", value: .text(id)),
            JSONField(name: "name", value: .text("add")),
        ])
        return [message] + Array(repeating: result, count: results)
    }
}

/// All beginnings of a conversation, with a prompt and without.
func allBeginnings(_ count: Int) -> Set<ChatBeginnings.Beginning> {
    Set(
        (0...count).flatMap { messages in
            [true, false].map { .init(messages: messages, addsPrompt: $0) }
        })
}
