import Basics

/// `skein train`: a whole fine-tuning run in one process.
struct TrainCommand: Command {
    static let table = ArgumentTable(
        command: "train",
        summary: "fine-tunes a base model with LoRA, in this process",
        groups: TrainingFlags.groups,
        example:
            "skein train --model SmolLM2-135M-Instruct.Q4_1.gguf --data pairs.jsonl --output run")

    let options: TrainOptions

    init(_ arguments: ParsedArguments) throws {
        options = TrainOptions(arguments)
    }

    func run(_ io: CommandIO) throws {
        throw CommandError.notWired(command: Self.table.command)
    }
}
