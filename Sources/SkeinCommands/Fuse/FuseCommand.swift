import Foundation
import Skein
import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinModels
import SkeinTensors
import SkeinText
import SkeinTraining

/// `skein fuse`: writes a base model and an adapter as one model.
struct FuseCommand: Command {
    enum Format: String, CaseIterable, Sendable {
        case hf
        case gguf
    }

    struct Options: Sendable, Equatable {
        var model: String
        var adapter: String?
        /// Whether the adapter may have been made for another base model.
        var anyBase: Bool
        var output: String
        /// nil: by the output's name.
        var format: Format?
        /// nil: the base model's plain type.
        var type: ElementType?
        var shardBytes: Int
        /// Whether to reload what was written and compare its logits.
        var verifies: Bool
        var threads: Int?
        var json: Bool

        /// The format that is written.
        var writes: Format {
            format ?? (output.lowercased().hasSuffix(".gguf") ? .gguf : .hf)
        }
    }

    static let output = Option.required(
        "output", .path(), "the folder or file to write; nothing may be there")
    static let format = Option<Format?>.optional(
        "format", ValueFormat<Format>.choice, absent: "gguf if the output is named .gguf, else hf",
        "a Hugging Face folder or a GGUF file")
    static let type = Option<ElementType?>.optional(
        "type", .elementType, absent: "the base model's F32, F16 or BF16, or F16",
        "of the matrices: F32, F16 or BF16, and in a GGUF file also Q8_0, Q4_0, Q4_K or Q6_K")
    static let shardBytes = Option<Int>(
        "max-shard-size", .byteCount, default: "5GB", "bytes of weights in one file of a folder")
    static let noVerify = Option.flag(
        "no-verify", "do not reload what was written and compare its logits")

    static let table = ArgumentTable(
        command: "fuse",
        summary: "writes base model and adapter as one model, a folder or a GGUF file",
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    SharedFlags.model.description, SharedFlags.adapter.description,
                    SharedFlags.anyBase.description, output.description, format.description,
                    type.description,
                    shardBytes.description, noVerify.description, SharedFlags.json.description,
                ]),
            OptionGroup(
                title: "machine",
                options: [
                    SharedFlags.threads.description, SharedFlags.logFormat.description,
                ]),
        ],
        example:
            "skein fuse --model model.gguf --adapter run/adapter --output fused.gguf --type Q8_0")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        options = Options(
            model: arguments[SharedFlags.model], adapter: arguments[SharedFlags.adapter],
            anyBase: arguments[SharedFlags.anyBase],
            output: FilePath.trimmed(arguments[Self.output]), format: arguments[Self.format],
            type: arguments[Self.type], shardBytes: arguments[Self.shardBytes],
            verifies: !arguments[Self.noVerify], threads: arguments[SharedFlags.threads],
            json: arguments[SharedFlags.json])
        if options.writes == .gguf, arguments.isGiven(Self.shardBytes.description) {
            throw UsageError.excludes(
                option: "max-shard-size", other: "format gguf", command: Self.table.command)
        }
    }

    func checkOutput() throws {
        try FusePlace.check(
            options.output, against: [options.model, options.adapter].compactMap { $0 })
    }

    func run(_ io: CommandIO) throws {
        try FusePlace.check(
            options.output, against: [options.model, options.adapter].compactMap { $0 })
        let adapted = try AdaptedModel(
            model: ModelDirectory.open(options.model), adapter: options.adapter,
            anyBase: options.anyBase, threads: options.threads, weights: .auto)
        try adapted.checkBase()
        adapted.loaded?.otherBaseName(than: adapted.model).map { io.log.warning($0) }
        let input = try FuseInput(model: adapted.model, adapter: adapted.adapter)
        let team = ComputeTeam(threadCount: adapted.threads)
        let began = ContinuousClock.now
        let report = try write(input, team, io)
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        let comparison =
            try options.verifies
            ? FusedComparison.of(adapted, fused: options.output, team: team) {
                if io.interrupt.isSet { throw FuseError.notCompared(path: options.output) }
            } : nil
        try show(report, comparison, seconds: seconds, io)
    }

    private func write(
        _ input: FuseInput, _ team: ComputeTeam, _ io: CommandIO
    ) throws -> FuseReport {
        let type = options.type ?? input.plainType
        let model = input.model
        switch options.writes {
        case .gguf:
            let fused = try FusedGGUF(input, type: type) {
                // As llama.cpp names a model without one.
                guard model.tokenizerSource != nil else {
                    return [("tokenizer.ggml.model", .string("no_vocab"))]
                }
                return try TokenizerAsGGUF.metadata(
                    of: model.raw, vocabularySize: model.configuration.vocabularySize)
            }
            // From here on each piece of the work asks.
            io.interrupt.listen()
            var progress = FuseProgress(
                io, elements: fused.elementCount, bytes: fused.byteCount, path: options.output)
            defer { progress.finish() }
            return try fused.write(to: options.output, team: team) { try progress.add($0) }
        case .hf:
            let fused = try FusedFolder(input, type: type) {
                guard case .gguf(let metadata)? = model.tokenizerSource else { return [] }
                return try TokenizerAsFiles.files(metadata).map { ($0.name, .bytes($0.bytes)) }
            }
            io.interrupt.listen()
            var progress = FuseProgress(
                io, elements: fused.elementCount, bytes: fused.byteCount, path: options.output)
            defer { progress.finish() }
            return try fused.write(
                to: options.output, shardBytes: options.shardBytes, team: team
            ) { try progress.add($0) }
        }
    }

    private func show(
        _ report: FuseReport, _ comparison: FusedComparison?, seconds: Double, _ io: CommandIO
    ) throws {
        guard options.json else {
            for line in FuseText.lines(report, comparison, options.output, seconds: seconds) {
                try io.print(line)
            }
            return
        }
        try io.print(json: FuseText.fields(report, comparison, options.output))
    }
}

extension ValueFormat where Value == ElementType {
    /// One of the types that are written.
    static var elementType: ValueFormat {
        let types = ElementType.written.filter { $0 != .q5x0 }
        let words = types.map(\.name)
        return ValueFormat(
            placeholder: "TYPE", accepted: Words.either(words), choices: words,
            read: { text in types.first { $0.name == text.uppercased() } },
            json: { .text($0.name) })
    }
}

extension ValueFormat where Value == Int {
    /// A number of bytes, such as `500MB`.
    static var byteCount: ValueFormat {
        // A petabyte.
        let limit = 1_000_000_000_000_000
        let units = [("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000)]
        return ValueFormat(
            placeholder: "SIZE", accepted: "a size like 500MB or 5GB",
            read: { text in
                let digits = text.prefix { $0.isASCII && $0.isNumber }
                let suffix = text.dropFirst(digits.count)
                let unit =
                    suffix.isEmpty
                    ? 1 : units.first { $0.0.lowercased() == suffix.lowercased() }?.1
                guard let count = Int(digits), let unit, (1...limit / unit).contains(count) else {
                    return nil
                }
                return count * unit
            }, json: { .integer($0) })
    }
}
