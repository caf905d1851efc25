import Foundation
import SkeinJSON
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinInference

/// Conversations as prompts, without a request.
@Suite struct ChatPromptsTests {
    /// What a template of the test's own makes of a conversation.
    private static func prompt(
        _ template: String, settings: [JSONField] = [], tools: [Tool] = [],
        choice: ToolChoice = .none, arguments: [JSONField] = [], addsPrompt: Bool = true
    ) throws -> String {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let model = try ModelDirectory.open(directory + "/tiny.gguf")
            let tokenizer = try Tokenizer(model: model.raw)
            let path = directory + "/template.jinja"
            try Data(template.utf8).write(to: URL(fileURLWithPath: path))
            let chat = ChatPrompts(
                model, ChatTemplateSettings(template: path, arguments: settings), tokenizer)
            return tokenizer.decode(
                try chat.prompt(
                    [ChatMessage(role: "user", content: "the")], tools: tools, choice: choice,
                    arguments: arguments, addsPrompt: addsPrompt, tokenizer))
        }
    }

    private static func field(_ name: String, _ text: String) -> JSONField {
        JSONField(name: name, value: .text(text))
    }

    @Test("arguments of a prompt come before the settings', and the answer's beginning is a choice")
    func arguments() throws {
        let template = "{{ a }}{{ b }}{{ messages[0].content }}{{ add_generation_prompt }}"
        let settings = [Self.field("a", "1"), Self.field("b", "2")]
        #expect(
            try Self.prompt(template, settings: settings, arguments: [Self.field("b", "3")])
                == "13theTrue")
        #expect(try Self.prompt(template, settings: settings, addsPrompt: false) == "12theFalse")
    }

    @Test("tools are told unless none may be called")
    func tools() throws {
        let tools = try TestTools.list(TestTools.get)
        // It writes no calls, so they are described in a system message.
        let template = "{{ messages[0].content }}"
        let told = try Self.prompt(template, tools: tools, choice: .auto)
        #expect(told.contains(#""name": "get""#), "\(told)")
        #expect(try Self.prompt(template, tools: tools, choice: .none) == "the")
    }

    @Test("a template that writes nothing, and one that cannot be read, are errors of each prompt")
    func errors() throws {
        #expect(throws: ChatPromptError.noTokens) { try Self.prompt("{{ '' }}") }
        for _ in 0..<2 {
            #expect(throws: (any Error).self) { try Self.prompt("{{ not a template") }
        }
    }
}
