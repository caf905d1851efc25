import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinCommands

/// How commands explain a chat template that they cannot use.
@Suite struct ChatTemplateCommandTests {
    /// Runs `skein COMMAND --model MODEL` on a tiny model; ROWS and STRICT are paths of `rows`
    /// and of a template that refuses "of" and does not end "th".
    private func run(
        _ words: [String], rows: String = "", hasTemplate: Bool = true
    ) throws -> (status: Int32, output: String, error: String) {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            if !hasTemplate {
                image.metadata.removeAll { $0.key == "tokenizer.chat_template" }
            }
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            try AtomicFile.write(rows, to: directory + "/rows.jsonl")
            try AtomicFile.write(
                """
                {% for m in messages %}
                {% if m.content == 'of' %}{{ raise_exception('not that word') }}{% endif %}
                {{ '<|im_start|>' + m.role + '\\n' + m.content
                    + ('!' if m.content == 'th' else '<|im_end|>') }}
                {% endfor %}
                """, to: directory + "/strict.jinja")
            let process = CapturedProcess()
            let files = ["ROWS": "rows.jsonl", "STRICT": "strict.jinja"]
            var words = words.map { word in files[word].map { directory + "/" + $0 } ?? word }
            if words.first == "train" { words += ["--output", directory + "/run"] }
            words += ["--model", directory + "/tiny.gguf", "--threads", "1"]
            let status = CommandLineTool.skein.run(words, process.io())
            func plain(_ text: String) -> String {
                text.replacing(directory + "/", with: "")
            }
            return (status, plain(process.output), plain(process.error))
        }
    }

    @Test("a misspelt name is not a file that cannot be opened")
    func misspelt() throws {
        let found = try run(["generate", "--prompt", "he", "--chat-template", "chatmll"])
        #expect(found.status == 64)
        #expect(
            found.error == """
                error: "chatmll" is neither a file nor the name of a chat template
                  at: --chat-template
                  fix: did you mean chatml? The built-in names are chatml, gemma, llama3, mistral, \
                phi3, zephyr; tiny.gguf has default besides

                """)
    }

    @Test("what only a template sees is refused for rows without one")
    func withoutTemplate() throws {
        let found = try run(
            ["train", "--data", "ROWS", "--prompt-format", "eos", "--template-date", "2024-07-26"])
        #expect(found.status == 64)
        #expect(
            found.error == """
                error: --template-date is for a chat template, and --prompt-format eos has none
                  at: --template-date
                  fix: leave out one of the two

                """)
    }

    @Test("what only a template sees is refused for a model without one")
    func ignored() throws {
        let rows = "{\"prompt\": \"he\", \"completion\": \"in\"}\n"
        for (option, value) in [("template-argument", "a=1"), ("template-date", "2024-07-26")] {
            let commands = [
                ["generate", "--prompt", "he", "--max-tokens", "1"],
                ["evaluate", "--data", "ROWS"], ["train", "--data", "ROWS", "--iterations", "1"],
            ]
            for command in commands {
                let words = command + ["--\(option)", value]
                let refused = try run(words, rows: rows, hasTemplate: false)
                #expect(refused.status == 64, "\(words)")
                #expect(
                    refused.error.hasSuffix(
                        """
                        error: --\(option) is for a chat template, and the model has none
                          at: tiny.gguf
                          fix: leave out --\(option), or choose a template with --chat-template \
                        NAME|FILE

                        """), "\(words): \(refused.error)")
            }
            let words = ["generate", "--prompt", "he", "--max-tokens", "1", "--\(option)", value]
            #expect(try run(words).status == 0)
            let chosen = try run(words + ["--chat-template", "chatml"], hasTemplate: false)
            #expect(chosen.status == 0, "\(chosen.error)")
        }
    }

    @Test(
        "a row that the template refuses is named by file and line",
        arguments: ["evaluate", "train"])
    func refusedRow(command: String) throws {
        func row(_ answer: String) -> String {
            """
            {"messages": [{"role": "user", "content": "he"}, \
            {"role": "assistant", "content": "\(answer)"}]}

            """
        }
        func error(_ rows: String) throws -> String {
            let found = try run(
                [command, "--data", "ROWS", "--chat-template", "STRICT"], rows: rows)
            #expect(found.status == 65)
            return found.error
        }
        let refused = try error(row("in") + "\n" + row("of") + row("of"))
        #expect(
            refused.contains(
                """
                error: the chat template refuses this conversation: not that word
                  at: rows.jsonl:3, in the chat template strict.jinja, line 2
                  fix: change

                """.dropLast()), "\(refused)")
        let endless = try error(row("in") + row("th"))
        #expect(endless.contains("error: after an assistant's content"), "\(endless)")
        #expect(endless.contains("\n  at: rows.jsonl:2\n"), "\(endless)")
    }
}
