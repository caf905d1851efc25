import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinTraining

/// Rows in chat format, by what a template makes of the conversation that they are.
@Suite struct RowsAsConversationsTests {
    /// As templates of thinking models: the last answer has thoughts before it, empty ones if it has
    /// none, and so has the prompt for an answer, if `enable_thinking` is false.
    private static let thinking = """
        {% for m in messages %}{{ '<|' + m.role + '|>' }}\
        {% if m.role == 'assistant' and loop.last %}\
        {{ '<think>' + (m.reasoning_content or '') + '</think>' }}{% endif %}\
        {{ m.content|trim + '<stop>' }}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|assistant|>' }}\
        {% if enable_thinking is defined and not enable_thinking %}{{ '<think></think>' }}{% endif %}\
        {% endif %}
        """

    private static let calls = """
        {% if tools %}{{ '<tools>' }}{% for t in tools %}{{ t|tojson }}{% endfor %}{% endif %}\
        {% for m in messages %}{{ '<|' + m.role + '|>' }}{{ m.content }}\
        {% for c in m.tool_calls or [] %}{{ '<call>' + (c.function|tojson) }}{% endfor %}\
        {{ '<stop>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
        """

    private static let plain = """
        {% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<stop>' }}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
        """

    private static let asking = "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"

    private func encoder(
        _ template: String, format: PromptFormat = .chat, comparing: Bool = false,
        arguments: [JSONField] = []
    ) throws -> RowEncoder {
        try RowEncoder(
            encoder: TemplateTokenizer().encoder(template, arguments: arguments), format: format,
            trainedTurns: .all, maximumLength: 1000, comparesAnswers: comparing)
    }

    private func row(_ line: String, comparing: Bool = false) throws(LineProblem) -> PairRow {
        var fields = RowFields()
        fields.comparesAnswers = comparing
        let bytes = Array(line.utf8)
        let row = bytes.withUnsafeBytes { bytes in
            Result { () throws(LineProblem) in try PairRow(line: bytes, fields: fields) }
        }
        return try row.get()
    }

    private func texts(
        _ line: String, _ template: String, format: PromptFormat = .chat,
        comparing: Bool = false
    ) throws -> [String] {
        try encoder(template, format: format, comparing: comparing).marked(
            row(line, comparing: comparing))
    }

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
            let error = TrainingError.lostAnswer(path: path, line: 2)
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
        #expect(throws: TrainingError.conversationWithoutTemplate(path: "", line: 0)) {
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

    // MARK: - The end token

