import SkeinJSON
import SkeinText
import Testing

@testable import SkeinCommands

@Suite struct ConversationFileTests {
    private let user = ChatMessage(role: "user", content: "hi")

    @Test("a JSON list of messages is a conversation without a generation prompt")
    func list() throws {
        let text = #" [{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}]"#
        #expect(
            try ConversationFile(text: text)
                == ConversationFile(
                    messages: [user, ChatMessage(role: "assistant", content: "")],
                    addsGenerationPrompt: false))
    }

    @Test("an object says whether a generation prompt is added")
    func object() throws {
        for (field, adds) in [
            (#", "add_generation_prompt": true"#, true),
            (#", "add_generation_prompt": false"#, false), ("", false),
        ] {
            let text = #"{"messages": [{"role": "user", "content": "hi"}]\#(field)}"#
            #expect(
                try ConversationFile(text: text)
                    == ConversationFile(messages: [user], addsGenerationPrompt: adds))
        }
    }

    @Test("tools, calls and all other fields reach the template")
    func tools() throws {
        let text =
            #"{"messages": [{"role": "assistant", "tool_calls": [1], "x": null}], "tools": [2]}"#
        #expect(
            try ConversationFile(text: text)
                == ConversationFile(
                    messages: [
                        ChatMessage(fields: [
                            .init(name: "role", value: .text("assistant")),
                            .init(name: "tool_calls", value: .list([.integer(1)])),
                            .init(name: "x", value: .null),
                        ])
                    ], tools: .list([.integer(2)]), addsGenerationPrompt: false))
    }

    static let plain = [
        "", "hi", "[1, 2] is a list", "[1, 2]", "[", "{}", "{\"a\": 1}", "\"messages\"", "null",
        "{\"messages\": [", "[\"a\", {\"role\": \"user\"}]",
    ]

    @Test("any other text is a user's message that awaits an answer", arguments: plain)
    func other(text: String) throws {
        #expect(
            try ConversationFile(text: text)
                == ConversationFile(
                    messages: [ChatMessage(role: "user", content: text)],
                    addsGenerationPrompt: true))
    }

    static let bad: [(String, InputProblem)] = [
        ("[]", .noMessages), (#"{"messages": []}"#, .noMessages),
        (#"{"messages": "hi"}"#, .badField("messages", expected: "a list")),
        (#"{"messages": [1]}"#, .badField("messages[0]", expected: "an object")),
        (
            #"{"messages": [{"role": "u", "content": "x"}], "tools": {}}"#,
            .badField("tools", expected: "a list")
        ),
        (#"[{"role": "user"}]"#, .badField("messages[0].content", expected: "a string")),
        (
            #"[{"role": "user", "content": "hi"}, {"role": 1, "content": "x"}]"#,
            .badField("messages[1].role", expected: "a string")
        ),
        (
            #"[{"role": "user", "content": null}]"#,
            .badField("messages[0].content", expected: "a string")
        ),
        (
            #"{"messages": [{"role": "u", "content": "x"}], "add_generation_prompt": "yes"}"#,
            .badField("add_generation_prompt", expected: "true or false")
        ),
    ]

    @Test("a conversation with a mistake is an error, not a user's message", arguments: bad)
    func mistakes(text: String, problem: InputProblem) {
        #expect(throws: problem) { try ConversationFile(text: text) }
    }
}
