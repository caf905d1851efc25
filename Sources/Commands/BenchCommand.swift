import Basics

/// `skein bench`: how fast kernels and training steps are, each beside its physical limit.
struct BenchCommand: Command {
    enum Subject: String, Sendable, CaseIterable {
        case kernels
        case step
    }

    struct Options: Sendable, Equatable {
        var subject: Subject
        /// Given when the subject is `step`.
        var model: String?
        /// Tokens of the micro-batch that is measured.
        var tokens: Int
        var threads: Int?
        var json: Bool
    }

    static let model = Option.optional(
        "model", .path(), "step: the base model to train, a GGUF file or a Hugging Face folder")

    static let table = ArgumentTable(
        command: "bench",
        summary: "measures kernels or a training step, each beside its physical limit",
        positional: Positional(
            "WHAT", count: .one, choices: Subject.allCases.map(\.rawValue),
            "kernels: each kernel alone; step: a whole training step of a model"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    model.description, DataFlags.microBatchTokens.description,
                    SharedFlags.threads.description, SharedFlags.json.description,
                ])
        ],
        example: "skein bench step --model SmolLM2-135M-Instruct.Q4_1.gguf --threads 2")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        guard let subject = arguments.positionals.first.flatMap({ Subject(rawValue: $0) }) else {
            throw UsageError.missingPositional("WHAT", command: Self.table.command)
        }
        options = Options(
            subject: subject, model: arguments[Self.model],
            tokens: arguments[DataFlags.microBatchTokens],
            threads: arguments[SharedFlags.threads], json: arguments[SharedFlags.json])
        if subject == .step, options.model == nil {
            throw UsageError.missingOption(
                "model", placeholder: "PATH", command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        throw CommandError.notWired(command: Self.table.command)
    }
}
