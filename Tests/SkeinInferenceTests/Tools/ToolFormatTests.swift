import Foundation
import SkeinFormats
import SkeinJSON
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinInference

@Suite("How models write calls")
struct ToolFormatTests {
    private static let tokens = TemplateTokens(begin: "<s>", end: "</s>")

    private static var nemo: ToolFormat {
        var format = ToolFormat.mistral
        format.afterMarker = "["
        return format
    }

    private static let detected: [(template: String, format: ToolFormat)] = [
        (TestTemplates.hermes, .hermes), (TestTemplates.llama, .llama),
        (TestTemplates.mistral, nemo),
        (TestTemplates.mistral.replacingOccurrences(of: "S][' }}", with: "S] [' }}"), .mistral),
        (TestTemplates.granite, .granite), (TestTemplates.phi, .phi),
        (TestTemplates.plain, .described(takesSystem: true)),
        (TestTemplates.turns, .described(takesSystem: false)),
        (TestTemplates.otherCalls, .described(takesSystem: true)),
        ("{{ not a template", .described), ("", .described(takesSystem: false)),
    ]

    @Test("a model's format is what its template writes")
    func detection() {
        for (template, format) in Self.detected {
            let found = ToolFormat(template: template, tokens: Self.tokens)
            #expect(found == format, "\(template)")
        }
    }

