import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCommands

/// What a run's record, run.json, says instead of the command line.
@Suite struct RunRecordTests {
    /// A run of a tiny model, which trains in a moment.
    private static func withRun(
        _ words: String..., body: (_ directory: String, _ sha256: String) throws -> Void
    ) throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            try TinyModel().writeGGUF(to: directory + "/tiny.gguf")
            let rows = (0..<8).map { "{\"prompt\": \"\($0)\", \"completion\": \"answer\"}\n" }
            try AtomicFile.write(rows.joined(), to: directory + "/rows.jsonl")
            let process = CapturedProcess()
            let status = CommandLineTool.skein.run(
                [
                    "train", "--model", directory + "/tiny.gguf", "--data",
                    directory + "/rows.jsonl", "--output", directory + "/run", "--rank", "3",
                    "--no-token-cache", "--threads", "1", "--iterations", "2",
                ] + words, process.io())
            #expect(status == 0, "\(process.error)")
            try body(directory, sha256(process))
        }
    }

    private static func sha256(_ process: CapturedProcess) -> String {
        String(
            process.output.split(separator: "\n").first { $0.hasPrefix("sha256: ") } ?? "none")
    }

    private static func parse(_ words: [String], by table: ArgumentTable) throws -> ParsedArguments
    {
        try ArgumentParser.parse(words, by: table)
    }

    @Test("--resume takes from run.json what is not given, and says so in one line")
    func resume() throws {
        try Self.withRun("--seed", "7", "--skip-bad-lines") {
            (directory: String, sha256: String) throws -> Void in
            let process = CapturedProcess()
            #expect(process.run("train", "--resume", "--output", directory + "/run") == 0)
            #expect(Self.sha256(process) == sha256)
            let arguments = try Self.parse(
                ["--resume", "--output", directory + "/run", "--model", directory + "/tiny.gguf"],
                by: TrainCommand.table)
            let options = try TrainCommand(arguments).options
            #expect(options.data == directory + "/rows.jsonl")
            #expect(options.configuration.rank == 3 && options.configuration.seed == 7)
            #expect(options.configuration.skipBadLines)
            // The machine's own.
            #expect(options.configuration.threads == nil)
            #expect(options.leftToAdapter == [.dora])
            let record = try #require(arguments.record)
            let words = try #require(record.sentence?.split(separator: " --"))
            let rate = JSONValue.decimal(options.configuration.learningRate).written
            #expect(words.first == "what is not given is as in \(directory)/run/run.json:")
            #expect(
                Set(words.dropFirst()) == [
                    "data \(directory)/rows.jsonl", "rank 3", "iterations 2", "seed 7",
                    "skip-bad-lines", "learning-rate \(rate)", "warmup-steps 0",
                ])
            #expect(record.sentence?.contains("\n") == false)
        }
    }

    @Test("what is given counts, and a run of other options is still refused")
    func given() throws {
        try Self.withRun { (directory: String, _: String) throws -> Void in
            let words = ["--resume", "--output", directory + "/run", "--rank", "4"]
            for table in [TrainCommand.table, CoordinatorCommand.table, LaunchCommand.table] {
                let own = table.command == "launch" ? ["--local", "1"] : []
                let arguments = try Self.parse(words + own, by: table)
                #expect(try TrainCommand(arguments).options.configuration.rank == 4)
                #expect(arguments.record?.sentence?.contains("--rank") == false)
            }
            let process = CapturedProcess()
            #expect(CommandLineTool.skein.run(["train"] + words, process.io()) == 65)
            #expect(process.error.contains("rank"))
        }
    }

    @Test("without a record, --resume needs all that a new run needs, and names the folder")
    func noRecord() throws {
        try TestPaths.withTemporaryDirectory { (directory: String) throws -> Void in
            let error = UsageError.noRun(
                output: directory, needed: ["--model PATH", "--data PATH"], command: "train")
            #expect(throws: error) {
                try Self.parse(["--resume", "--output", directory], by: TrainCommand.table)
            }
            // A sweep has no record of its own.
            let missing = UsageError.missing(["--model PATH", "--data PATH"], command: "train")
            #expect(throws: missing) {
                try Self.parse(
                    ["--resume", "--output", directory, "--sweep", "s.json"],
                    by: TrainCommand.table)
            }
        }
    }

    @Test("a recorded path that leads nowhere from here is an error that names its option")
    func moved() throws {
        try Self.withRun { (directory: String, _: String) throws -> Void in
            var run = try RunFile(path: directory + "/run/run.json")
            run.model = "elsewhere/tiny.gguf"
            try run.write(to: directory + "/run/run.json")
            let error = UsageError.recordedPath(
                option: "model", path: "elsewhere/tiny.gguf", record: directory + "/run/run.json")
            #expect(throws: error) {
                try Self.parse(
                    ["--resume", "--output", directory + "/run"], by: TrainCommand.table)
            }
            #expect(error.explanation.remedy.contains("--model"))
        }
    }

    @Test("--config takes a run's record for a new run, whose adapter has the same bytes")
    func configuration() throws {
        try Self.withRun("--seed", "7") { (directory: String, sha256: String) throws -> Void in
            let process = CapturedProcess()
            let status = process.run(
                "train", "--config", directory + "/run/run.json", "--output", directory + "/again",
                "--no-token-cache")
            #expect(status == 0, "\(process.error)")
            #expect(Self.sha256(process) == sha256)
            let other = try Self.parse(
                ["--config", directory + "/run/run.json", "--output", "o", "--seed", "9"],
                by: TrainCommand.table)
            #expect(try other.configuration.seed == 9)
            #expect(try other.configuration.rank == 3)
        }
    }

    @Test("a command that trains nothing gets model and text of a record, not its rows or its seed")
    func others() throws {
        try Self.withRun("--seed", "7", "--max-length", "77", "--compute", "bf16") {
            (directory: String, _: String) throws -> Void in
            let words = ["--config", directory + "/run/run.json"]
            let generate = try GenerateCommand(
                Self.parse(words + ["--prompt", "p"], by: GenerateCommand.table))
            #expect(generate.options.model == directory + "/tiny.gguf")
            #expect(generate.options.sampling.seed == 0)
            #expect(generate.options.compute == .fp32)
            #expect(throws: UsageError.self) { try Self.parse(words, by: EvaluateCommand.table) }
            let evaluate = try EvaluateCommand(
                Self.parse(words + ["--data", "d"], by: EvaluateCommand.table))
            #expect(evaluate.options.maximumLength == 77)
            // Its figures are those of the run's validations.
            #expect(evaluate.options.compute == .bf16)
        }
    }

    @Test("epochs that are given take the place of the recorded iterations")
    func epochsForIterations() throws {
        try Self.withRun { (directory: String, _: String) throws -> Void in
            func end(_ words: String...) throws -> [Int?] {
                let arguments = try Self.parse(
                    ["--resume", "--output", directory + "/run"] + words, by: TrainCommand.table)
                let configuration = try TrainCommand(arguments).options.configuration
                return [configuration.epochs, configuration.iterations]
            }
            #expect(try end() == [3, 2])
            #expect(try end("--iterations", "9") == [3, 9])
            #expect(try end("--epochs", "5") == [5, nil])
            // Those that it was begun with were idle then, too.
            #expect(try end("--epochs", "3") == [3, 2])
            #expect(try end("--epochs", "5", "--iterations", "9") == [5, 9])
        }
    }

    @Test("--extend takes the options of a run, its adapter, the next seed and its split")
    func extend() throws {
        try Self.withRun("--seed", "7") { (directory: String, _: String) throws -> Void in
            let run = directory + "/run"
            func options(_ words: String...) throws -> TrainCommand.Options {
                let own = ["--extend", run + "/", "--output", directory + "/second"]
                return try TrainCommand(Self.parse(own + words, by: TrainCommand.table)).options
            }
            let second = try options()
            #expect(second.data == directory + "/rows.jsonl" && !second.resume)
            let configuration = second.configuration
            #expect(configuration.initAdapter == run + "/adapter" && configuration.rank == 3)
            #expect(configuration.seed == 8 && configuration.splitSeed == 7)
            #expect(configuration.iterations == 2)
            let given = try options(
                "--epochs", "4", "--seed", "1", "--split-seed", "2", "--warmup-ratio", "0.1"
            ).configuration
            #expect(given.epochs == 4 && given.iterations == nil)
            #expect(given.seed == 1 && given.splitSeed == 2 && given.warmupSteps == 0)
            // A file holds out the same rows by itself.
            #expect(
                try options("--valid-data", directory + "/rows.jsonl").configuration.splitSeed
                    == nil
            )
            // Read back, it is the same run.
            let printed = CapturedProcess()
            #expect(
                printed.run(
                    "train", "--extend", run, "--output", directory + "/second", "--print-config")
                    == 0)
            try AtomicFile.write(printed.output, to: directory + "/second.json")
            #expect(
                try TrainCommand(
                    Self.parse(["--config", directory + "/second.json"], by: TrainCommand.table)
                ).options.configuration.digest == configuration.digest)

            var record = try RunFile(path: run + "/run.json")
            record.configuration.reference = .initial
            try record.write(to: run + "/run.json")
            let error = UsageError.referenceOfPart(record: run + "/run.json")
            #expect(throws: error) { _ = try options() }
            #expect(error.explanation.remedy.contains("--reference"))
            #expect(try options("--reference", "base").configuration.reference == .base)
        }
    }
}
