import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinText
import SkeinTraining
import Testing

@testable import SkeinCommands
@testable import SkeinLab

@Suite struct ArgumentParserTests {
    static let required = ["--model", "m.gguf", "--data", "d.jsonl", "--output", "run"]

    @Test("every option of a run is a flag of train")
    func complete() {
        for option in TrainingConfiguration.options.map(\.description) {
            #expect(TrainCommand.table.option(named: option.name) != nil, "\(option.name)")
        }
    }

    static func train(_ words: String...) throws -> TrainCommand.Options {
        try TrainCommand(ArgumentParser.parse(required + words, by: TrainCommand.table)).options
    }

    private static let layers = "all, N for the last N, or a range such as 8-15"

    /// Reads a list of modules by its format alone, without parser or table.
    private let modules = { try #require(RecipeOptions.table.targetModules.format.read($0)) }

    @Test("train without options has the defaults of a training configuration")
    func defaults() throws {
        let options = try Self.train()
        let expected = TrainCommand.Options(
            model: "m.gguf", data: "d.jsonl", output: "run", resume: false, usesTokenCache: true,
            configuration: TrainingConfiguration(),
            leftToAdapter: [.rank, .alpha, .targetModules, .layers, .dora],
            unnamed: Set(MeasuredOption.allCases))
        #expect(options == expected)
        #expect(
            try Self.train("--rank", "8").leftToAdapter == [.alpha, .targetModules, .layers, .dora])
    }

    @Test("values are read in every way in which they can be written")
    func values() throws {
        let given = try Self.train(
            "--rank", "16", "--alpha=32.5", "--learning-rate", "5e-4", "--shuffle", "off",
            "--target-modules", "down_proj, q_proj,q_proj", "--layers", "8-15", "--resume",
            "--seed", "9223372036854775807", "--max-grad-norm", "0", "--threads", "2",
            "--init-adapter=a=b", "--rank", "32", "--checkpoint-every", "0")
        let options = given.configuration
        #expect(options.rank == 32)
        #expect(options.alpha == 32.5)
        #expect(options.learningRate == 5e-4)
        #expect(!options.shuffle)
        #expect(try options.targetModules == modules("q_proj,down_proj"))
        #expect(options.layers == .range(8...15))
        #expect(given.resume)
        #expect(options.seed == Int.max)
        #expect(options.maxGradNorm == 0)
        #expect(options.threads == 2)
        #expect(options.initAdapter == "a=b")
        #expect(options.checkpointEvery == 0)
        let all = try Self.train("--target-modules", "all-linear").configuration
        #expect(all.targetModules.count == 7)
        #expect(try Self.train("--layers", "4").configuration.layers == .last(4))
    }

    @Test("a selection of layers is resolved against the model's layer count")
    func layers() throws {
        #expect(try LayerSelection.all.range(layerCount: 30) == 0..<30)
        #expect(try LayerSelection.range(8...15).range(layerCount: 16) == 8..<16)
        #expect(try LayerSelection.last(4).range(layerCount: 30) == 26..<30)
    }

    @Test("values and positional arguments may begin with dashes")
    func dashes() throws {
        let words = ["--model", "m", "--json", "-", "--", "--decode", "-x"]
        let tokenize = try TokenizeCommand(
            ArgumentParser.parse(words, by: TokenizeCommand.table))
        #expect(tokenize.options.texts == ["-", "--decode", "-x"])
        #expect(!tokenize.options.decode)
        let generate = try GenerateCommand(
            ArgumentParser.parse(
                [
                    "--model", "m", "--prompt", "--- a rule", "--temperature", "0.7", "--top-k",
                    "40",
                ],
                by: GenerateCommand.table))
        #expect(generate.options.prompt == "--- a rule")
        #expect(generate.options.sampling == SamplingWish(temperature: 0.7, topK: 40))
    }

