import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows

/// Rows in chat format, by what a template makes of the conversation that they are.
@Suite struct RowsAsConversationsTests: RendersRows {
    // MARK: - Pairs

    @Test(
        "a pair trains what the template makes of its two turns: thoughts are closed, spaces trimmed"
    )
    func pairs() throws {
        let pair = #"{"prompt":"2+2?","completion":" 4. "}"#
        let messages = """
            {"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":" 4. "}]}
            """
        let expected = ["<|user|>2+2?<stop><|assistant|>«<think></think>4.<stop>»"]
        #expect(try texts(pair, Self.thinking) == expected)
        #expect(try texts(messages, Self.thinking) == expected)
        let without = try encoder(
            Self.thinking, arguments: [JSONField(name: "enable_thinking", value: .bool(false))])
        #expect(
            try without.marked(row(pair))
                == ["<|user|>2+2?<stop><|assistant|><think></think>«4.<stop>»"])
    }

    @Test("both answers of a preference row are conversations, too")
    func preferences() throws {
        let line = #"{"prompt":"q","chosen":"yes","rejected":""}"#
        let lists = """
            {"prompt":[{"role":"user","content":"q"}],"chosen":[{"role":"assistant","content":"yes"}],\
            "rejected":[{"role":"assistant","content":""}]}
            """
        let expected = [
            "<|user|>q<stop><|assistant|>«<think></think>yes<stop>»",
            "<|user|>q<stop><|assistant|>«<think></think><stop>»",
        ]
        #expect(try texts(line, Self.thinking, comparing: true) == expected)
        #expect(try texts(lists, Self.thinking, comparing: true) == expected)
    }

    @Test(
        "a pair whose answer the template leaves out is an error with its place; a turn is a remark"
    )
    func lost() throws {
        let silent =
            "{% for m in messages if m.role == 'user' %}{{ m.content + '<stop>' }}{% endfor %}"
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/d.jsonl"
            try AtomicFile.write("\n{\"prompt\":\"q\",\"completion\":\"a\"}\n", to: path)
            let file = try PairFile(path: path)
            let error = RowError.lostAnswer(path: path, line: 2)
            #expect(throws: error) { try encoder(silent).encode(file) }
            #expect(error.explanation.place == path + ":2")
        }
        // Only the first answer is left out.
        let first = """
            {% for m in messages %}{% if not loop.index0 == 1 %}{{ m.content + '<stop>' }}{% endif %}\
            {% endfor %}
            """
        let turns = ["q", "a", "r", "b"].enumerated().map {
            ChatTurn(role: $0.isMultiple(of: 2) ? "user" : "assistant", content: $1)
        }
        let drafts = try encoder(first).drafts(.conversation(turns))
        #expect(drafts[0].remarks.contains(.lostTurn))
    }

    @Test("a prompt for an answer with which no answer of training begins is a remark")
    func otherPrompt() throws {
        let other = Self.plain.replacingOccurrences(
            of: "'<|assistant|>' }}{% endif", with: "'<|assistant|><think>' }}{% endif")
        let pair = PairRow.pair(prompt: "q", completion: "a")
        #expect(try encoder(other).drafts(pair)[0].remarks.contains(.otherPrompt))
        #expect(try encoder(other).marked(pair) == ["<|user|>q<stop><|assistant|>«a<stop>»"])
        #expect(try encoder(Self.plain).drafts(pair)[0].remarks.isEmpty)
    }

    // MARK: - System and tools

    @Test("a system beside texts is the first turn, in every form; tools are the tools")
    func beside() throws {
        let (system, tools) = (#""system":"s","#, #""tools":[{"name":"f"}],"#)
        let answer = "<|system|>s<stop><|user|>q<stop><|assistant|>«a<stop>»"
        let shown = #"<tools>{"type": "function", "function": {"name": "f"}}"#
        for line in [
            #"{\#(system)"prompt":"q","completion":"a"}"#,
            #"{\#(system)"instruction":"q","output":"a"}"#,
            #"{\#(system)"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}"#,
            #"{\#(system)"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a"}]}"#,
            #"{\#(system)"prompt":[{"role":"user","content":"q"}],"completion":[{"role":"assistant","content":"a"}]}"#,
        ] {
            #expect(try texts(line, Self.calls) == [answer], "\(line)")
            let more = line.replacingOccurrences(of: system, with: system + tools)
            #expect(try texts(more, Self.calls) == [shown + answer], "\(more)")
            // JSON text of a list, as CSV and some data sets have it.
            let text = line.replacingOccurrences(
                of: system, with: system + #""tools":"[{\"name\":\"f\"}]","#)
            #expect(try texts(text, Self.calls) == [shown + answer], "\(text)")
        }
        for line in [
            #"{\#(system)\#(tools)"prompt":"q","chosen":"a","rejected":"b"}"#,
            #"{\#(system)\#(tools)"chosen":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"rejected":[{"role":"user","content":"q"},{"role":"assistant","content":"b"}]}"#,
        ] {
            let found = try texts(line, Self.calls, comparing: true)
            #expect(found.first == shown + answer && found.count == 2, "\(line)")
        }
        // What no template renders is not dropped in silence.
        #expect(throws: RowError.conversationWithoutTemplate(path: "", line: 0)) {
            try texts(#"{\#(system)"prompt":"q","completion":"a"}"#, Self.calls, format: .eos)
        }
        #expect(throws: LineProblem.twoSystems(field: "system")) {
            try row(#"{\#(system)"messages":[{"role":"system","content":"t"}]}"#)
        }
    }

    @Test("a template that knows no tools has them and the calls described, as the server does")
    func described() throws {
        let line = """
            {"tools":[{"type":"function","function":{"name":"f"}}],"messages":[\
            {"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"id":"1",\
            "function":{"name":"f","arguments":"{\\"a\\":1}"}}]},{"role":"tool","content":"r"},\
            {"role":"assistant","content":"done"}]}
            """
        let text = try #require(try texts(line, Self.plain).first)
        #expect(text.hasPrefix("<|system|>You can call functions."), "\(text)")
        #expect(
            text.contains(
                #"<|assistant|>«<tool_call>\#n{"name": "f", "arguments": {"a":1}}\#n</tool_call><stop>»"#
            ), "\(text)")
        #expect(text.contains("<|user|><tool_response>\nr\n</tool_response><stop>"), "\(text)")
        #expect(text.hasSuffix("<|assistant|>«done<stop>»"), "\(text)")
    }

    @Test(
        "results stay turns of their own where the template writes them, unless their calls do not")
    func results() throws {
        let line = """
            {"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"[f()]"},\
            {"role":"tool","content":"r"},{"role":"assistant","content":"done"}]}
            """
        #expect(
            try texts(line, Self.plain) == [
                "<|user|>q<stop><|assistant|>«[f()]<stop>»<|tool|>r<stop><|assistant|>«done<stop>»"
            ])
        let deaf =
            "{% for m in messages if m.role != 'tool' %}{{ '<|' + m.role + '|>' + m.content + '<stop>' }}{% endfor %}"
        #expect(
            try texts(line, deaf)[0].contains("<|user|><tool_response>\nr\n</tool_response><stop>"))
    }

    @Test("a turn of words and calls, of which the template writes one alone, is remarked on")
    func lostPart() throws {
        let either = """
            {% for m in messages %}{{ '<|' + m.role + '|>' }}{% if m.tool_calls %}\
            {{ m.tool_calls|tojson }}{% else %}{{ m.content }}{% endif %}{{ '<stop>' }}{% endfor %}
            """
        func row(_ content: String) throws -> PairRow {
            try self.row(
                """
                {"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"\(content)",\
                "tool_calls":[{"function":{"name":"f","arguments":{}}}]}]}
                """)
        }
        #expect(try encoder(either).drafts(row("so"))[0].remarks.contains(.lostPart))
        #expect(try !encoder(either).drafts(row(""))[0].remarks.contains(.lostPart))
        #expect(try !encoder(Self.calls).drafts(row("so"))[0].remarks.contains(.lostPart))
    }

    @Test(
        "ShareGPT's keys count where the others are null, and its calls are checked as others are")
    func shared() throws {
        #expect(
            try row(#"{"conversations":[{"from":"human","value":"x","role":null,"content":null}]}"#)
                == .conversation([ChatTurn(role: "user", content: "x")]))
        #expect(
            try row(#"{"messages":[{"role":"user","content":"x","name":null,"tool_calls":null}]}"#)
                == .conversation([ChatTurn(role: "user", content: "x")]))
        let kept = try row(
            #"{"conversations":[{"from":"gpt","value":"x","reasoning_content":"r","weight":0}]}"#)
        guard case .conversation(let turns, _) = kept else { return }
        #expect(turns[0].message["reasoning_content"] == .text("r") && !turns[0].isTrained)
        let called = try row(
            #"{"messages":[{"role":"function_call","content":"{\"name\":\"f\"}"}]}"#)
        guard case .conversation(let calls, _) = called else { return }
        #expect(calls[0].isAssistant && calls[0].message["tool_calls"]?.list?.count == 1)
        let call =
            #"{"conversations":[{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":[1]}"}]}"#
        let problem = ToolProblem(
            path: "conversations[0].tool_calls[0].function.arguments", flaw: .badArguments)
        #expect(throws: LineProblem.badCalls(problem: problem)) { try row(call) }
    }

    @Test("lists of text parts are what the template takes: a text, or the parts")
    func parts() throws {
        let line = """
            {"messages":[{"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"r"}]},\
            {"role":"assistant","content":[{"type":"text","text":"a"}]}]}
            """
        let pair = #"{"prompt":"q","completion":"a"}"#
        let printing =
            "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' ~ m.content ~ '<stop>' }}{% endfor %}"
            + Self.asking
        #expect(try texts(line, printing) == ["<|user|>q\nr<stop><|assistant|>«a<stop>»"])
        let partsOnly = """
            {% for m in messages %}{{ '<|' + m.role + '|>' }}\
            {% for p in m.content if p is mapping %}{{ p.text }}{% endfor %}{{ '<stop>' }}{% endfor %}
            """ + Self.asking
        #expect(try texts(line, partsOnly) == ["<|user|>qr<stop><|assistant|>«a<stop>»"])
        #expect(try texts(pair, partsOnly) == ["<|user|>q<stop><|assistant|>«a<stop>»"])
    }
}
