import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows

/// How rows may be written: ends, numbers, names of speakers, labels, nulls.
@Suite struct RowSpellingTests: RendersRows {
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
            let error = RowError.badLine(path: bad, line: 1, problem: .booleanLabel)
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
