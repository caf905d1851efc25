import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinRows
@testable import SkeinTraining

@Suite struct ChatTemplateSettingsTests {
    private func withModel(
        templates: [String: String], hasTemplate: Bool = true,
        _ body: (ModelDirectory, String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            if !hasTemplate {
                image.metadata.removeAll { $0.key == "tokenizer.chat_template" }
            }
            for (name, source) in templates.sorted(by: { $0.key < $1.key }) {
                image.metadata.append(("tokenizer.chat_template.\(name)", .string(source)))
            }
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            try body(try ModelDirectory.open(directory + "/tiny.gguf"), directory)
        }
    }

    private func render(
        _ encoder: TextEncoder, tools: JSONValue? = nil
    ) throws -> String {
        let chat = try encoder.prepareChat([ChatMessage(role: "user", content: "he")], tools)
        let render = try #require(encoder.renderChat)
        return try render(chat, 1, false).text
    }

    private static let tools = JSONValue.list([.object([])])

    @Test("a conversation with tools has the model's template for them, which is in the digest")
    func tools() throws {
        var digests: Set<SHA256.Digest> = []
        try withModel(templates: [:]) { model, _ in
            digests.insert(try #require(try TextEncoder(model: model).digest))
        }
        try withModel(templates: ["tool_use": "T{{ tools|length }}"]) { model, _ in
            let encoder = try TextEncoder(model: model)
            #expect(try render(encoder, tools: Self.tools) == "T1")
            #expect(try render(encoder).contains("<|im_start|>user"))
            digests.insert(try #require(encoder.digest))
            // A chosen template is that of every conversation.
            let chosen = try TextEncoder(
                model: model, template: ChatTemplateSettings(template: "zephyr"))
            // It shows no tools, so they are described.
            #expect(
                try render(chosen, tools: Self.tools).hasPrefix("<|system|>\nYou can call"))
        }
        #expect(digests.count == 2)
    }

    @Test("an error of the template for tools waits for them")
    func malformed() throws {
        try withModel(templates: ["tool_use": "{% if"]) { model, _ in
            let encoder = try TextEncoder(model: model)
            _ = try render(encoder)
            #expect(throws: TemplateError.self) { try render(encoder, tools: Self.tools) }
        }
    }

    @Test("a name is a built-in template, one of the model's or a file, in this order")
    func names() throws {
        try withModel(templates: ["rag": "R", "chatml": "C"]) { model, directory in
            func text(_ name: String) throws -> String? {
                try ChatTemplateSettings(template: name).source(for: model.raw)?.text
            }
            #expect(try text("rag") == "R")
            #expect(try text("chatml") == BuiltInTemplate.source(of: "chatml"))
            try AtomicFile.write("F", to: directory + "/f.jinja")
            #expect(try text(directory + "/f.jinja") == "F")
            #expect(throws: FileError.self) { try text(directory + "/nothing") }
            // Both would be read as templates without a tag.
            let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n"
            for (bytes, kind) in [
                (Array(pointer.utf8), ForeignFile.pointer),
                ([0xFF, 0xFE, 0x7B, 0], .wideText(encoding: "UTF-16")),
            ] {
                let path = directory + "/f.jinja"
                try AtomicFile.write(bytes, to: path)
                #expect(throws: ForeignFileError(path: path, kind: kind, use: .text)) {
                    try text(path)
                }
            }
        }
    }

