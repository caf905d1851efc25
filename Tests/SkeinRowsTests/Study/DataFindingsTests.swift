import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinRows
@testable import SkeinRowsTestSupport

/// What `data --check` says of rows that would train other text than people expect, and of those that only
/// look so.
@Suite struct DataFindingsTests: RendersRows {
    /// The findings of a file.
    private func findings(
        _ text: String, _ encoder: RowEncoder, name: String = "d.jsonl", test: String? = nil,
        paragraphs: Bool = false
    ) throws -> [String] {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/" + name
            try AtomicFile.write(text, to: path)
            if let test { try AtomicFile.write(test, to: directory + "/t.jsonl") }
            var fields = RowFields()
            fields.readsParagraphs = paragraphs
            return try DataStudy(
                DataFiles(path: path, test: test.map { _ in directory + "/t.jsonl" }),
                encoder: encoder, fields: fields, skippingBadLines: false, validationShare: 0,
                seed: 0
            ).findings.map(\.text)
        }
    }

    private func toy(_ length: Int) throws -> RowEncoder {
        try RowEncoder(
            encoder: ToyTokenizer.encoder(), format: .chat, trainedTurns: .all,
            maximumLength: length)
    }

    @Test("answers beyond --max-length are lost, though the last one that is left has its end")
    func laterAnswers() throws {
        let long = String(repeating: "x", count: 60)
        let row = """
            {"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},\
            {"role":"user","content":"\(long)"},{"role":"assistant","content":"the answer"}]}

            """
        #expect(try findings(row, toy(200)) == [])
        #expect(
            try findings(row, toy(40)) == [
                "1 row longer than --max-length 40: what the model should learn beyond it is cut off"
            ])
    }

    @Test("white space that a template marks after the end of a turn is no missing end")
    func marked() throws {
        let template = """
            {% for m in messages %}{{ '<|' + m.role + '|>' }}{% if m.role == 'assistant' %}\
            {% generation %}{{ m.content + 'END' }}{% endgeneration %}\
            {% else %}{{ m.content }}{% endif %}{% endfor %}\
            {% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
            """
        let row = #"{"prompt":"q","completion":"a"}"# + "\n"
        for (end, isGood) in [
            ("<stop>", true), ("<stop>\\n", true), ("<stop>\\n\\n ", true), ("<stop>.", false),
            ("", false),
        ] {
            let found = try findings(row, encoder(template.replacing("END", with: end)))
            #expect(
                found.contains { $0.contains("without an end-of-turn") } == !isGood,
                "\(end): \(found)")
        }
    }

    @Test("a piece of a long text needs no end: its last one has it")
    func pieces() throws {
        let toy = ToyTokenizer.encoder()
        let text = TextEncoder(
            encode: toy.encode, encodeWhole: toy.encode, decode: toy.decode, renderChat: nil,
            endID: 1, endOfTurnIDs: [1])
        let encoder = try RowEncoder(
            encoder: text, format: .eos, trainedTurns: .all, maximumLength: 20, chunkLength: 20)
        let long = String(repeating: "abcdefg hi ", count: 20) + "\n\nshort\n"
        let found = try findings(long, encoder, name: "d.txt", paragraphs: true)
        #expect(!found.contains { $0.contains("end") }, "\(found)")
    }

    @Test("test rows that are trained on are found, too")
    func test() throws {
        let rows = ["p", "q", "r"].map { "{\"prompt\":\"\($0)\",\"completion\":\"c\"}\n" }
        #expect(try findings(rows[0] + rows[1], toy(99), test: rows[2]) == [])
        #expect(
            try findings(rows[0] + rows[1], toy(99), test: rows[1] + rows[2])
                == ["1 of 2 test rows is trained on, too; the test will look too good"])
    }

    @Test("a text beside a question and an answer is learned with the question: a finding")
    func textAlone() throws {
        func remarks(_ line: String, _ fields: RowFields = RowFields()) throws -> RowRemarks {
            let bytes = Array(line.utf8)
            return try bytes.withUnsafeBytes { try ReadRow($0, fields).remarks }
        }
        let alpaca = #"{"instruction":"i","input":"","output":"o","text":"all of it"}"#
        let shared = #"{"conversations":[{"from":"human","value":"q"}],"text":"all of it"}"#
        for line in [alpaca, shared] { #expect(try remarks(line).contains(.textAlone)) }
        for line in [
            #"{"text":"a"}"#, #"{"text":"a","instruction":"i"}"#, #"{"text":"a","output":"o"}"#,
            #"{"text":"a","conversations":[]}"#, #"{"text":"a","instruction":"","output":""}"#,
            #"{"text":"a","instruction":null,"output":"o"}"#,
        ] {
            #expect(try !remarks(line).contains(.textAlone), "\(line)")
        }
        for fields in ["text=text", "instruction=instruction"] {
            let named = try #require(RowFields(fields))
            #expect(try !remarks(alpaca, named).contains(.textAlone))
        }
    }

    @Test("OpenAI's older calls are refused by name, for no template reads them")
    func olderCalls() throws {
        let call = """
            {"messages":[{"role":"user","content":"q"},{"role":"assistant","content":CONTENT,\
            "function_call":{"name":"f","arguments":"{}"}}]}
            """
        for content in ["null", "\"\""] {
            let error = LineProblem.olderCall(field: "messages[1].function_call")
            #expect(throws: error) { try row(call.replacing("CONTENT", with: content)) }
            #expect(error.remedy.contains("tool_calls"))
        }
        let plain =
            #""messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]"#
        #expect(throws: LineProblem.olderCall(field: "functions")) {
            try row("{\(plain),\"functions\":[{\"name\":\"f\",\"parameters\":{}}]}")
        }
        // The key may be anything else.
        for other in [
            "null", "[]", "[1]", "\"f\"", "[{\"title\":\"f\"}]",
            "[{\"name\":\"f\",\"code\":\"def\"}]",
        ] {
            _ = try row("{\(plain),\"functions\":\(other)}")
        }
        for none in ["null", "{}", "\"\"", "[]", "false"] {
            let empty = plain.replacing(
                "\"content\":\"a\"", with: "\"content\":\"a\",\"function_call\":\(none)")
            _ = try row("{\(empty)}")
        }
    }

    @Test("an answer under another key is named in the remedy")
    func otherKey() {
        let error = LineProblem.missing(
            field: "completion", part: "completion", others: ["response"])
        #expect(throws: error) { try row(#"{"prompt":"q","response":"a"}"#) }
        #expect(error.remedy.contains("--field completion=KEY; the row has \"response\""))
        // A key that was named wrongly: what to write is the part, not the key.
        let named = LineProblem.missing(
            field: "foo", part: "prompt", others: ["prompt", "completion"])
        #expect(named.remedy.contains("--field prompt=KEY; the row has \"prompt\", "))
    }
}
