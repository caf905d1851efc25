import Foundation
import Skein
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// `skein export`: an adapter as another tool takes it.
struct ExportCommand: Command {
    struct Options: Sendable {
        var adapter: String
        var format: any AdapterFormat
        var output: String
        /// nil: that of the run that made the adapter.
        var model: String?
        var prefix: AdapterTensorName.Blocks?
        var anyBase: Bool
        var verifies: Bool
        var threads: Int?
        var json: Bool
    }

    static let adapter = Option.required(
        "adapter", .path(),
        "adapter to export: a run's folder, a PEFT or MLX folder, a GGUF file, or "
            + "ORG/NAME[@revision][:file.gguf] of the Hub")
    static let format = Option.required(
        "format", .choice(of: AdapterFormats.standard.all) { $0.id },
        "whose format: PEFT's and vLLM's, mlx-lm's, or llama.cpp's")
    static let output = Option.required(
        "output", .path(), "folder to write, or file for gguf; it may not exist yet")
    static let model = Option.optional(
        "model", .path(),
        "base model of the adapter, a path or ORG/NAME[@revision][:file.gguf] of the Hub; default: "
            + "that of its run")
    static let keyPrefix = Option.optional(
        "key-prefix", ValueFormat<KeyPrefix>.choice,
        "beginning of names of weights, for models with vision that other files spell otherwise; "
            + "default: as in the base model")
    static let noVerify = Option.flag(
        "no-verify", "do not reload the result and compare logits")