    @Test("the error for a misspelt name lists the names and suggests the nearest")
    func misspelt() throws {
        func explanation(_ name: String, _ model: ModelDirectory) -> Explanation? {
            let error = #expect(throws: ChatTemplateError.self) {
                try ChatTemplateSettings(template: name).source(for: model.raw)
            }
            return error?.explanation
        }
        let builtIn = "The built-in names are chatml, gemma, llama3, mistral, phi3, zephyr"
        try withModel(templates: ["rag": "R", "tool_use": "T"]) { model, _ in
            let all = builtIn + "; \(model.path) has default, rag, tool_use besides"
            #expect(
                explanation("chatmll", model)
                    == Explanation(
                        what: "\"chatmll\" is neither a file nor the name of a chat template",
                        place: "--chat-template", remedy: "did you mean chatml? " + all,
                        status: .usage))
            #expect(explanation("tool-uze", model)?.remedy == "did you mean tool_use? " + all)
            #expect(
                explanation("template.jinja", model)?.remedy
                    == "check the path, or give a name. " + all)
        }
        try withModel(templates: [:], hasTemplate: false) { model, _ in
            #expect(explanation("chatmll", model)?.remedy == "did you mean chatml? " + builtIn)
        }
    }

    @Test("arguments and a date for a model without a template are errors, unless one is chosen")
    func templateless() throws {
        let date = try #require(TemplateDate("2024-07-26"))
        let argument = JSONField(name: "a", value: .integer(1))
        try withModel(templates: ["rag": "R{{ a }}"], hasTemplate: false) { model, _ in
            func refusal(_ settings: ChatTemplateSettings) -> ChatTemplateError? {
                let encoder = Result { try TextEncoder(model: model, template: settings) }
                guard case .failure(let error) = encoder else { return nil }
                return error as? ChatTemplateError
            }
            _ = try TextEncoder(model: model)
            #expect(
                refusal(ChatTemplateSettings(arguments: [argument], date: date))
                    == .noTemplate(option: "template-argument", model: model.path))
            #expect(
                refusal(ChatTemplateSettings(date: date))
                    == .noTemplate(option: "template-date", model: model.path))
            let chosen = ChatTemplateSettings(template: "rag", arguments: [argument], date: date)
            _ = try TextEncoder(model: model, template: chosen)
        }
        let explanation = ChatTemplateError.noTemplate(option: "template-date", model: "m")
            .explanation
        #expect(explanation.place == "m" && explanation.status == .usage)
        #expect(
            explanation.remedy
                == "leave out --template-date, or choose a template with --chat-template NAME|FILE")
    }

    @Test("an argument that no template mentions is an error, with the nearest name")
    func unusedArgument() throws {
        let templates = ["rag": "{{ cited_text }}", "tool_use": "{{ only_for_tools }}"]
        try withModel(templates: templates) { model, _ in
            func refusal(_ name: String, _ template: String? = nil) -> Explanation? {
                let argument = JSONField(name: name, value: .bool(false))
                let settings = ChatTemplateSettings(template: template, arguments: [argument])
                let encoder = Result { try TextEncoder(model: model, template: settings) }
                guard case .failure(let error) = encoder else { return nil }
                return (error as? ChatTemplateError)?.explanation
            }
            #expect(refusal("only_for_tools") == nil)
            #expect(refusal("cited_text", "rag") == nil)
            let near = refusal("cited_txt", "rag")
            #expect(
                near?.what == "the chat template rag of \(model.path) has no variable cited_txt")
            #expect(near?.place == "--template-argument" && near?.status == .usage)
            #expect(near?.remedy == "did you mean cited_text?")
            #expect(
                refusal("xyzzy")?.remedy
                    == "leave it out, or choose a template that has it with --chat-template")
        }
    }

    @Test("rows that no template renders have no settings of one")
    func withoutTemplate() throws {
        let date = try #require(TemplateDate("2024-07-26"))
        let argument = JSONField(name: "a", value: .integer(1))
        for (settings, option) in [
            (ChatTemplateSettings(template: "chatml"), "chat-template"),
            (ChatTemplateSettings(arguments: [argument]), "template-argument"),
            (ChatTemplateSettings(date: date), "template-date"),
        ] {
            for format in [PromptFormat.eos, .raw] {
                #expect(
                    throws: ChatTemplateError.withoutTemplate(
                        option: option, format: format.rawValue)
                ) {
                    try settings.check(for: format)
                }
            }
            try settings.check(for: .auto)
            try settings.check(for: .chat)
        }
        try ChatTemplateSettings().check(for: .raw)
        let explanation = ChatTemplateError.withoutTemplate(option: "template-date", format: "eos")
            .explanation
        #expect(
            explanation.what
                == "--template-date is for a chat template, and --prompt-format eos has none")
    }

    @Test("a run that began with settings that nothing uses can be resumed")
    func resumed() throws {
        try withModel(templates: [:]) { model, directory in
            try AtomicFile.write(
                #"{"prompt": "he", "completion": "in"}"#, to: directory + "/rows.jsonl")
            for (name, value) in [("prompt-format", "eos"), ("template-argument", "xyzzy=1")] {
                var configuration = TrainingConfiguration.fixed
                try configuration.set("template-date", to: "2024-07-26")
                try configuration.set("validation-split", to: "0")
                try configuration.set(name, to: value)
                let request = RunRequest(
                    configuration: configuration, model: .opened(model),
                    data: directory + "/rows.jsonl", output: directory + "/run", tokenCache: nil)
                #expect(throws: ChatTemplateError.self) { try request.job(resuming: false) }
                #expect(try request.job(resuming: true).training.count == 1)
            }
        }
    }

    @Test("the variables that the conversation sets cannot be given")
    func reserved() {
        #expect(TemplateArgumentText.fields(of: "messages=1") == nil)
        #expect(TemplateArgumentText.fields(of: #"{"add_generation_prompt":false}"#) == nil)
        #expect(TemplateArgumentText.fields(of: "message=1") != nil)
    }

    @Test("arguments are joined, unless a name is repeated or a value would change")
    func joined() throws {
        func problem(_ first: String, _ second: String) -> JoinProblem? {
            do throws(JoinProblem) {
                _ = try TemplateArgumentText.joined(first, second)
                return nil
            } catch {
                return error
            }
        }
        #expect(try TemplateArgumentText.joined("a=2.0", "b=1e999") == "a=2.0,b=1e999")
        #expect(
            try TemplateArgumentText.joined("a=2.5", #"{"b":"x,y"}"#) == #"{"a":2.5,"b":"x,y"}"#)
        #expect(problem("a=1", "a=1") == .repeatedName)
        #expect(problem(#"{"a":1}"#, "b=2,a=3") == .repeatedName)
        #expect(
            try TemplateArgumentText.joined("a=1,b=2.0", #"{"c":-1e999}"#)
                == #"{"a":1,"b":2.0,"c":-1e999}"#)
        for python in [
            "a=True", "a=1,b=False", "a=None", "a=FALSE", "a=tRUE",
        ] {
            #expect(TemplateArgumentText.fields(of: python) == nil)
            // Records of older versions have them.
            #expect(TemplateArgumentText.fields(of: python, isRecorded: true) != nil)
        }
        // Some templates have a value "none", and in quotes a text is meant.
        for (text, value) in [
            ("a=none", "none"), (#"a="false""#, "false"), (#"{"a":"true"}"#, "true"),
        ] {
            #expect(
                TemplateArgumentText.fields(of: text) == [JSONField(name: "a", value: .text(value))]
            )
        }
        #expect(
            TemplateArgumentText.fields(of: "a=false,b=null,c=Trueish")
                == [
                    JSONField(name: "a", value: .bool(false)), JSONField(name: "b", value: .null),
                    JSONField(name: "c", value: .text("Trueish")),
                ])
        // As deep as a value may be, and in the object deeper than that.
        let deep = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(TemplateArgumentText.fields(of: "b=" + deep)?.first?.value.string == nil)
        #expect(problem(#"{"c":1}"#, "b=" + deep) == .notRepeatable(name: "b"))
    }
}
