import SkeinBasics
import SkeinJSON
import SkeinRowsTestSupport
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows

/// Rows from files that are not lines of JSON.
@Suite struct TableFileTests {
    private func read(
        _ text: String, as name: String, _ fields: String? = nil, skippingBadLines: Bool = false
    ) throws -> PairFile {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/" + name
            try AtomicFile.write(text, to: path)
            return try PairFile(
                path: path,
                fields: try fields.map { try #require(RowFields($0)) } ?? RowFields(),
                skippingBadLines: skippingBadLines)
        }
    }

    private static let pairs = [
        PairRow.pair(prompt: "p, q", completion: "c\nd"), .pair(prompt: "é", completion: "\"x\""),
    ]

    @Test("CSV, TSV and a JSON list give the rows that lines give")
    func twins() throws {
        let csv = "prompt,completion\r\n\"p, q\",\"c\nd\"\r\né,\"\"\"x\"\"\"\r\n"
        let tsv = "completion\tid\tprompt\n\"c\nd\"\t1\tp, q\n\"\"\"x\"\"\"\t2\té\n"
        let list = #"""
            [{"prompt": "p, q", "completion": "c\nd"},
             {"prompt": "\u00e9", "completion": "\"x\""}]
            """#
        #expect(try read(csv, as: "a.csv").rows == Self.pairs)
        #expect(try read(csv, as: "a.csv").lines == [2, 4])
        #expect(try read(tsv, as: "a.tsv").rows == Self.pairs)
        #expect(try read(list, as: "a.json").rows == Self.pairs)
        #expect(try read(list, as: "a.json").lines == [1, 2])
    }

    @Test("NaN and infinity beside what is read, in every kind of file that holds JSON")
    func notFinite() throws {
        let row =
            #"{"prompt": "p, q", "completion": "c\nd", "score": NaN, "x": [Infinity, -Infinity]}"#
        for (name, text) in [("a.jsonl", row + "\n"), ("a.json", "[" + row + "]")] {
            #expect(try read(text, as: name).rows == [Self.pairs[0]], "\(name)")
        }
        let csv = #"""
            messages
            "[{""role"": ""user"", ""content"": ""a"", ""score"": NaN}]"
            """#
        guard case .conversation(let turns, _)? = try read(csv, as: "a.csv").rows.first else {
            Issue.record("it is no conversation")
            return
        }
        #expect(turns.map(\.content) == ["a"])
    }

    @Test("conversations as fastparquet writes them, as JSON text")
    func fastparquet() throws {
        let file = try PairFile(path: TestPaths.fixture("tables/json-messages.parquet"))
        #expect(
            file.rows
                == (0..<3).map { number in
                    .conversation([
                        ChatTurn(role: "user", content: "question \(number)\n"),
                        ChatTurn(role: "assistant", content: "[answer] \(number)"),
                    ])
                })
    }

    @Test("each line of a text file is a row")
    func texts() throws {
        let file = try read("one\r\n\n  two \n{three}\n", as: "a.txt")
        #expect(file.rows == [.text("one"), .text("  two "), .text("{three}")])
        #expect(file.lines == [1, 3, 4])
    }

    @Test("a column of CSV may hold a conversation as JSON")
    func conversations() throws {
        let csv = #"""
            messages,tools
            "[{""role"": ""user"", ""content"": ""a""}]",
            """#
        #expect(
            try read(csv, as: "a.csv").rows
                == [.conversation([ChatTurn(role: "user", content: "a")])])
    }

    @Test("a column of CSV that --field names may hold a conversation, too")
    func namedConversations() throws {
        let csv = "dialog\n\"[{\"\"from\"\": \"\"gpt\"\", \"\"value\"\": \"\"v\"\"}]\"\n"
        #expect(
            try read(csv, as: "a.csv", "conversations=dialog").rows
                == [.conversation([ChatTurn(role: "assistant", content: "v")])])
    }

    @Test("a prompt that looks like a list of numbers is a text")
    func brackets() throws {
        #expect(
            try read("prompt,completion\n\"[1, 2]\",[3]\n", as: "a.csv").rows
                == [.pair(prompt: "[1, 2]", completion: "[3]")])
    }

    @Test("--field says which column is what; what is named wins over other forms")
    func fields() throws {
        let csv = "question,answer,text\np,c,t\n"
        #expect(
            try read(csv, as: "a.csv", "prompt=question,completion=answer").rows
                == [.pair(prompt: "p", completion: "c")])
        #expect(try read(csv, as: "a.csv").rows == [.text("t")])
        #expect(try read(csv, as: "a.csv", "text=answer").rows == [.text("c")])
        let lines =
            #"{"q": [{"role": "user", "content": "u"}], "a": [{"role": "assistant", "content": "v"}], "t": [{}]}"#
        var user = ChatTurn(role: "user", content: "u")
        user.isTrained = false
        #expect(
            try read(lines, as: "a.jsonl", "prompt=q,completion=a,tools=t").rows
                == [
                    .conversation(
                        [user, ChatTurn(role: "assistant", content: "v")],
                        tools: .list([.object([])]))
                ])
        #expect(
            try read(
                #"{"dialog": [{"from": "gpt", "value": "v"}], "sys": "s"}"#, as: "a.jsonl",
                "conversations=dialog,system=sys"
            ).rows
                == [
                    .conversation([
                        ChatTurn(role: "system", content: "s"),
                        ChatTurn(role: "assistant", content: "v"),
                    ])
                ])
        #expect(
            try read(#"{"i": "a", "output": "b", "input": "c"}"#, as: "a.jsonl", "instruction=i")
                .rows
                == [.pair(prompt: "a\nc", completion: "b")])
    }

    @Test("a column that is not there is an error that names those that are")
    func missingColumn() throws {
        let error = try #require(throws: RowError.self) {
            try read("a,b\n1,2\n", as: "a.csv", "prompt=question")
        }
        guard case .missingColumn(_, "prompt", "question", ["a", "b"]) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(
            error.explanation.what
                == "there is no column \"question\"; the columns are \"a\", \"b\"")
        let line = try #require(throws: RowError.self) {
            try read(#"{"a": "1"}"#, as: "a.jsonl", "prompt=question")
        }
        guard case .badLine(_, 1, .missing(field: "question", "prompt", ["a"])) = line else {
            Issue.record("\(line)")
            return
        }
    }

    @Test("a row with too few cells names its line, and can be skipped; a torn quote cannot")
    func badRows() throws {
        let csv = "prompt,completion\na\nb,c\n"
        let error = try #require(throws: RowError.self) { try read(csv, as: "a.csv") }
        guard case .badLine(_, 2, .cells) = error else {
            Issue.record("\(error)")
            return
        }
        let kept = try read(csv, as: "a.csv", skippingBadLines: true)
        #expect(kept.rows == [.pair(prompt: "b", completion: "c")])
        #expect(kept.badLineCount == 1 && kept.badLines == [kept.firstBadLine?.error])
        for skipping in [false, true] {
            let torn = try #require(throws: RowError.self) {
                try read("prompt,completion\na,b\n\"a,b\n", as: "a.csv", skippingBadLines: skipping)
            }
            guard case .badTable(_, .tornQuote(line: 3)) = torn else {
                Issue.record("\(torn)")
                return
            }
            #expect(torn.explanation.status == .badData)
        }
    }

    @Test("--field takes parts and names, each once")
    func fieldTexts() throws {
        let fields = try #require(RowFields("completion=a=b,prompt=q"))
        #expect(fields.key(.prompt) == "q" && fields.key(.completion) == "a=b")
        #expect(fields.key(.text) == "text")
        #expect(fields.text == "prompt=q,completion=a=b")
        for text in [
            "", "prompt", "prompt=", "question=prompt", "prompt=a,prompt=b", "prompt=a,text=a",
            "prompt=a,",
        ] {
            #expect(RowFields(text) == nil, "\(text)")
        }
        #expect(try RowFields.joined("prompt=q", "completion=a") == "prompt=q,completion=a")
        #expect(throws: JoinProblem.repeatedName) { try RowFields.joined("prompt=q", "prompt=a") }
    }

    @Test("bad rows of a table, and rows of another form, are found again without the cache")
    func cache() throws {
        let lines = "{\"text\": \"a\"}\n{\"prompt\": \"p\", \"completion\": \"c\"}\n"
        for (text, name) in [("prompt,completion\na\nb,c\n", "a.csv"), (lines, "a.jsonl")] {
            try TestPaths.withTemporaryDirectory { directory in
                let path = directory + "/" + name
                try AtomicFile.write(text, to: path)
                var toy = ToyTokenizer.encoder()
                toy.digest = SHA256.digest(of: "toy")
                var found: [EncodedFile] = []
                for _ in 0..<2 {
                    var source = TokenSource(
                        encoder: try RowEncoder(
                            encoder: toy, format: .eos, trainedTurns: .all, maximumLength: 64),
                        skippingBadLines: true, vocabularySize: 1 << 20,
                        cache: TokenCache(directory: directory + "/tokens"), version: "1")
                    found.append(try source.file(path))
                    #expect(source.origin.warnings == [])
                }
                #expect(found[0] == found[1])
                #expect(found[1].lines.badLineCount == 1)
            }
        }
    }
}