    static let table = ArgumentTable(
        command: "export",
        summary: "writes an adapter as PEFT, mlx-lm or llama.cpp take it",
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    adapter.description, format.description, output.description,
                    model.description, SharedFlags.anyBase.description, keyPrefix.description,
                    noVerify.description, SharedFlags.json.description,
                ]),
            OptionGroup(
                title: SharedFlags.machine.title,
                options: [
                    SharedFlags.threads.description, SharedFlags.logFormat.description,
                ]),
        ],
        example: "skein export --adapter run/adapter --format gguf --output adapter.gguf")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            adapter: arguments[Self.adapter], format: arguments[Self.format],
            output: FilePath.trimmed(arguments[Self.output]), model: arguments[Self.model],
            prefix: arguments[Self.keyPrefix]?.blocks,
            anyBase: arguments[SharedFlags.anyBase], verifies: !arguments[Self.noVerify],
            threads: arguments[SharedFlags.threads], json: arguments[SharedFlags.json])
        if options.prefix != nil, !options.format.isFolder {
            throw UsageError.excludes(
                option: "format", other: "key-prefix", command: Self.table.command)
        }
    }

    func checkOutput() throws { try refuseExisting() }

    func run(_ io: CommandIO) throws {
        try refuseExisting()
        // Before the model, which is looked for beside it.
        _ = try AdapterFormats.standard.format(at: options.adapter)
        let adapted = try AdaptedModel(
            model: ModelDirectory.open(try modelPath()), adapter: options.adapter,
            anyBase: options.anyBase, threads: options.threads, weights: .auto)
        guard let loaded = adapted.loaded else { return }
        loaded.otherBaseName(than: adapted.model).map { io.log.warning($0) }
        var source = loaded.configuration
        if source.baseModelName.isEmpty {
            let base = BaseModelName(path: adapted.model.path)
            (source.baseModelName, source.revision) = (base.name, base.revision)
        }
        try checkPrefix(adapted.model)
        let export = try AdapterExport(loaded.parameters, source: source, model: adapted.model)
        io.interrupt.listen()
        // What is not finished, or not right, never has the name that was asked for.
        let difference = try Unfinished.make(
            options.output, isFolder: options.format.isFolder
        ) { unfinished in
            try export.write(options.format, to: unfinished, blocks: options.prefix)
            try writeNotes(to: unfinished, loaded.format, io)
            try checkInterrupt(io)
            let difference = options.verifies ? try verify(unfinished, adapted, io) : nil
            try checkInterrupt(io)
            if difference == nil { try adapted.checkBase() }
            try refuseExisting()
            return difference
        }
        try say(difference, io)
    }

    /// Takes the card and the creator's metadata along.
    private func writeNotes(
        to path: String, _ format: any AdapterFormat, _ io: CommandIO
    ) throws {
        guard options.format.isFolder else {
            let names = AdapterNotes.names(in: options.adapter)
            guard !names.isEmpty else { return }
            return io.log.info(
                "a \(options.format.name) file has no place for "
                    + "\(names.joined(separator: " and ")) of \(options.adapter)")
        }
        let notes = AdapterNotes(of: options.adapter) { io.log.warning($0) }
        guard !notes.names.isEmpty else { return }
        try notes.write(
            to: path, options.format, from: AdapterNotes.Weights(of: options.adapter, format),
            to: AdapterNotes.Weights(of: path, options.format))
    }

    private func checkInterrupt(_ io: CommandIO) throws {
        if io.interrupt.isSet { throw CommandError.nothingWritten(output: options.output) }
    }

    /// Other names of weights are for families that have models with vision: PEFT and mlx-lm find none of
    /// them in another model.
    private func checkPrefix(_ model: ModelDirectory) throws {
        guard let prefix = options.prefix, prefix != .text else { return }
        guard try model.mayHaveVision() else {
            throw CommandError.badInput(.noOtherPrefix, place: model.path)
        }
    }

    /// Reads the result and compares logits.
    private func verify(
        _ path: String, _ adapted: AdaptedModel, _ io: CommandIO
    ) throws -> Float {
        let reread = try LoadedAdapter.read(
            path, for: adapted.model, matching: ModulePatterns.matching)
        guard let original = adapted.adapter else { return 0 }
        let difference = try AdapterComparison.largestDifference(
            adapted, team: ComputeTeam(threadCount: adapted.threads),
            (original, reread.parameters)
        ) { try checkInterrupt(io) }
        guard difference <= Limits.exportedLogits else {
            throw CommandError.exportDiffers(
                difference: difference, limit: Limits.exportedLogits, output: options.output)
        }
        return difference
    }

    private func refuseExisting() throws {
        guard !DiskStore().exists(options.output) else {
            throw CommandError.badInput(.outputExists, place: options.output)
        }
    }

    /// `--model`, or the model of the run whose adapter it is.
    private func modelPath() throws -> String {
        if let model = options.model { return model }
        let parent = FilePath.parent(of: options.adapter)
        for folder in [parent, FilePath.parent(of: parent)] {
            let path = FilePath.join(folder, "run.json")
            guard DiskStore().exists(path) else { continue }
            return try RunFile(path: path).model
        }
        throw UsageError.missingOption(
            "model", placeholder: "PATH", command: Self.table.command)
    }

    private func say(_ difference: Float?, _ io: CommandIO) throws {
        let digest = try RegularFile.digest(of: options.format.weights(of: options.output)).digest
        if options.json {
            return try io.print(json: [
                ("output", .text(options.output)),
                ("format", .text(options.format.id)),
                ("sha256", .text(digest.description)),
                (
                    "largest_logit_difference",
                    difference.map { .decimal(Double($0)) } ?? .null
                ),
            ])
        }
        if let difference {
            io.log.info(
                "verified: reloaded, and the logits of \(AdapterComparison.tokenCount) tokens "
                    + "differ from the original's by at most \(difference)")
        }
        try io.print("\(options.format.name) adapter: \(options.output)")
    }
}

/// How names of weights begin.
enum KeyPrefix: String, Sendable, CaseIterable {
    case text = "model"
    case multimodal = "model.language_model"
    case outer = "language_model.model"

    var blocks: AdapterTensorName.Blocks {
        switch self {
        case .text: .text
        case .multimodal: .multimodal
        case .outer: .outer
        }
    }
}
