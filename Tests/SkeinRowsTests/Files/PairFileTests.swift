import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows

@Suite struct PairFileTests {
    private func read(
        _ bytes: [UInt8], skippingBadLines: Bool = false, allowingNone: Bool = false
    ) throws -> PairFile {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/data.jsonl"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return try PairFile(
                path: path, skippingBadLines: skippingBadLines, allowingNone: allowingNone)
        }
    }

    @Test("reads rows, passing over blank lines, a byte order mark and CR")
    func lines() throws {
        let text =
            "\u{FEFF}{\"prompt\":\"p\",\"completion\":\"c\",\"id\":7}\r\n\r\n  \t\n"
            + "{\"prompt\":\"q\",\"completion\":\"d\\u00e9\"}"
        let file = try read(Array(text.utf8))
        #expect(
            file.rows == [
                .pair(prompt: "p", completion: "c"), .pair(prompt: "q", completion: "dé"),
            ])
        #expect(file.lines == [1, 4])
        #expect(file.digest == SHA256.digest(of: text))
    }

    @Test(
        "reads each form",
        arguments: [
            (
                #"{"prompt":"p","completion":"c","text":"t"}"#,
                PairRow.pair(prompt: "p", completion: "c")
            ),
            (
                #"{"messages":[{"role":"oracle","content":"é"}],"tools":[],"text":"t"}"#,
                .conversation([ChatTurn(role: "oracle", content: "é")])
            ),
            (#"{"text":"t\u00e9","conversations":[]}"#, .text("té")),
            (
                #"{"conversations":[{"from":"human","value":"h"}]}"#,
                .conversation([ChatTurn(role: "user", content: "h")])
            ),
            (#"{"instruction":"i","output":"o"}"#, .pair(prompt: "i", completion: "o")),
        ])
    func forms(line: String, row: PairRow) throws {
        #expect(try read(Array(line.utf8)).rows == [row])
    }

    @Test("a row that is written otherwise than the first one is an error, or skipped")
    func mixedForms() throws {
        let text = """
            {"text": "a"}
            {"prompt": "p", "completion": "c"}
            {"text": "b"}
            """
        let error = try #require(throws: RowError.self) { try read(Array(text.utf8)) }
        guard
            case .badLine(_, 2, .otherForm(found: .pair, first: .text, line: 1)) = error
        else {
            Issue.record("\(error)")
            return
        }
        #expect(
            error.explanation.what
                == "the row has prompt and completion, and the first one, at 1, has text")
        let file = try read(Array(text.utf8), skippingBadLines: true)
        #expect(file.rows == [.text("a"), .text("b")] && file.lines == [1, 3])
        #expect(file.badLineCount == 1)
    }

    @Test("prompt and completion may be lists of messages; only the completion's are learned")
    func listsOfMessages() throws {
        let text = #"""
            {"prompt": [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}, \#
            {"role": "user", "content": "v"}], "completion": [{"role": "assistant", "content": "b"}, \#
            {"role": "assistant", "content": "c", "weight": 0}], "tools": "[{\"name\": \"f\"}]"}
            """#
        var context = ChatTurn(role: "assistant", content: "a")
        context.isTrained = false
        var unweighted = ChatTurn(role: "assistant", content: "c")
        unweighted.isTrained = false
        var first = ChatTurn(role: "user", content: "u")
        first.isTrained = false
        var second = ChatTurn(role: "user", content: "v")
        second.isTrained = false
        #expect(
            try read(Array(text.utf8)).rows == [
                .conversation(
                    [
                        first, context, second, ChatTurn(role: "assistant", content: "b"),
                        unweighted,
                    ], tools: .list([.object([.init(name: "name", value: .text("f"))])]))
            ])
    }

    @Test("reads Alpaca's rows: an input follows the instruction on a line of its own")
    func instructions() throws {
        let text = """
            {"instruction": "i", "input": "", "output": "o"}
            {"instruction": "i", "input": "j", "output": "o"}
            {"instruction": "i", "output": "o", "system": "s", "history": [["q", "a"]]}
            """
        #expect(
            try read(Array(text.utf8)).rows == [
                .pair(prompt: "i", completion: "o"), .pair(prompt: "i\nj", completion: "o"),
                .conversation([
                    ChatTurn(role: "system", content: "s"), ChatTurn(role: "user", content: "q"),
                    ChatTurn(role: "assistant", content: "a"), ChatTurn(role: "user", content: "i"),
                    ChatTurn(role: "assistant", content: "o"),
                ]),
            ])
    }

    @Test("a header with semicolons is told apart from one without a form")
    func semicolons() {
        let problem = LineProblem.unknownForm(fields: ["prompt;completion"])
        #expect(problem.remedy.hasPrefix("separate the cells by commas"))
        #expect(LineProblem.unknownForm(fields: ["a;b", "c"]).remedy == RowError.forms)
    }

    static let malformed: [(String, LineProblem)] = [
        ("[1]", .notAnObject(found: "a list")),
        ("7", .notAnObject(found: "a number")),
        ("true", .notAnObject(found: "true or false")),
        ("null", .notAnObject(found: "null")),
        ("{}", .unknownForm(fields: [])),
        ("{\"input\":\"a\",\"output\":\"b\"}", .unknownForm(fields: ["input", "output"])),
        ("{\"instruction\":\"a\"}", .missing(field: "output")),
        (
            "{\"instruction\":[],\"output\":\"b\"}",
            .wrongType(field: "instruction", expected: "a string", found: "a list")
        ),
        (
            "{\"instruction\":\"a\",\"output\":\"b\",\"input\":1}",
            .wrongType(field: "input", expected: "a string", found: "a number")
        ),
        (
            "{\"instruction\":\"a\",\"output\":\"b\",\"history\":[[\"q\"]]}",
            .wrongType(
                field: "history", expected: "a list of pairs of strings", found: "a list")
        ),
        ("{\"prompt\":[{\"role\":\"user\",\"content\":\"a\"}]}", .missing(field: "completion")),
        (
            "{\"prompt\":[{\"role\":\"user\",\"content\":\"a\"}],\"completion\":\"b\"}",
            .wrongType(
                field: "completion", expected: "a list of messages, as prompt is",
                found: "a string")
        ),
        (
            "{\"prompt\":\"a\",\"completion\":[]}",
            .wrongType(
                field: "prompt", expected: "a list of messages, as completion is",
                found: "a string")
        ),
        (
            "{\"prompt\":[{\"role\":\"user\",\"content\":\"a\"}],\"completion\":[{\"role\":1}]}",
            .wrongType(field: "completion[0].role", expected: "a string", found: "a number")
        ),
        (
            "{\"prompt\":[{\"role\":\"user\",\"content\":\"a\"}],\"completion\":[]}",
            .messageCount(found: 0, limit: Limits.turns)
        ),
        (
            "{\"tools\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
            .wrongType(field: "tools", expected: "a list", found: "a string")
        ),
        ("{\"prompt\":\"a\"}", .missing(field: "completion")),
        ("{\"completion\":\"a\"}", .missing(field: "prompt")),
        (
            "{\"prompt\":1,\"completion\":\"b\"}",
            .wrongType(field: "prompt", expected: "a string", found: "a number")
        ),
        (
            "{\"prompt\":\"a\",\"completion\":null}",
            .wrongType(field: "completion", expected: "a string", found: "null")
        ),
        ("{\"text\":[]}", .wrongType(field: "text", expected: "a string", found: "a list")),
        (
            "{\"messages\":{}}",
            .wrongType(field: "messages", expected: "a list", found: "an object")
        ),
        ("{\"messages\":[]}", .messageCount(found: 0, limit: Limits.turns)),
        (
            "{\"messages\":[\"hi\"]}",
            .wrongType(field: "messages[0]", expected: "an object", found: "a string")
        ),
        (
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"content\":\"b\"}]}",
            .missing(field: "messages[1].role")
        ),
        (
            "{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\",\"weight\":0.5}]}",
            .unsupported(field: "messages[0].weight")
        ),
        (
            "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}]}",
            .wrongType(field: "messages[0].content", expected: "a string", found: "null")
        ),
        (
            "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\"}]}]}",
            .unsupported(field: "messages[0].content[0]")
        ),
        (
            "{\"tools\":{\"a\":1},\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
            .wrongType(field: "tools", expected: "a list", found: "an object")
        ),
        (
            "{\"conversations\":[{\"from\":\"function_call\",\"value\":\"x\"}]}",
            .wrongType(
                field: "conversations[0].value", expected: "a call with a name, as JSON",
                found: "text that is not JSON")
        ),
    ]

    @Test("a malformed line is an error with its place and its problem", arguments: malformed)
    func malformedLine(line: String, problem: LineProblem) throws {
        let error = try #require(throws: RowError.self) {
            try read(Array("{\"text\":\"fine\"}\n\n\(line)\n".utf8))
        }
        guard case .badLine(let path, 3, problem) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(path.hasSuffix("/data.jsonl"))
        #expect(error.explanation.place == path + ":3")
        #expect(error.explanation.status == .badData)
    }

    @Test("the error of text that is not JSON has the parser's message")
    func notJSON() throws {
        for line in [
            "{\"text\":\"a\"", "{\"text\":\"a\"} x", "{'text':'a'}", "{\"text\":\"\\ud800\"}",
            String(repeating: "[", count: 100_000),
        ] {
            let error = try #require(throws: RowError.self) { try read(Array(line.utf8)) }
            guard case .badLine(_, 1, .notJSON(let detail)) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(!detail.isEmpty)
        }
    }

    @Test("bytes that are not UTF-8 and lines above the limit are errors that name their line")
    func bytes() throws {
        let good = Array("{\"text\":\"a\"}\n".utf8)
        let latin = Array("{\"text\":\"".utf8) + [0xE9] + Array("\"}\n".utf8)
        let encoding = try #require(throws: RowError.self) { try read(good + latin) }
        guard case .badLine(_, 2, .notUTF8) = encoding else {
            Issue.record("\(encoding)")
            return
        }
        let long = [UInt8](repeating: 0x20, count: Limits.lineBytes) + Array("{}".utf8)
        let length = try #require(throws: RowError.self) { try read(good + long) }
        guard
            case .badLine(
                _, 2, .tooLong(bytes: Limits.lineBytes + 2, limit: Limits.lineBytes)) = length
        else {
            Issue.record("\(length)")
            return
        }
    }

    @Test("--skip-bad-lines counts bad lines, keeps the first ones and continues")
    func skipping() throws {
        let text = "{\n{\"text\":\"a\"}\n" + String(repeating: "no\n", count: 7)
        let file = try read(Array(text.utf8), skippingBadLines: true)
        #expect(file.rows == [.text("a")])
        #expect(file.lines == [2])
        #expect(file.badLineCount == 8)
        #expect(file.badLines.count == Limits.keptBadLines)
    }

    @Test("data without rows is an error unless that is allowed")
    func empty() throws {
        for text in ["", "\n\n  \n", "\u{FEFF}"] {
            let error = try #require(throws: RowError.self) { try read(Array(text.utf8)) }
            guard case .noRows(_, badLines: 0) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(try read(Array(text.utf8), allowingNone: true).rows.isEmpty)
        }
        let error = try #require(throws: RowError.self) {
            try read(Array("x\ny\n".utf8), skippingBadLines: true)
        }
        guard case .noRows(_, badLines: 2) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("a missing file is an error of the file system")
    func missing() throws {
        #expect(throws: FileError.failed(operation: "open", path: "/no/such", code: ENOENT)) {
            try PairFile(path: "/no/such")
        }
    }
}

@Suite struct PreferenceRowTests {
    private func row(_ line: String, _ fields: String? = nil) throws -> PairRow {
        let fields = try fields.map { try #require(RowFields($0)) } ?? RowFields()
        return try Array(line.utf8).withUnsafeBytes { try PairRow(line: $0, fields: fields) }
    }

    @Test("texts: the prompt is that of both answers")
    func texts() throws {
        let row = try row(#"{"prompt":"p","chosen":"c","rejected":"r","id":7}"#)
        #expect(
            row
                == .preference(
                    chosen: .pair(prompt: "p", completion: "c"),
                    rejected: .pair(prompt: "p", completion: "r")))
        #expect(try self.row(#"{"q":"p","a":"c","b":"r"}"#, "prompt=q,chosen=a,rejected=b") == row)
    }

    @Test("messages: the prompt's turns are context; without a prompt the common beginning is")
    func messages() throws {
        let row = try row(
            #"{"prompt":[{"role":"user","content":"u"}],"#
                + #""chosen":[{"role":"assistant","content":"c"}],"#
                + #""rejected":[{"role":"assistant","content":"r"}]}"#)
        var user = ChatTurn(role: "user", content: "u")
        user.isTrained = false
        let expected = PairRow.preference(
            chosen: .conversation([user, ChatTurn(role: "assistant", content: "c")]),
            rejected: .conversation([user, ChatTurn(role: "assistant", content: "r")]))
        #expect(row == expected)
        let implicit = try self.row(
            #"{"chosen":[{"role":"user","content":"u"},{"role":"assistant","content":"c"}],"#
                + #""rejected":[{"role":"user","content":"u"},{"role":"assistant","content":"r"}]}"#
        )
        #expect(implicit == expected)
    }

    @Test(
        "whole conversations beside a text of their question, and a row that is something else, too"
    )
    func others() throws {
        let line =
            #"{"prompt":"u","chosen":[{"role":"user","content":"u"},{"role":"assistant","content":"c"}],"#
            + #""rejected":[{"role":"user","content":"u"},{"role":"assistant","content":"r"}],"#
            + #""messages":[{"role":"user","content":"m"}]}"#
        #expect(try row(line) == .conversation([ChatTurn(role: "user", content: "m")]))
        var fields = RowFields()
        fields.comparesAnswers = true
        let found = try Array(line.utf8).withUnsafeBytes { try PairRow(line: $0, fields: fields) }
        guard case .preference(.conversation(let turns, nil), _) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(turns.map(\.content) == ["u", "c"] && turns.map(\.isTrained) == [false, true])
    }

    static let malformed: [(String, LineProblem)] = [
        (#"{"prompt":"p","chosen":"c","rejected":"c"}"#, .equalAnswers),
        (
            #"{"chosen":[{"role":"user","content":"c"}],"#
                + #""rejected":[{"role":"user","content":"c"}]}"#, .equalAnswers
        ),
        (#"{"chosen":"c","rejected":"r"}"#, .missing(field: "prompt")),
        (
            #"{"prompt":"p","chosen":[{"role":"assistant","content":"c"}],"#
                + #""rejected":[{"role":"assistant","content":"d"}]}"#, .noCommonPrompt
        ),
        (#"{"prompt":"p","chosen":"c"}"#, .missing(field: "rejected")),
        (#"{"prompt":"p","rejected":"c"}"#, .missing(field: "chosen")),
        (
            #"{"prompt":"p","chosen":1,"rejected":"c"}"#,
            .wrongType(field: "chosen", expected: "a string", found: "a number")
        ),
        (
            #"{"prompt":"p","chosen":[{"role":"assistant","content":"c"}],"rejected":"c"}"#,
            .wrongType(
                field: "prompt", expected: "a list of messages, as chosen is", found: "a string")
        ),
    ]

    @Test("a malformed row has its problem", arguments: malformed)
    func problems(line: String, problem: LineProblem) {
        #expect(throws: problem) { try row(line) }
    }
}
