import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTraining

/// `skein data`: shows what a run would train on, and what of it would silently hurt.
struct DataCommand: Command {
    struct Options: Sendable {
        var data: [String]
        var model: String
        var show: Int
        var check: Bool
        var configuration: TrainingConfiguration
        var json: Bool
        /// Whether a step is timed.
        var times: Bool
    }

    static let show = Option(
        "show", .integer(0...1_000_000), default: "3", "rows to show as they will be trained")
    static let check = Option.flag(
        "check", "exit with status 65 if something in the data would silently hurt")

    static let noTime = Option.flag(
        "no-time",
        "do not load the model and time a step of the run; nor does --check")

    /// The options of a run that decide what its rows are.
    private static let recipe = RecipeOptions.table
    private static let inputs = InputOptions.table
    private static let reading = [
        inputs.validData.description, inputs.skipBadLines.description,
        recipe.field.description, recipe.maxLength.description,
        recipe.validationSplit.description, recipe.splitBy.description, recipe.seed.description,
        recipe.splitSeed.description,
        recipe.textChunks.description,
        recipe.promptFormat.description, recipe.trainOn.description, recipe.loss.description,
    ]

    static let table = ArgumentTable(
        command: "data",
        summary: "shows the rows that a run would train on, and what would silently hurt",
        positional: Positional(
            "FILE", count: .oneOrMore, isPath: true,
            "what --data of `skein train` takes: a file (.jsonl, .json, .csv, .tsv, .parquet, .txt), "
                + "with a weight after a colon or without, or a folder"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, show.description, check.description,
                    noTime.description, SharedFlags.json.description,
                ]),
            OptionGroup(title: "data", options: reading),
            ChatFlags.group,
        ],
        example: "skein data rows.parquet --model model.gguf --field prompt=question --check")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        var configuration = TrainingConfiguration()
        for option in Self.reading + ChatFlags.options {
            guard let text = arguments.text(of: option) else { continue }
            try configuration.set(option.name, to: text)
        }
        if [.eos, .raw].contains(configuration.promptFormat),
            let other = arguments.givenChatOption
        {
            throw UsageError.excludes(
                option: "prompt-format", other: other, command: Self.table.command)
        }
        options = Options(
            data: arguments.positionals, model: arguments[SharedFlags.model],
            show: arguments[Self.show], check: arguments[Self.check],
            configuration: configuration, json: arguments[SharedFlags.json],
            times: !arguments[Self.noTime] && !arguments[Self.check])
    }

    func run(_ io: CommandIO) throws {
        let configuration = options.configuration
        let files = try DataFiles(paths: options.data, validation: configuration.validData)
        let model = try ModelDirectory.open(options.model)
        let text = try TextEncoder(model: model, template: configuration.chat)
        let study = try DataStudy(
            files,
            encoder: RowEncoder(
                encoder: text, format: configuration.promptFormat,
                trainedTurns: configuration.trainOn, maximumLength: configuration.maxLength,
                comparesAnswers: configuration.preferenceLoss != nil,
                chunkLength: configuration.chunkLength),
            fields: configuration.rowFields, skippingBadLines: configuration.skipBadLines,
            validationShare: configuration.validationSplit,
            splitUnit: configuration.splitBy ?? .row, seed: configuration.addressedSplitSeed)
        let (advice, cancelled) = try advice(model, io)
        let page = DataPage(study: study, files: files, advice: advice, decode: text.decode)
        if options.json {
            try io.print(json: page.fields(rows: options.show))
        } else {
            for line in page.lines(rows: options.show) {
                try io.print(line.rendered(colours: io.coloursOutput))
            }
        }
        if let cancelled { throw cancelled }
        if options.check, let first = page.findings.first {
            throw CommandError.dataHurts(
                path: options.data.joined(separator: ", "), findings: page.findings.count,
                first: first.text)
        }
    }

    /// A run as `skein train` would begin it with the same options, and what it would take.
    ///
    /// - Returns: with the cancellation, if a step was being timed then: the rows are shown all the same.
    private func advice(
        _ model: ModelDirectory, _ io: CommandIO
    ) throws -> (DataAdvice, CancellationError?) {
        var advice = try DataAdvice {
            try TrainingJob(
                configuration: options.configuration, model: { model },
                dataPath: options.data.joined(separator: ","), version: Version.text,
                automatic: MeasuredOption.automatic)
        }
        guard options.times, let forecast = advice.forecast else { return (advice, nil) }
        io.log.info("timing a step on this machine (--no-time leaves it out)")
        do {
            advice.seconds = try forecast.seconds(shouldStop: { io.interrupt.isSet })
        } catch let error as CancellationError {
            return (advice, error)
        }
        return (advice, nil)
    }
}