    private static let integer = "a whole number from 1 to 65536"
    static let bad: [([String], UsageError)] = [
        (
            ["--batchsize", "3"],
            .unknownOption("--batchsize", command: "train", suggestion: "--batch-size")
        ),
        (
            ["--learning_rates=1"],
            .unknownOption("--learning_rates", command: "train", suggestion: "--learning-rate")
        ),
        (["-x", "x"], .unknownOption("-x", command: "train", suggestion: nil)),
        (["--rank"], .missingValue(option: "rank", accepted: "a whole number from 1 to 1024")),
        (
            ["--rank", "--alpha=3"],
            .missingValue(option: "rank", accepted: "a whole number from 1 to 1024")
        ),
        (
            ["--rank", "--", "3"],
            .missingValue(option: "rank", accepted: "a whole number from 1 to 1024")
        ),
        (["--resume=yes"], .unexpectedValue(option: "resume", value: "yes")),
        (["--batch-size", "0"], bad("batch-size", "0", integer)),
        (["--batch-size", "99999"], bad("batch-size", "99999", integer)),
        (["--batch-size", "4.5"], bad("batch-size", "4.5", integer)),
        (
            ["--batch-size", "99999999999999999999"],
            bad("batch-size", "99999999999999999999", integer)
        ),
        (["--alpha", "nan"], bad("alpha", "nan", "a number above 0, at most 65536")),
        (["--alpha", "0x10"], bad("alpha", "0x10", "a number above 0, at most 65536")),
        (["--dropout", "1"], bad("dropout", "1", "a number from 0 to 0.9999")),
        (["--dropout", "0.999995"], bad("dropout", "0.999995", "a number from 0 to 0.9999")),
        (["--dropout", "-0.1"], bad("dropout", "-0.1", "a number from 0 to 0.9999")),
        (["--layers", "5-2"], bad("layers", "5-2", layers)),
        (["--layers", "last:0"], bad("layers", "last:0", layers)),
        (["--seed", "-1"], bad("seed", "-1", "a whole number from 0 to 9223372036854775807")),
        (["--valid-data", ""], bad("valid-data", "", "a path")),
        (
            ["--schedule", "cosin"],
            bad(
                "schedule", "cosin",
                "constant, linear, cosine, cosine-with-restarts or polynomial",
                suggestion: "cosine")
        ),
        (
            ["--target-modules", "q_proj,x_proj"],
            bad(
                "target-modules", "q_proj,x_proj",
                "all-linear, or with commas between them any of q_proj, k_proj, v_proj, o_proj, "
                    + "gate_proj, up_proj, down_proj, qkv_proj, gate_up_proj, embed_tokens or lm_head"
            )
        ),
        (
            ["--template-argument", "a=1,b=2", "--template-argument", "b=3"],
            .repeatedName(option: "template-argument", value: "b=3")
        ),
        (
            [
                "--template-argument",
                "a=" + String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
                "--template-argument", #"{"b":3}"#,
            ],
            .notRepeatable(name: "a", option: "template-argument")
        ),
        (["d.jsonl"], .unexpectedPositional("d.jsonl", command: "train")),
    ]

    private static func bad(
        _ option: String, _ value: String, _ accepted: String, suggestion: String? = nil
    ) -> UsageError {
        .badValue(option: option, value: value, accepted: accepted, suggestion: suggestion)
    }

