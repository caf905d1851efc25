import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinServe
import SkeinTraining
import Testing

@testable import SkeinCommands

/// What people type who know other tools.
@Suite struct ForeignNamesTests {
    private static func options(_ command: any Command.Type, _ words: String...) throws
        -> ParsedArguments
    {
        try ArgumentParser.parse(words, by: command.table)
    }

    @Test("a name that means exactly one of our options is taken for it")
    func aliases() throws {
        let train = try TrainCommand(
            Self.options(
                TrainCommand.self, "-m", "m", "--data", "d", "--output-dir", "o", "--lr", "2e-4",
                "--iters=7", "--bs", "2", "--lora-rank", "4", "--lora_alpha", "9", "--num-layers",
                "3", "--max_seq_length", "99", "--lora-dropout=0", "--grad-checkpoint")
        ).options
        #expect(train.model == "m" && train.output == "o")
        let configuration = train.configuration
        #expect(configuration.learningRate == 2e-4 && configuration.iterations == 7)
        #expect(configuration.batchSize == 2 && configuration.rank == 4)
        #expect(configuration.alpha == 9 && configuration.layers == .last(3))
        #expect(configuration.maxLength == 99 && configuration.dropout == 0)
        #expect(configuration.gradientCheckpointing)
        #expect(!train.leftToAdapter.contains(.rank))
        let generate = try GenerateCommand(
            Self.options(
                GenerateCommand.self, "-m", "m", "-p", "hello", "-n", "3", "--temp", "0.5",
                "--top_p", "0.9", "-t", "1", "--adapter-path", "a", "-sys", "s")
        ).options
        #expect(generate.prompt == "hello" && generate.maximumTokens == 3)
        #expect(generate.sampling.temperature == 0.5 && generate.threads == 1)
        #expect(generate.adapter == "a" && generate.system == "s")
        let serve = try ServeCommand(
            Self.options(
                ServeCommand.self, "--model", "m", "--served-model-name", "n", "--max-model-len",
                "64", "-np", "2", "--cache-memory", "3"))
        #expect(serve.options.name == "n" && serve.options.context == 64)
        #expect(serve.options.parallel == 2 && serve.options.cacheBytes == 3 << 20)
    }

    private static let advised: [(any Command.Type, String, String)] = [
        (TrainCommand.self, "--gradient-accumulation-steps", "--batch-size"),
        (TrainCommand.self, "--resume_from_checkpoint", "--resume"),
        (TrainCommand.self, "--adapter-path", "--init-adapter"),
        (TrainCommand.self, "--nproc_per_node", "skein launch --local"),
        (TrainCommand.self, "--bf16", "--compute bf16"),
        (TrainCommand.self, "-v", "--log-format json"),
        (StatusCommand.self, "-v", "skein --version"),
        (GenerateCommand.self, "-ngl", "processors"),
        (GenerateCommand.self, "--repeat-penalty", "--repetition-penalty"),
        (ServeCommand.self, "--port", "--listen HOST:PORT"),
        (ServeCommand.self, "--host", "--listen HOST:PORT"),
        (TrainCommand.self, "--host", "--status HOST:PORT"),
        (WorkerCommand.self, "--port", "--coordinator HOST:PORT"),
        (ServeCommand.self, "--lora-modules", "--adapter NAME=PATH"),
        (ServeCommand.self, "--api-key", "--api-key-file"),
    ]

    @Test(
        "a name that means something near is answered with what to write",
        arguments: advised.indices)
    func advice(index: Int) throws {
        let (command, name, remedy) = Self.advised[index]
        let error = #expect(throws: UsageError.self) {
            try ArgumentParser.parse([name, "1"], by: command.table)
        }
        guard case .foreignOption(let found, _, _)? = error else {
            Issue.record("\(name): \(String(describing: error))")
            return
        }
        #expect(found == name)
        #expect(error?.explanation.remedy.contains(remedy) == true)
        #expect(error?.explanation.status == .usage)
    }

    @Test("every name has a meaning in a command, and hides no option of one")
    func table() {
        let tables = CommandLineTool.skein.commands.map { $0.table }
        for name in ForeignNames.all {
            #expect(ForeignNames.spelled(name) == name)
            #expect(tables.contains { ForeignNames.meaning(of: name, in: $0) != nil }, "\(name)")
        }
        for table in tables {
            for option in table.options {
                for name in ForeignNames.names(of: option.name, in: table) {
                    #expect(table.option(named: String(name.dropFirst(2))) == nil, "\(name)")
                }
            }
        }
    }

    @Test("what advice says to write exists")
    func written() {
        for command in CommandLineTool.skein.commands {
            for name in ForeignNames.all {
                guard case .advice(let text)? = ForeignNames.meaning(of: name, in: command.table),
                    command.table.option(named: String(name.drop { $0 == "-" })) == nil,
                    // What another command takes is told with its name.
                    !text.contains("skein ")
                else { continue }
                for word in text.split(whereSeparator: { " ,;:()`".contains($0) })
                where word.hasPrefix("--") {
                    #expect(
                        command.table.option(named: String(word.dropFirst(2))) != nil,
                        "skein \(command.table.command) \(name): \(text)")
                }
            }
        }
    }

    @Test("a configuration file's key of another tool is answered with ours")
    func configuration() {
        #expect(throws: UsageError.unknownKey("lr", path: "c", suggestion: "learning-rate")) {
            try ConfigurationFile(
                bytes: Array("{\"lr\": 1}".utf8), path: "c", table: TrainCommand.table)
        }
    }

    @Test("a prompt is an argument, an option or standard input")
    func prompts() throws {
        func prompt(_ words: String...) throws -> GenerateCommand {
            try GenerateCommand(
                ArgumentParser.parse(["--model", "m"] + words, by: GenerateCommand.table))
        }
        #expect(try prompt("What?").options.prompt == "What?")
        #expect(try prompt("--prompt", "What?").options.prompt == "What?")
        #expect(
            throws: UsageError.missingOption("prompt", placeholder: "TEXT", command: "generate")
        ) {
            try prompt()
        }
        #expect(
            throws: UsageError.excludesPositional(
                option: "prompt", placeholder: "PROMPT", command: "generate")
        ) { try prompt("a", "--prompt", "b") }
        var io = CapturedProcess().io()
        for (input, text) in [("a\nb\r\n", "a\nb"), ("a", "a"), ("a\n\n", "a\n")] {
            io.readInput = { Array(input.utf8) }
            for command in [try prompt("--prompt", "-"), try prompt("-")] {
                #expect(try command.prompt(io) == text)
            }
        }
        io.readInput = { [0x61, 0xFF] }
        let command = try prompt("-")
        #expect(throws: CommandError.badInput(.notUTF8(offset: 1), place: "standard input")) {
            try command.prompt(io)
        }
    }

    @Test("all that is missing is said at once")
    func missing() {
        let process = CapturedProcess()
        #expect(process.run("train") == 64)
        #expect(
            process.error == """
                error: --model, --data and --output are missing
                  at: skein train
                  fix: add --model PATH --data PATH --output DIR

                """)
    }
}
