import SkeinBasics
import SkeinModels
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinTraining

@Suite struct ChatTemplateSettingsTests {
    private func withModel(
        templates: [String: String], _ body: (ModelDirectory, String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { directory in
            var image = TinyModel().gguf()
            for (name, source) in templates.sorted(by: { $0.key < $1.key }) {
                image.metadata.append(("tokenizer.chat_template.\(name)", .string(source)))
            }
            try AtomicFile.write(image.bytes(), to: directory + "/tiny.gguf")
            try body(try ModelDirectory.open(directory + "/tiny.gguf"), directory)
        }
    }

    private let turns = [ChatTurn(role: "user", content: "he")]

    @Test("a conversation with tools has the model's template for them, which is in the digest")
    func tools() throws {
        var digests: Set<SHA256.Digest> = []
        try withModel(templates: [:]) { model, _ in
            digests.insert(try #require(try TextEncoder(model: model).digest))
        }
        try withModel(templates: ["tool_use": "T{{ tools|length }}"]) { model, _ in
            let encoder = try TextEncoder(model: model)
            let render = try #require(encoder.renderChat)
            #expect(try render(turns, .list([.null]), false).text == "T1")
            #expect(try render(turns, nil, false).text.contains("<|im_start|>user"))
            digests.insert(try #require(encoder.digest))
            // A chosen template is that of every conversation.
            let chosen = try TextEncoder(
                model: model, template: ChatTemplateSettings(template: "zephyr"))
            let chat = try #require(chosen.renderChat)
            #expect(try chat(turns, .list([.null]), false).text.hasPrefix("<|user|>"))
        }
        #expect(digests.count == 2)
    }

    @Test("an error of the template for tools waits for them")
    func malformed() throws {
        try withModel(templates: ["tool_use": "{% if"]) { model, _ in
            let render = try #require(try TextEncoder(model: model).renderChat)
            _ = try render(turns, nil, false)
            #expect(throws: TemplateError.self) { try render(turns, .list([.null]), false) }
        }
    }

    @Test("a name is a built-in template, one of the model's or a file, in this order")
    func names() throws {
        try withModel(templates: ["rag": "R", "chatml": "C"]) { model, directory in
            func text(_ name: String) throws -> String? {
                try ChatTemplateSettings(template: name).source(for: model)?.text
            }
            #expect(try text("rag") == "R")
            #expect(try text("chatml") == BuiltInTemplate.source(of: "chatml"))
            try AtomicFile.write("F", to: directory + "/f.jinja")
            #expect(try text(directory + "/f.jinja") == "F")
            #expect(throws: FileError.self) { try text("nothing") }
        }
    }
}
