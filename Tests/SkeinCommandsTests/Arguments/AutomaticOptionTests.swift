import Foundation
import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

/// Options that are left to a run, on command lines and in files.
@Suite struct AutomaticOptionTests {
    private static func command(_ words: String...) throws -> TrainCommand {
        try TrainCommand(
            ArgumentParser.parse(
                ["--model", "m", "--data", "d", "--output", "o"] + words, by: TrainCommand.table))
    }

    @Test("an option that is not given, or auto, is left to the run; one with a number is not")
    func words() throws {
        let all = Set(MeasuredOption.allCases)
        #expect(try Self.command().options.unnamed == all)
        #expect(
            try Self.command(
                "--learning-rate", "auto", "--warmup-steps", "auto", "--epochs", "auto"
            ).options.unnamed == all)
        let given = try Self.command("--lr", "2e-4", "--epochs=5").options
        #expect(given.unnamed == all.subtracting([.learningRate, .epochs]))
        #expect(given.configuration.learningRate == 2e-4 && given.configuration.epochs == 5)
        // The last one counts.
        #expect(
            try Self.command("--epochs", "5", "--epochs", "auto").options.unnamed == all)
    }

    @Test("a typed share of a warm-up counts instead of a record's steps, and the other way round")
    func warmup() throws {
        for (json, words, expected) in [
            (#"{"warmup-steps": 3}"#, ["--warmup-ratio", "0.5"], (0.5, 0)),
            (#"{"warmup-ratio": 0.5}"#, ["--warmup-steps", "3"], (nil, 3)),
        ] as [(String, [String], (Double?, Int))] {
            try TestPaths.withTemporaryDirectory { directory in
                try AtomicFile.write(json, to: directory + "/c.json")
                let options = try TrainCommand(
                    ArgumentParser.parse(
                        [
                            "--model", "m", "--data", "d", "--output", "o", "--config",
                            directory + "/c.json",
                        ] + words, by: TrainCommand.table)
                ).options.configuration
                #expect(options.warmupRatio == expected.0 && options.warmupSteps == expected.1)
            }
        }
    }

    @Test("only an option with a rule takes auto, and the error for another text names it")
    func refused() {
        #expect(
            throws: UsageError.badValue(
                option: "rank", value: "auto", accepted: "a whole number from 1 to 1024",
                suggestion: nil)
        ) { try Self.command("--rank", "auto") }
        let error = #expect(throws: UsageError.self) { try Self.command("--epochs", "many") }
        #expect(error?.explanation.remedy.contains("or auto") == true)
    }

    @Test("--print-config says auto, and --config reads it back")
    func printed() throws {
        let process = CapturedProcess()
        #expect(
            process.run(
                "train", "--print-config", "--model", "m", "--data", "d", "--output", "o",
                "--epochs", "4") == 0)
        #expect(process.output.contains("\"learning-rate\": \"auto\""))
        #expect(process.output.contains("\"epochs\": 4"))
        let options = try ConfigurationFileTests.options(process.output)
        #expect(options.unnamed == [.learningRate, .warmupSteps])
    }

    @Test("a run with the defaults is the run that names their numbers, as its card does")
    func run() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<8).map { "{\"prompt\": \"\($0)\", \"completion\": \"answer\"}\n" }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let words = [
                "train", "--model", directory + "/tiny.gguf", "--data",
                directory + "/rows.jsonl", "--no-token-cache", "--threads", "1", "--output",
            ]
            let process = CapturedProcess()
            #expect(CommandLineTool.skein.run(words + [directory + "/a"], process.io()) == 0)
            let record = try RunFile(path: directory + "/a/run.json")
            for option in MeasuredOption.automatic {
                #expect(!record.text.contains("\"\(option.rawValue)\": \"auto\""))
            }
            // The numbers that it says give the same run, and its record a new one.
            let named = RecipeOptions.measured.flatMap { option in
                [
                    "--" + option.description.name,
                    record.configuration.recipe.text(of: option) ?? "",
                ]
            }
            let other = CapturedProcess()
            #expect(CommandLineTool.skein.run(words + [directory + "/b"] + named, other.io()) == 0)
            func line(_ text: String) -> Substring? {
                text.split(separator: "\n").first { $0.hasPrefix("sha256: ") }
            }
            #expect(line(process.output) != nil && line(process.output) == line(other.output))
            let card = try String(
                contentsOfFile: directory + "/a/adapter/README.md", encoding: .utf8)
            for option in RecipeOptions.measured {
                #expect(card.contains("--" + option.description.name + " "))
            }
        }
    }
}