    @Test(
        "the fetched model is told of tools in a system message",
        .enabled(if: TestPaths.model != nil, "needs SKEIN_TEST_MODEL"))
    func fetchedModel() throws {
        let metadata = try GGUFFile(path: #require(TestPaths.model)).metadata
        guard case .string(let source)? = metadata["tokenizer.chat_template"] else {
            Issue.record("the model has a template")
            return
        }
        let tokens = try Tokenizer(ggufMetadata: metadata).templateTokens
        #expect(ToolFormat(template: source, tokens: tokens) == .described(takesSystem: true))
        let text = try Self.rendered(source, calls: 2)
        for part in Self.hermesTurns + ["<|im_start|>system\nYou can call functions."] {
            #expect(text.contains(part), "\(part)\n---\n\(text)")
        }
        #expect(!text.contains("You are a helpful AI assistant named SmolLM"))
    }

    private static func preparation(_ template: String) throws -> ConversationPreparation {
        ConversationPreparation(
            try ChatTemplate(source: template, name: "t"), tokens: tokens, ends: [])
    }

    private static func rendered(
        _ template: String, calls: Int, choice: ToolChoice = .auto, upTo count: Int = .max
    ) throws -> String {
        let template = try ChatTemplate(source: template, name: "t")
        let definitions = choice == .none ? [] : try TestTools.all.map(\.definition)
        let (messages, tools) = try ConversationPreparation(template, tokens: tokens, ends: [])
            .prepared(
                Array(try TestTools.conversation(calls: calls).prefix(count)),
                tools: .list(definitions), for: .answer)
        return try template.render(
            messages.map(\.message), addGenerationPrompt: true, tokens: tokens, tools: tools
        ).text
    }

    private static let first =
        #"{"name": "get_weather", "arguments": {"place": "Oslo", "days": 2}}"#
    private static let second = #"{"name": "get", "arguments": {"on": true}}"#

    private static let hermesTurns = [
        "assistant\n<tool_call>\n\(first)\n</tool_call>\n<tool_call>\n\(second)\n</tool_call><|im_end|>",
        "user\n<tool_response>\nrain\n</tool_response>\n<tool_response>\nyes\n</tool_response><|im_end|>",
        "assistant\nIt rains.<|im_end|>", "user\nAnd Rome?<|im_end|>\n<|im_start|>assistant\n",
    ]

    @Test("calls and results are written as the model's own template has them")
    func loops() throws {
        let nine = ["call_1", "call_2"].map { CallID.restyled($0, .mistral) }
        let cases: [(String, Int, [String])] = [
            (
                TestTemplates.hermes, 2,
                Self.hermesTurns + [
                    #"<tools>\#n{"type": "function", "function": {"name": "get_weather""#
                ]
            ),
            (
                TestTemplates.llama, 1,
                [
                    #"assistant<|end_header_id|>\#n\#n{"name": "get_weather", "parameters": {"place": "Oslo", "days": 2}}<|eot_id|>"#,
                    #"ipython<|end_header_id|>\#n\#n"rain"<|eot_id|>"#, #""name": "nothing""#,
                ]
            ),
            (
                TestTemplates.mistral, 2,
                [
                    #"[TOOL_CALLS][\#(Self.first.dropLast()), "id": "\#(nine[0])"}, \#(Self.second.dropLast()), "id": "\#(nine[1])"}]</s>"#,
                    #"[TOOL_RESULTS]{"content": rain, "call_id": "\#(nine[0])"}"#,
                    #"{"content": yes, "call_id": "\#(nine[1])"}[/TOOL_RESULTS]It rains.</s>[AVAILABLE_TOOLS]["#,
                ]
            ),
            (
                TestTemplates.granite, 2,
                [
                    "assistant<|end_of_role|><|tool_call|>[\(Self.first),\(Self.second)]<|end_of_text|>",
                    "tool<|end_of_role|>rain<|end_of_text|>", #""name": "get_weather""#,
                ]
            ),
            (
                TestTemplates.phi, 2,
                [
                    "<|assistant|><|tool_call|>\(Self.first)<|/tool_call|><|tool_call|>\(Self.second)<|/tool_call|><|end|>",
                    #"<|tool_response|>"rain"<|end|>"#, #"<|tool|>{"name": "get""#,
                ]
            ),
            (
                TestTemplates.plain, 2,
                Self.hermesTurns + [
                    "<|im_start|>system\nYou can call functions.", "</tools>\n\nTo call",
                    "<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"get_weather\"",
                ]
            ),
            (
                TestTemplates.turns, 2,
                [
                    "<s><start_of_turn>user\nYou can call functions.",
                    "</tool_response>.\n\nWeather in Oslo?<end_of_turn>",
                ]
            ),
        ]
        for (template, calls, wanted) in cases {
            let text = try Self.rendered(template, calls: calls)
            for part in wanted { #expect(text.contains(part), "\(part)\n---\n\(text)") }
        }
    }

    @Test("what a model wrote is what the next turn's prompt has in its place")
    func sameText() throws {
        for (template, calls) in [
            (TestTemplates.hermes, 2), (TestTemplates.plain, 2), (TestTemplates.llama, 1),
            (TestTemplates.granite, 2), (TestTemplates.phi, 2),
        ] {
            let format = ToolFormat(template: template, tokens: Self.tokens)
            let before = try Self.rendered(template, calls: calls, upTo: 1)
            let after = try Self.rendered(template, calls: calls, upTo: 2 + calls)
            let written = [Self.first, Self.second].prefix(calls).map {
                $0.replacingOccurrences(of: "arguments", with: format.argumentsKey)
            }
            let answer =
                format.opening
                + written.joined(separator: format.callEnd + (format.callNext ?? ""))
                + format.callEnd + format.listEnd
            #expect(after.hasPrefix(before + answer), "\(before + answer)\n---\n\(after)")
        }
    }

    @Test("with no choice tools are not shown, and earlier calls stay")
    func notShown() throws {
        for template in [TestTemplates.hermes, TestTemplates.plain, TestTemplates.phi] {
            let text = try Self.rendered(template, calls: 2, choice: .none)
            #expect(!text.contains("plant-tree_2") && text.contains(Self.first), "\(text)")
        }
    }

    @Test("a result has the name of its call, and a name that the model's template takes")
    func results() throws {
        let messages = try Self.preparation(TestTemplates.mistral).prepared(
            try TestTools.conversation(calls: 2), tools: nil, for: .answer
        ).messages.map(\.message)
        #expect(messages[2]["name"] == .text("get_weather"))
        #expect(messages[3]["name"] == .text("get"))
        #expect(messages[3]["content"] == .text("yes"))
        #expect(messages[3]["tool_call_id"]?.string?.utf8.count == 9)
        #expect(messages[1]["tool_calls"] != nil && messages[1]["content"] == .null)
    }

    @Test("arguments that are no JSON object are refused with their place")
    func badArguments() throws {
        for (arguments, flaw) in [
            (#""{""#, ToolProblem.Flaw.badArguments), (#""[]""#, .badArguments),
            ("7", .badArguments),
            ("\"" + String(repeating: #"{\"a\":"#, count: 40) + "\"", .tooDeep(limit: 32)),
        ] {
            let message = try TestTools.chat(
                #"""
                {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}},
                {"id":"b","function":{"name":"f","arguments":\#(arguments)}}]}
                """#)
            guard case .object(let fields) = message else { return }
            let problem = ToolProblem(
                path: "messages[0].tool_calls[1].function.arguments", flaw: flaw)
            #expect(throws: problem) {
                try Self.preparation(TestTemplates.hermes).prepared(
                    [ChatMessage(fields: fields)], tools: nil, for: .answer)
            }
        }
    }
}
