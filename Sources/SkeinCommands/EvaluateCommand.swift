import Foundation
import Skein
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinText
import SkeinTraining

/// `skein evaluate`: loss, perplexity and token accuracy over the rows of a file.
struct EvaluateCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        var adapter: String?
        /// The adapter may be of another base model.
        var anyBase: Bool
        var data: String
        /// Shows base and adapter side by side.
        var compare: Bool
        /// Exits with status 65 unless the adapter is better than the base.
        var requireImprovement: Bool
        /// Where to write the gradient of every LoRA matrix.
        var gradients: String?
        var promptFormat: PromptFormat
        var trainOn: TrainedTurns
        var chat: ChatTemplateSettings
        var fields: RowFields
        /// Tokens of the rows into which long texts are cut; nil: they are not.
        var chunkLength: Int?
        /// How answers are compared; nil: the loss is that of each row.
        var preference: PreferenceLoss?
        var maximumLength: Int
        var microBatchTokens: Int
        var skipBadLines: Bool
        var threads: Int?
        /// Precision of multiplying by the frozen weights.
        var compute: ComputeType
        var weights: ResidenceChoice
        var json: Bool
    }

    private static let recipe = RecipeOptions.table
    static let data = Option.required(
        "data", .path("FILE"), "rows to evaluate: a data file, or several with commas between them")
    static let compare = Option.flag("compare", "show the base model next to the adapter")
    static let requireImprovement = Option.flag(
        "require-improvement",
        "exit with status 65 unless the adapter's loss is below the base model's")
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
                    SharedFlags.anyBase.description,
                    data.description, compare.description, requireImprovement.description,
                    gradients.description, SharedFlags.json.description,
                ]),
            OptionGroup(
                title: "data",
                options: [
                    recipe.field.description,
                    recipe.loss.description, recipe.beta.description,
                    recipe.simpoGamma.description,
                    recipe.promptFormat.description, recipe.trainOn.description,
                    recipe.maxLength.description, recipe.textChunks.description,
                    recipe.microBatchTokens.description,
                    InputOptions.table.skipBadLines.description,
                ]),
            ChatFlags.group,
            OptionGroup(
                title: SharedFlags.machine.title,
                options: [
                    SharedFlags.threads.description, recipe.compute.description,
                    SharedFlags.weights.description, SharedFlags.logFormat.description,
                ]),
        ],
        example:
            "skein evaluate --model model.gguf --adapter run/adapter --data valid.jsonl --compare",
        first: [
            "model", "adapter", "any-base", "data", "compare", "require-improvement", "json",
            "field", "loss", "prompt-format", "train-on", "max-length", "skip-bad-lines",
            "chat-template", "threads",
        ]
    )

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        if [.eos, .raw].contains(arguments[Self.recipe.promptFormat]),
            let other = arguments.givenChatOption
        {
            throw UsageError.excludes(
                option: "prompt-format", other: other, command: Self.table.command)
        }
        var loss = TrainingConfiguration()
        loss.loss = arguments[Self.recipe.loss]
        loss.beta = arguments[Self.recipe.beta]
        loss.simpoGamma = arguments[Self.recipe.simpoGamma]
        loss.field = arguments[Self.recipe.field]
        loss.maxLength = arguments[Self.recipe.maxLength]
        loss.textChunks = arguments[Self.recipe.textChunks]
        try loss.checkLoss()
        options = Options(
            model: arguments[SharedFlags.model], adapter: arguments[SharedFlags.adapter],
            anyBase: arguments[SharedFlags.anyBase],
            data: arguments[Self.data], compare: arguments[Self.compare],
            requireImprovement: arguments[Self.requireImprovement],
            gradients: arguments[Self.gradients],
            promptFormat: arguments[Self.recipe.promptFormat],
            trainOn: arguments[Self.recipe.trainOn],
            chat: arguments.chat,
            fields: loss.rowFields, chunkLength: loss.chunkLength,
            preference: loss.preferenceLoss,
            maximumLength: arguments[Self.recipe.maxLength],
            microBatchTokens: arguments[Self.recipe.microBatchTokens],
            skipBadLines: arguments[InputOptions.table.skipBadLines],
            threads: arguments[SharedFlags.threads], compute: arguments[Self.recipe.compute],
            weights: arguments[SharedFlags.weights],
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
        ComputeAdvice.warnOfSoftware(options.compute, io.log)
        let adapted = try AdaptedModel(
            model: ModelDirectory.open(options.model), adapter: options.adapter,
            anyBase: options.anyBase,
            threads: options.threads, weights: options.weights)
        let encoder = try RowEncoder(
            encoder: TextEncoder(model: adapted.model, template: options.chat),
            format: options.promptFormat,
            trainedTurns: options.trainOn, maximumLength: options.maximumLength,
            comparesAnswers: options.preference != nil, chunkLength: options.chunkLength)
        for warning in try adapted.warnings(options.chat, usesTemplate: encoder.format == .chat) {
            io.log.warning(warning)
        }
        if options.preference?.kind == .dpo,
            adapted.loaded?.configuration.origin?.recipe?["reference"]
                == PreferenceReference.initial.rawValue
        {
            io.log.warning(
                "the adapter \(options.adapter ?? "") was trained against the adapter that its run began "
                    + "from (--reference init); here its answers are compared with the base model's, so "
                    + "the loss is not that of the run")
        }
        let files = try DataFiles.evaluated(options.data)
        var rows = try encoder.encode(
            files: files, fields: options.fields,
            skippingBadLines: options.skipBadLines
        ).rows
        if let loaded = adapted.loaded {
            for warning in try TrainedRows.warnings(
                of: files, adapter: loaded, model: adapted.model)
            {
                io.log.warning(warning)
            }
        }
        let engine = try adapted.engine(
            positions: rows.reduce(1) { max($0, $1.ids.count) }, compute: options.compute,
            preference: options.preference)
        let threads = DecoderThreads(threadCount: adapted.threads)
        try RowEvaluation.addReferences(
            to: &rows, engine: engine, microBatchTokens: options.microBatchTokens,
            threads: threads)
        if let path = options.gradients, let adapter = adapted.adapter {
            try writeGradients(of: rows, engine, adapter, threads, to: path)
            io.log.info("gradients of \(Figures.count(rows.count, "row")): \(path)")
        }
        // JSON always includes the base; a table only on request.
        let needsBase =
            options.compare || options.requireImprovement || options.json
            || adapted.adapter == nil
        let base = try needsBase ? judge(rows, engine, nil, threads) : nil
        let result = try adapted.adapter.map { try judge(rows, engine, $0.values, threads) }
        try (base ?? result)?.checkWeights(of: adapted.model)
        try show(base: base, adapter: result, io)
        if options.requireImprovement, let base = base?.loss, let adapter = result?.loss,
            // A NaN loss is not an improvement either.
            !(adapter < base)
        {
            throw CommandError.noImprovement(base: base, adapter: adapter)
        }
    }

    private func judge(
        _ rows: [TokenizedRow], _ engine: MicroBatchEngine, _ parameters: [Float]?,
        _ threads: DecoderThreads
    ) throws -> RowEvaluation {
        try RowEvaluation.run(
            rows, engine: engine, parameters: parameters,
            microBatchTokens: options.microBatchTokens, threads: threads)
    }

    /// Writes the gradient of the mean loss over all rows for every LoRA matrix, without dropout.
    private func writeGradients(
        of rows: [TokenizedRow], _ engine: MicroBatchEngine, _ adapter: AdapterParameters,
        _ threads: DecoderThreads, to path: String
    ) throws {
        let sum = try RowEvaluation.gradient(
            rows, engine: engine, parameters: adapter.values,
            microBatchTokens: options.microBatchTokens, threads: threads)
        var mean = sum.gradient
        GradientNorm.divide(&mean, by: sum.lossTokens)
        try SafetensorsWriter.write(
            adapter.shape.layout.tensors(mean),
            metadata: ["format": "pt", "compute": options.compute.rawValue], to: path)
    }

    private func show(base: RowEvaluation?, adapter: RowEvaluation?, _ io: CommandIO) throws {
        let columns = [("base", base), ("adapter", adapter)].compactMap { name, result in
            result.map { (name, $0) }
        }
        if options.json {
            return try io.print(
                json: columns.map { ($0.0, .fields($0.1.fields)) }
                    + [(Self.recipe.compute.description.name, .text(options.compute.rawValue))])
        }
        let names = columns.map(\.0)
        // Figures of another precision are not to be taken for those of fp32.
        let compute = options.compute == .fp32 ? "" : options.compute.rawValue
        try io.print(Self.line(compute, names))
        for (index, field) in RowEvaluation.fieldNames.enumerated() {
            try io.print(Self.line(field, columns.map { $0.1.cells[index] }))
        }
    }

    private static func line(_ label: String, _ cells: [String]) -> String {
        let padded = label.padding(toLength: 16, withPad: " ", startingAt: 0)
        return cells.reduce(padded) { line, cell in
            line + String(repeating: " ", count: max(1, 12 - cell.count)) + cell
        }
    }
}

extension RowEvaluation {
    static let fieldNames = ["loss", "perplexity", "token_accuracy", "loss_tokens", "rows"]

    /// The fields of `evaluate --json`; loss and ratios are null if there are no loss tokens.
    var fields: [(String, JSONValue)] {
        let values: [JSONValue] = [
            loss.map { .decimal($0) } ?? .null, perplexity.map { .decimal($0) } ?? .null,
            tokenAccuracy.map { .decimal($0) } ?? .null, .integer(lossTokens), .integer(rows),
        ]
        return Array(zip(Self.fieldNames, values))
    }

    /// The same for people.
    fileprivate var cells: [String] {
        let ratios = [loss, perplexity, tokenAccuracy]
        return ratios.map { $0.map { String(format: "%.4f", $0) } ?? "null" }
            + ["\(lossTokens)", "\(rows)"]
    }
}