    @Test(
        "an end token that a row has written itself is not trained twice",
        arguments: [
            (#"{"text":"ab<end>"}"#, PromptFormat.eos, "«ab<end>»"),
            (#"{"text":"ab"}"#, .eos, "«ab<end>»"),
            (#"{"prompt":"p<end>","completion":"c<end>"}"#, .eos, "p<end>«c<end>»"),
            (#"{"prompt":"p","completion":"c<end>"}"#, .raw, "p«c<end>»"),
            (
                #"{"prompt":"p","completion":"c<stop> \n"}"#, .chat,
                "<|user|>p<stop><|assistant|>«c<stop>»"
            ),
            (
                #"{"prompt":"p","completion":"c<end>"}"#, .chat,
                "<|user|>p<stop><|assistant|>«c<stop>»"
            ),
            (
                #"{"prompt":"p","completion":"c<stop><stop>"}"#, .chat,
                "<|user|>p<stop><|assistant|>«c<stop><stop>»"
            ),
            (
                #"{"messages":[{"role":"user","content":"p<stop>"},{"role":"assistant","content":[{"type":"text","text":"c<stop>"}]}]}"#,
                .chat, "<|user|>p<stop><stop><|assistant|>«c<stop>»"
            ),
        ])
    func ends(line: String, format: PromptFormat, expected: String) throws {
        let parts = Self.plain.replacingOccurrences(
            of: "m.content", with: "(m.content if m.content is string else m.content[0].text)")
        #expect(try texts(line, parts, format: format) == [expected])
    }

    // MARK: - Calls and numbers

    @Test("arguments as JSON text are the object that they spell, with every digit")
    func arguments() throws {
        func line(_ arguments: String) -> String {
            """
            {"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"",\
            "tool_calls":[{"type":"function","function":{"name":"f","arguments":\(arguments)}}]}]}
            """
        }
        let number = "123456789012345678901234567890"
        let object = #"{"n": \#(number), "x": 1e+21, "y": 0.1, "z": 1.0, "w": -0}"#
        let quoted = JSONValue.quoted(object)
        let shown =
            #"{"name": "f", "arguments": {"n": \#(number), "x": 1e+21, "y": 0.1, "z": 1.0, "w": 0}}"#
        for arguments in [object, quoted] {
            #expect(
                try texts(line(arguments), Self.calls)
                    == ["<|user|>q<stop><|assistant|>«<call>\(shown)<stop>»"])
        }
        for bad in ["\"{\"", "\"[]\"", "3"] {
            let problem = ToolProblem(
                path: "messages[1].tool_calls[0].function.arguments", flaw: .badArguments)
            #expect(throws: LineProblem.badCalls(problem: problem)) { try row(line(bad)) }
        }
    }

    @Test("a line is read in one way, whatever its form")
    func oneReader() throws {
        for line in [
            #"{"prompt":"q","completion":"a",}"#, #"{"messages":[{"role":"user","content":"q"},]}"#,
        ] {
            let problem = #expect(throws: LineProblem.self) { try row(line) }
            guard case .notJSON? = problem else {
                Issue.record("\(String(describing: problem))")
                continue
            }
        }
        // Numbers that are none, in keys that are not read, as Python writes them.
        #expect(
            try row(#"{"score":NaN,"loss":-Infinity,"prompt":"q","completion":"a"}"#)
                == .pair(prompt: "q", completion: "a"))
        // The same letters, spelled with other code points, are other answers.
        #expect(
            try row(
                "{\"prompt\":\"q\",\"chosen\":\"caf\u{E9}\",\"rejected\":\"cafe\u{301}\"}",
                comparing: true)
                == .preference(
                    chosen: .pair(prompt: "q", completion: "caf\u{E9}"),
                    rejected: .pair(prompt: "q", completion: "cafe\u{301}")))
    }

    // MARK: - Speakers and labels

    @Test("speakers have the names that templates know; others are remarked on")
    func roles() throws {
        let names = [
            "Human": "user", "USER": "user", "human": "user", "model": "assistant",
            "GPT": "assistant", "ChatGPT": "assistant", "System": "system",
            "observation": "tool", "function_response": "tool", "critic": "critic",
        ]
        for (given, name) in names {
            for line in [
                #"{"messages":[{"role":"\#(given)","content":"x"}]}"#,
                #"{"conversations":[{"from":"\#(given)","value":"x"}]}"#,
                #"{"conversations":[{"role":"\#(given)","content":"x"}]}"#,
                #"{"messages":[{"from":"\#(given)","value":"x"}]}"#,
            ] {
                let found = try row(line)
                #expect(
                    found == .conversation([ChatTurn(role: name, content: "x")]), "\(line)")
                let remarks = try encoder(Self.plain).drafts(found)[0].remarks
                #expect(remarks.contains(.unknownRole) == (name == "critic"), "\(line)")
            }
        }
        // A template that names a speaker knows it; a developer is the system of one that does not.
        let turns = [
            ChatTurn(role: "critic", content: "x"), ChatTurn(role: "developer", content: "y"),
        ]
        let knowing = Self.plain + "{% if 'critic' == 'developer' %}{% endif %}"
        #expect(try encoder(knowing).drafts(.conversation(turns))[0].remarks.isEmpty)
        #expect(
            try encoder(knowing).marked(.conversation(turns))
                == ["<|critic|>x<stop><|developer|>y<stop>"])
        #expect(
            try encoder(Self.plain).marked(.conversation([turns[1]])) == ["<|system|>y<stop>"])
    }

    @Test(
        "a label that is true or false beside a pair is refused, one that is a number is remarked on"
    )
    func labels() throws {
        for label in ["true", "false", #""False""#] {
            for pair in [
                #""messages":[{"role":"assistant","content":"a"}]"#,
                #""instruction":"q","output":"a""#, #""prompt":"q","completion":"a""#,
                #""prompt":[{"role":"user","content":"q"}],"completion":[{"role":"assistant","content":"a"}]"#,
            ] {
                #expect(throws: LineProblem.booleanLabel) {
                    try row("{\(pair),\"label\":\(label)}")
                }
            }
        }
        _ = try row(#"{"text":"a","label":true}"#)
        var fields = try #require(RowFields("prompt=question,completion=label"))
        fields.comparesAnswers = false
        let named = Array(#"{"question":"q","label":"true"}"#.utf8)
        let read = try named.withUnsafeBytes { try PairRow(line: $0, fields: fields) }
        #expect(read == .pair(prompt: "q", completion: "true"))
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/d.jsonl"
            try AtomicFile.write(
                #"{"prompt":"q","completion":"a","label":1}"# + "\n"
                    + #"{"prompt":"q","completion":"b","label":"good"}"# + "\n", to: path)
            let file = try PairFile(path: path)
            #expect(file.remarks.map { $0.contains(.numericLabel) } == [true, false])
            let bad = directory + "/e.jsonl"
            try AtomicFile.write(#"{"prompt":"q","completion":"a","label":false}"#, to: bad)
            let error = TrainingError.badLine(path: bad, line: 1, problem: .booleanLabel)
            #expect(throws: error) { try PairFile(path: bad) }
            #expect(error.explanation.remedy.contains("label is true"))
        }
    }

    // MARK: - Nulls and emptiness

    @Test("fields that are null in calls and tools are remarked on; a message's content is not")
    func nulls() throws {
        func remarks(_ lines: String...) throws -> [Bool] {
            try TestPaths.withTemporaryDirectory { directory in
                let path = directory + "/d.jsonl"
                try AtomicFile.write(lines.joined(separator: "\n"), to: path)
                return try PairFile(path: path).remarks.map { $0.contains(.explicitNull) }
            }
        }
        func call(_ arguments: String, _ content: String = "null") -> String {
            """
            {"messages":[{"role":"user","content":"q"},{"role":"assistant","content":\(content),\
            "tool_calls":[{"function":{"name":"f","arguments":\(arguments)}}]}],"other":null}
            """
        }
        #expect(
            try remarks(
                call("{\"a\":null}"), call("{\"a\":1}"), call("{\"a\":[null]}"),
                call("{\"content\":null}"))
                == [true, false, false, true])
        #expect(
            try remarks(#"{"prompt":"q","completion":"a","tools":[{"x":{"y":null}}]}"#) == [true])
    }

    @Test("an empty answer is its end of turn, in pairs and in conversations, and is remarked on")
    func empty() throws {
        let turns = [
            ("q", "user"), ("", "assistant"), ("r", "user"), (" \n", "assistant"),
        ].map { ChatTurn(role: $0.1, content: $0.0) }
        let trimming = Self.plain.replacingOccurrences(of: "m.content", with: "(m.content|trim)")
        #expect(
            try encoder(trimming).marked(.conversation(turns))
                == ["<|user|>q<stop><|assistant|>«<stop>»<|user|>r<stop><|assistant|>«<stop>»"])
        let pair = PairRow.pair(prompt: "q", completion: "")
        #expect(try encoder(trimming).marked(pair) == ["<|user|>q<stop><|assistant|>«<stop>»"])
        #expect(pair.remarks.contains(.emptyAnswer))
        #expect(PairRow.conversation(turns).remarks.contains(.emptyAnswer))
        #expect(
            PairRow.preference(chosen: .pair(prompt: "q", completion: "a"), rejected: pair)
                .remarks.contains(.emptyAnswer))
        // Where the prompt for an answer is another one, the end alone is learned; where no end is
        // written, nothing is, and the row is skipped.
        let other = Self.plain.replacingOccurrences(
            of: "'<|assistant|>' }}{% endif", with: "'<|assistant|><think>' }}{% endif")
        #expect(try encoder(other).marked(pair) == ["<|user|>q<stop><|assistant|>«<stop>»"])
        let endless = Self.plain.replacingOccurrences(
            of: "+ '<stop>'", with: "+ ('<stop>' if m.content else '')")
        let skipped = try encoder(endless).drafts(pair)[0]
        #expect(skipped.targets.isEmpty && skipped.remarks.contains(.lostTurn))
        // A turn of calls alone is not empty.
        var call = ChatTurn(role: "assistant", content: "")
        call.message.set("tool_calls", .list([.object([])]))
        #expect(!PairRow.conversation([call]).remarks.contains(.emptyAnswer))
    }
}