    @Test("each wrong command line has its own error", arguments: bad.indices)
    func errors(index: Int) {
        let (words, error) = Self.bad[index]
        #expect(throws: error) {
            try ArgumentParser.parse(Self.required + words, by: TrainCommand.table)
        }
        #expect(error.explanation.status == .usage)
        #expect(!error.explanation.what.isEmpty && !error.explanation.remedy.isEmpty)
    }

    @Test("template arguments may be given together, one by one, or as JSON")
    func templateArguments() throws {
        func arguments(_ texts: String...) throws -> [JSONField] {
            let words = texts.flatMap { ["--template-argument", $0] }
            let options = try TrainCommand(
                ArgumentParser.parse(Self.required + words, by: TrainCommand.table)
            ).options
            return options.configuration.chat.arguments
        }
        let both: [JSONField] = [
            .init(name: "a", value: .integer(1)), .init(name: "b", value: .text("x")),
        ]
        #expect(try arguments("a=1,b=x") == both)
        #expect(try arguments("a=1", "b=x") == both)
        #expect(try arguments(#"{"a": 1}"#, "b=x") == both)
        #expect(try arguments("a=1", #"{"b": "x"}"#) == both)
        let file = try ConfigurationFile(
            bytes: Array(#"{"template-argument": ["a=1", "b=x"]}"#.utf8), path: "c",
            table: TrainCommand.table)
        #expect(file.texts["template-argument"] == "a=1,b=x")
    }

    @Test("missing and unexpected arguments are errors")
    func presence() {
        #expect(throws: UsageError.missingOption("data", placeholder: "PATH", command: "train")) {
            try ArgumentParser.parse(["--model", "m", "--output", "o"], by: TrainCommand.table)
        }
        #expect(throws: UsageError.missingPositional("TEXT", command: "tokenize")) {
            try ArgumentParser.parse(["--model", "m"], by: TokenizeCommand.table)
        }
        #expect(throws: UsageError.unexpectedPositional("b", command: "inspect")) {
            try ArgumentParser.parse(["a", "b"], by: InspectCommand.table)
        }
        #expect(
            throws: UsageError.badPositional(
                "network", command: "bench",
                accepted:
                    "kernels, step, generate, wire, recovery, chaos, cluster, demo, tokenize or grammar",
                suggestion: nil)
        ) {
            try ArgumentParser.parse(["network"], by: BenchCommand.table)
        }
    }

    @Test("a switch stands alone, or before on or off")
    func switches() throws {
        let table = TrainCommand.table
        let usual = ["--model", "m", "--data", "d", "--output", "o"]
        let option = MachineOptions.table.validateAtStart
        for (words, value) in [
            ([], nil), (["--validate-at-start"], true), (["--validate-at-start", "on"], true),
            (["--validate-at-start", "off"], false), (["--validate-at-start=off"], false),
            (["--validate-at-start", "--rank", "4"], true),
        ] as [([String], Bool?)] {
            #expect(try ArgumentParser.parse(usual + words, by: table)[option] == value)
            #expect(try ArgumentParser.parse(words + usual, by: table)[option] == value)
        }
        #expect(throws: UsageError.unexpectedPositional("maybe", command: "train")) {
            try ArgumentParser.parse(usual + ["--validate-at-start", "maybe"], by: table)
        }
        #expect(
            throws: UsageError.badValue(
                option: "validate-at-start", value: "maybe", accepted: "on or off",
                suggestion: nil)
        ) { try ArgumentParser.parse(usual + ["--validate-at-start=maybe"], by: table) }
    }

    @Test("options that need or exclude others are checked")
    func combinations() {
        let table = EvaluateCommand.table
        for name in ["compare", "require-improvement", "gradients"] {
            let words = ["--model", "m", "--data", "d", "--\(name)"]
            #expect(throws: UsageError.needs(option: name, other: "adapter", command: "evaluate")) {
                let value = name == "gradients" ? ["g.safetensors"] : []
                _ = try EvaluateCommand(ArgumentParser.parse(words + value, by: table))
            }
        }
        #expect(throws: UsageError.excludes(option: "raw", other: "system", command: "generate")) {
            let words = ["--model", "m", "--prompt", "p", "--raw", "--system", "s"]
            _ = try GenerateCommand(ArgumentParser.parse(words, by: GenerateCommand.table))
        }
        #expect(
            throws: UsageError.excludes(
                option: "raw", other: "chat-template", command: "generate")
        ) {
            let words = ["--model", "m", "--prompt", "p", "--raw", "--chat-template", "chatml"]
            _ = try GenerateCommand(ArgumentParser.parse(words, by: GenerateCommand.table))
        }
        #expect(
            throws: UsageError.needs(option: "template-date", other: "chat", command: "tokenize")
        ) {
            let words = ["--model", "m", "--template-date", "2024-01-01", "t"]
            _ = try TokenizeCommand(ArgumentParser.parse(words, by: TokenizeCommand.table))
        }
        #expect(throws: UsageError.excludes(option: "chat", other: "decode", command: "tokenize")) {
            let words = ["--model", "m", "--chat", "--decode", "1"]
            _ = try TokenizeCommand(ArgumentParser.parse(words, by: TokenizeCommand.table))
        }
        #expect(throws: UsageError.missingOption("model", placeholder: "PATH", command: "bench")) {
            _ = try BenchCommand(ArgumentParser.parse(["step"], by: BenchCommand.table))
        }
    }
}
