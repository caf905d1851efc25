import Foundation
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinCommands

@Suite struct TokenizeCommandTests {
    /// Runs `skein tokenize` on a tiny model.
    private func tokenize(
        _ words: [String], input: [UInt8] = [], templateless: Bool = false
    ) throws -> (status: Int32, output: String, error: String) {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            if templateless {
                image.metadata.removeAll { $0.key == "tokenizer.chat_template" }
            }
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            let process = CapturedProcess()
            var io = process.io()
            io.readInput = { input }
            let model = directory + "/tiny.gguf"
            let status = CommandLineTool.skein.run(["tokenize", "--model", model] + words, io)
            return (status, process.output, process.error)
        }
    }

    @Test("tokenize prints the ids, and then each with its piece")
    func human() throws {
        let found = try tokenize(["the in<|im_end|>", ""])
        #expect(found.error.isEmpty)
        #expect(
            found.output == """
                ids: 119 260 35 262 2
                  119  t
                  260  he
                   35  Ġ
                  262  in
                    2  <|im_end|>
                ids:

                """)
    }

    @Test("a text, a prompt and a row with a token without an embedding end with status 65")
    func embeddings() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var tiny = TinyModel()
            tiny.extraTokens = ["<extra>"]
            let model = directory + "/tiny.gguf"
            try tiny.writeGGUF(to: model)
            let data = directory + "/rows.jsonl"
            try AtomicFile.write(
                "{\"text\":\"the\"}\n{\"text\":\"in<extra>\"}\n", to: data)
            func run(_ words: [String]) -> (status: Int32, output: String, error: String) {
                let process = CapturedProcess()
                let status = CommandLineTool.skein.run(words, process.io())
                return (status, process.output, process.error)
            }
            let rows = tiny.vocabularySize
            for (words, place) in [
                (["tokenize", "--model", model, "the", "<extra>"], "TEXT 2"),
                (["tokenize", "--model", model, "--chat", "<extra>"], "TEXT 1"),
                (["generate", "--model", model, "--raw", "--prompt", "<extra>"], "--prompt"),
                (["data", "--model", model, data, "--check"], data + ":2"),
                (["evaluate", "--model", model, "--data", data], data + ":2"),
                (
                    ["train", "--model", model, "--data", data, "--output", directory + "/run"],
                    data + ":2"
                ),
            ] {
                let found = run(words)
                #expect(found.status == 65, "\(words): \(found)")
                #expect(
                    found.error.contains(
                        "the text has the token \"<extra>\", whose id is \(rows)"),
                    "\(found.error)")
                #expect(found.error.contains(place), "\(found.error)")
            }
            let decoded = run(["tokenize", "--model", model, "--decode", "\(rows)"])
            #expect(decoded.status == 0 && decoded.output == "<extra>\n")
        }
    }

    @Test("--json prints one object for each text and recognizes special tokens")
    func json() throws {
        let found = try tokenize(["--json", "he", "<|im_start|>", "", "-"], input: Array("é".utf8))
        #expect(found.error.isEmpty)
        let he = TinyVocabulary.tokens.firstIndex(of: "he") ?? 0
        let lines = found.output.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(3) == [
                "{\"ids\":[\(he)],\"pieces\":[\"he\"]}",
                "{\"ids\":[1],\"pieces\":[\"<|im_start|>\"]}", "{\"ids\":[],\"pieces\":[]}",
            ])
        #expect(lines.count == 4)
        #expect(lines.last?.contains("\"pieces\":[\"Ã\",\"©\"]") == true)
    }

    @Test("--chat applies the template, and --json also shows the rendered text")
    func chat() throws {
        let rendered = "<|im_start|>user\nhe<|im_end|>\n<|im_start|>assistant\n"
        let list = #"[{"role": "user", "content": "he"}]"#
        let open = #"{"messages": \#(list), "add_generation_prompt": true}"#
        let found = try tokenize(["--json", "--chat", "he", open, list])
        #expect(found.error.isEmpty)
        let lines = found.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        #expect(lines[0] == lines[1])
        #expect(lines[0].hasSuffix(",\"text\":\(JSONValue.quoted(rendered))}"))
        #expect(lines[0].hasPrefix("{\"ids\":[1,"))
        let closed = JSONValue.quoted("<|im_start|>user\nhe<|im_end|>\n")
        #expect(lines[2].hasSuffix(",\"text\":\(closed)}"))
    }

    @Test("--chat takes another template, its arguments and its date, and the model's for tools")
    func chatTemplate() throws {
        func text(_ words: [String], named: [String: String] = [:]) throws -> String {
            try TestPaths.withTemporaryDirectory { directory in
                var image = TinyModel().gguf()
                for (name, source) in named {
                    image.metadata.append(("tokenizer.chat_template.\(name)", .string(source)))
                }
                try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
                let path = directory + "/t.jinja"
                try AtomicFile.write(
                    "{{ a }},{{ b }},{{ strftime_now('%Y') }},{{ messages[0].content }}", to: path)
                let process = CapturedProcess()
                let words = words.map { $0 == "FILE" ? path : $0 }
                let status = CommandLineTool.skein.run(
                    ["tokenize", "--model", directory + "/tiny.gguf", "--json", "--chat"] + words,
                    process.io())
                #expect(status == 0 && process.error.isEmpty, "\(process.error)")
                let field = process.output.split(separator: "\"text\":").last ?? ""
                return String(field.dropLast(2))
            }
        }
        #expect(try text(["--chat-template", "FILE", "he"]) == "\",,2024,he\"")
        #expect(
            try text([
                "--chat-template", "FILE", "--template-argument", "a=1", "--template-date",
                "1999-12-31", "--template-argument", #"{"b":"x, y"}"#, "he",
            ]) == "\"1,x, y,1999,he\"")
        #expect(try text(["--chat-template", "zephyr", "he"]).hasPrefix("\"<|user|>\\nhe"))
        let named = ["tool_use": "T{{ tools|length }}", "rag": "R"]
        #expect(try text(["--chat-template", "rag", "he"], named: named) == "\"R\"")
        let tools = #"{"messages": [{"role": "user", "content": "he"}], "tools": [{}, {}]}"#
        #expect(try text([tools], named: named) == "\"T2\"")
        #expect(try text([tools]) != "\"T2\"")
    }

    @Test("--decode prints the bytes of ids separated by blanks or commas, or of a JSON list")
    func decode() throws {
        let text = "the « in »\nof"
        let encoded = try tokenize(["--json", text]).output
        let ids = encoded.dropFirst("{\"ids\":".count).prefix { $0 != "]" } + "]"
        for words in [[String(ids)], ["-"]] {
            let found = try tokenize(["--decode"] + words, input: Array(ids.utf8))
            #expect(found.output == text + "\n")
            let json = try tokenize(["--decode", "--json"] + words, input: Array(ids.utf8))
            #expect(json.output == "{\"text\":\(JSONValue.quoted(text))}\n")
        }
        #expect(try tokenize(["--decode", " 1,\n2  0 "]).output.hasSuffix("<|endoftext|>\n"))
        #expect(try tokenize(["--decode", ""]).output == "\n")
    }

    @Test("the error for bytes that are not UTF-8 names their offset")
    func invalidText() throws {
        let cases: [([UInt8], Int)] = [
            ([0xFF], 0), (Array("aé".utf8) + [0xC3], 3), (Array("€".utf8) + [0xE2, 0x82, 0x41], 3),
            ([0x61, 0xED, 0xA0, 0x80], 1), ([0x61, 0x62, 0x80], 2),
        ]
        for (bytes, offset) in cases {
            #expect(UTF8Text.firstInvalidByte(in: bytes) == offset)
            let found = try tokenize(["-"], input: bytes)
            #expect(found.status == 65)
            #expect(
                found.error.hasPrefix(
                    "error: the text is not UTF-8 from byte \(offset) on\n  at: standard input\n"))
        }
        #expect(UTF8Text.firstInvalidByte(in: Array("aé€😀\0".utf8)) == nil)
    }

    static let badIDs: [(String, InputProblem)] = [
        ("320", .idOutOfRange(id: "320", vocabularySize: 320)),
        ("1 -1", .idOutOfRange(id: "-1", vocabularySize: 320)),
        (
            "99999999999999999999",
            .idOutOfRange(id: "99999999999999999999", vocabularySize: 320)
        ),
        ("1 x", .notAnID(word: "x")), ("1.5", .notAnID(word: "1.5")), ("-", .notAnID(word: "-")),
        ("+1", .notAnID(word: "+1")), ("٣", .notAnID(word: "٣")),
    ]

    @Test("a word that is not an id of the vocabulary is an error that names it", arguments: badIDs)
    func invalidIDs(text: String, problem: InputProblem) throws {
        #expect(throws: problem) { try TokenIDs.read(text, vocabularySize: 320) }
        guard text != "-" else { return }
        let found = try tokenize(["--decode", "1", text])
        #expect(found.status == 65)
        #expect(found.error.hasPrefix("error: \(problem.what)\n  at: TEXT 2\n"))
    }

    @Test("a model without a template cannot render a chat")
    func noTemplate() throws {
        let found = try tokenize(["--chat", "hi"], templateless: true)
        #expect(found.status == 65)
        #expect(found.error.hasPrefix("error: the model has no chat template\n"))
    }

    private struct Reference: Decodable {
        struct Text: Decodable {
            var text: String
            var ids: [Int]
            var decoded: String
        }
        struct Chat: Decodable {
            var text: String
            var ids: [Int]
        }
        var strings: [Text]
        var chat: [Chat]
    }

    @Test(
        "the real model gives the ids of every string and chat of the reference",
        .enabled(if: TestPaths.model != nil, "needs SKEIN_TEST_MODEL"))
    func reference() throws {
        let model = try #require(TestPaths.model)
        let data = try Data(
            contentsOf: URL(fileURLWithPath: TestPaths.fixture("reference/tokens.json")))
        let reference = try JSONDecoder().decode(Reference.self, from: data)
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let conversations = try (object?["chat"] as? [Any] ?? []).map {
            String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self)
        }
        func lines(_ words: [String]) throws -> [[String: Any]] {
            let process = CapturedProcess()
            let status = CommandLineTool.skein.run(
                ["tokenize", "--model", model, "--json"] + words, process.io())
            #expect(status == 0, "\(process.error)")
            return try process.output.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
            }
        }
        let texts = try lines(["--"] + reference.strings.map(\.text))
        #expect(texts.map { $0["ids"] as? [Int] } == reference.strings.map(\.ids))
        let decoded = try lines(
            ["--decode", "--"]
                + reference.strings.map { $0.ids.map(String.init).joined(separator: " ") })
        #expect(decoded.map { $0["text"] as? String } == reference.strings.map(\.decoded))
        let chats = try lines(["--chat", "--"] + conversations)
        #expect(chats.map { $0["ids"] as? [Int] } == reference.chat.map(\.ids))
        #expect(chats.map { $0["text"] as? String } == reference.chat.map(\.text))
    }
}
