import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

@Suite("recipes by name")
struct NamedRecipeTests {
    private func configuration(_ words: String...) throws -> TrainingConfiguration {
        try TrainCommand(
            ArgumentParser.parse(
                ["--model", "m", "--data", "d", "--output", "o"] + words, by: TrainCommand.table)
        ).options.configuration
    }

    private let loss = RecipeOptions.table.loss

    @Test("each has options that are accepted, and that another option overrides")
    func options() throws {
        for recipe in NamedRecipe.allCases {
            let found = try configuration("--recipe", recipe.rawValue)
            #expect(found.validateEvery == 25 && found.rank == 16)
            for (name, text) in recipe.texts {
                let option = try #require(TrainCommand.table.option(named: name))
                #expect(option.json(text) != nil, "--\(name) \(text)")
            }
            let other = try configuration("--rank", "4", "--recipe=\(recipe.rawValue)")
            #expect(other.rank == 4 && other.validateEvery == 25)
        }
        #expect(try configuration("--recipe", "classify").bestMetric == .accuracy)
        #expect(try configuration("--recipe", "preference").recipe.text(of: loss) == "orpo")
        #expect(
            try configuration("--recipe", "preference", "--loss", "dpo").recipe.text(of: loss)
                == "dpo")
        #expect(try configuration("--recipe", "style").textChunks == true)
        #expect(throws: UsageError.self) { try configuration("--recipe", "fact") }
    }

    @Test("what a recipe would contradict is left out of it")
    func besides() throws {
        let adapter = try ArgumentParser.parse(
            ["--recipe", "facts", "--init-adapter", "a", "--print-config"], by: TrainCommand.table)
        #expect(!adapter.isGiven(RecipeOptions.table.rank.description))
        #expect(adapter.isGiven(RecipeOptions.table.validateEvery.description))
        let whole = try configuration("--recipe", "classify", "--validation-split", "0")
        #expect(whole.validateEvery == nil && whole.bestMetric == nil)
        let held = try configuration(
            "--recipe", "classify", "--validation-split", "0", "--valid-data", "v")
        #expect(held.bestMetric == .accuracy)
        let ratio = try configuration("--recipe", "facts", "--warmup-ratio", "0.1")
        #expect(ratio.warmupRatio == 0.1)
    }

    @Test("a second part has the first one's options, not a recipe's")
    func secondPart() {
        let words = ["--recipe", "facts", "--extend", "run", "--output", "o"]
        let error = UsageError.excludes(option: "extend", other: "recipe", command: "train")
        #expect(throws: error) { try ArgumentParser.parse(words, by: TrainCommand.table) }
    }

    @Test("--print-config shows the options, and reads back the same; a file may name the recipe")
    func printed() throws {
        let process = CapturedProcess()
        #expect(process.run("train", "--recipe", "style", "--print-config") == 0)
        #expect(process.output.contains(#""recipe": "style""#))
        #expect(process.output.contains(#""early-stop-patience": 3"#))
        #expect(process.output.contains(#""learning-rate": "auto""#))
        try TestPaths.withTemporaryDirectory { directory in
            for text in [process.output, #"{"recipe": "style"}"#] {
                try AtomicFile.write(text, to: directory + "/c.json")
                let read = try configuration("--config", directory + "/c.json")
                #expect(try read.digest == configuration("--recipe", "style").digest)
            }
        }
    }

    @Test("a run that goes on has its own options, whatever recipe is named")
    func resumed() throws {
        try TestPaths.withTemporaryDirectory { directory in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<10).map { "{\"prompt\": \"\($0)?\", \"completion\": \"the \($0)\"}\n" }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let process = CapturedProcess()
            let words = [
                "train", "--model", directory + "/tiny.gguf", "--data", directory + "/rows.jsonl",
                "--output", directory + "/run", "--iterations", "2", "--recipe",
            ]
            #expect(
                CommandLineTool.skein.run(words + ["facts"], process.io()) == 0, "\(process.error)")
            #expect(
                CommandLineTool.skein.run(
                    words + ["classify", "--resume"], process.io(log: process.log)) == 0,
                "\(process.error)")
            #expect(process.error.contains("--recipe classify counts for a new run alone"))
            let record = try RunFile(path: directory + "/run/run.json")
            #expect(record.configuration.bestMetric == nil)
        }
    }
}
