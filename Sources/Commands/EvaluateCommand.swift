import Basics

/// `skein evaluate`: loss, perplexity and token accuracy over the rows of a file.
struct EvaluateCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        var adapter: String?
        var data: String
        /// Base and adapter side by side.
        var compare: Bool
        /// An adapter that is not better than the base ends with an exit status.
        var requireImprovement: Bool
        /// Where to write the gradient of every LoRA matrix.
        var gradients: String?
        var promptFormat: PromptFormatChoice
        var trainOn: TrainedTurnsChoice
        var maximumLength: Int
        var microBatchTokens: Int
        var skipBadLines: Bool
        var threads: Int?
        var weights: WeightsChoice
        var json: Bool
    }

    static let data = Option.required("data", .path("FILE"), "rows to evaluate, a .jsonl file")
    static let compare = Option.flag("compare", "show the base model beside the adapter")
    static let requireImprovement = Option.flag(
        "require-improvement", "exit with status 65 unless the adapter's loss is below the base's")
    static let gradients = Option.optional(
        "gradients", .path("FILE"),
        "write the mean gradient of every LoRA matrix over all rows, as safetensors")

    static let table = ArgumentTable(
        command: "evaluate",
        summary: "measures loss, perplexity and token accuracy of a model or adapter",
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, SharedFlags.adapter.description,
                    data.description, compare.description, requireImprovement.description,
                    gradients.description, SharedFlags.json.description,
                ]),
            OptionGroup(
                title: "data",
                options: [
                    DataFlags.promptFormat.description, DataFlags.trainOn.description,
                    DataFlags.maximumLength.description, DataFlags.microBatchTokens.description,
                    DataFlags.skipBadLines.description,
                ]),
            SharedFlags.machine,
        ],
        example:
            "skein evaluate --model model.gguf --adapter run/adapter --data valid.jsonl --compare"
    )

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            model: arguments[SharedFlags.model], adapter: arguments[SharedFlags.adapter],
            data: arguments[Self.data], compare: arguments[Self.compare],
            requireImprovement: arguments[Self.requireImprovement],
            gradients: arguments[Self.gradients],
            promptFormat: arguments[DataFlags.promptFormat],
            trainOn: arguments[DataFlags.trainOn],
            maximumLength: arguments[DataFlags.maximumLength],
            microBatchTokens: arguments[DataFlags.microBatchTokens],
            skipBadLines: arguments[DataFlags.skipBadLines],
            threads: arguments[SharedFlags.threads], weights: arguments[SharedFlags.weights],
            json: arguments[SharedFlags.json])
        guard options.adapter == nil else { return }
        let needing = [
            (options.compare, "compare"), (options.requireImprovement, "require-improvement"),
            (options.gradients != nil, "gradients"),
        ]
        for (isGiven, name) in needing where isGiven {
            throw UsageError.needs(option: name, other: "adapter", command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        throw CommandError.notWired(command: Self.table.command)
    }
}
