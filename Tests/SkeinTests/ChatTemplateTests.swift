import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import Skein

/// The chat template's settings in the parts of the library that use a model.
@Suite struct ChatTemplateTests {
    private func withModel(_ body: (Model, String) async throws -> Void) async throws {
        try await TestPaths.inTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            // It has 20 characters at least, so that a short context would be noticed.
            try AtomicFile.write(
                "{{ a }}{{ strftime_now('%Y') }}{{ messages[0].content }}",
                to: directory + "/t.jinja")
            try await body(Model(at: directory + "/tiny.gguf"), directory)
        }
    }

    @Test("a prompt has the template, the arguments and the date of its options")
    func prompt() async throws {
        try await withModel { model, directory in
            let generator = try await TextGenerator(model: model, machine: Machine(threads: 1))
            var raw = TextGenerator.Options()
            raw.maximumTokens = 8
            raw.temperature = 2
            raw.isRaw = true
            var chat = raw
            chat.isRaw = false
            let plain = try await generator.answer(to: "the in", options: chat)
            chat.chatTemplate = directory + "/t.jinja"
            chat.templateArgument = "a=of"
            chat.templateDate = "1999-12-31"
            // The template writes the prompt that the raw one is: all three arrive.
            let answer = try await generator.answer(to: "the in", options: chat)
            #expect(answer == (try await generator.answer(to: "of1999the in", options: raw)))
            chat.templateDate = nil
            let today = try await generator.answer(to: "the in", options: chat)
            #expect(today == (try await generator.answer(to: "of2024the in", options: raw)))
            #expect(Set([plain, answer, today]).count == 3)
        }
    }

    @Test("settings that are not allowed are errors with their names")
    func refused() async throws {
        try await withModel { model, _ in
            let generator = try await TextGenerator(model: model, machine: Machine(threads: 1))
            let refused: [(String, (inout TextGenerator.Options) -> Void)] = [
                ("`chatTemplate`", { $0.chatTemplate = "chatmll" }),
                ("templateArgument", { $0.templateArgument = "a" }),
                ("templateDate", { $0.templateDate = "2024-02-30" }),
                (
                    "raw",
                    {
                        $0.isRaw = true
                        $0.chatTemplate = "chatml"
                    }
                ),
            ]
            for (name, change) in refused {
                var options = TextGenerator.Options()
                change(&options)
                let chosen = options
                let error = await #expect(throws: SkeinError.self) {
                    try await generator.answer(to: "he", options: chosen)
                }
                #expect(error?.code == .usage, "\(name)")
                #expect(error?.description.contains(name) == true, "\(name)")
            }
        }
    }

    @Test("an evaluation has the template of its recipe, and its error names the row")
    func evaluation() async throws {
        try await withModel { model, directory in
            let rows = directory + "/rows.jsonl"
            let turn = #"{"role": "assistant", "content": "in"}"#
            try AtomicFile.write(#"{"messages": [\#(turn)]}"#, to: rows)
            func measure(_ recipe: Recipe) async throws -> Evaluation {
                try await Evaluation.measure(
                    model, data: rows, recipe: recipe, machine: Machine(threads: 1))
            }
            var recipe = Recipe(.fixed)
            let plain = try await measure(recipe)
            recipe.chatTemplate = "zephyr"
            #expect(try await measure(recipe).loss != plain.loss)
            recipe.chatTemplate = "gemma"
            let error = await #expect(throws: SkeinError.self) { try await measure(recipe) }
            #expect(error?.place.hasPrefix(rows + ":1, in ") == true)
        }
    }
}
