import Foundation
import SkeinBasics
import SkeinBench
import SkeinLaunch
import SkeinModels
import SkeinNodes
import SkeinTensors
import SkeinTraining

/// `skein bench`: how fast kernels, training steps, generation, the wire and recovery are, each beside
/// its limit.
struct BenchCommand: Command {
    enum Subject: String, Sendable, CaseIterable {
        case kernels
        case step
        case generate
        case wire
        case recovery
        case tokenize
    }

    struct Options: Sendable, Equatable {
        var subject: Subject
        /// Given when the subject is `step`, `generate`, `recovery` or `tokenize`.
        var model: String?
        /// Given when the subject is `recovery`.
        var data: String?
        /// Tokens of the micro-batch that is measured.
        var tokens: Int
        var promptTokens: Int
        var answerTokens: Int
        var threads: Int?
        var steps: Int
        var workers: Int
        var rank: Int
        var compute: ComputeType
        var codec: GradientCodec
        /// Numbers of a wire benchmark's gradient; nil: of SmolLM2-135M's adapter of this rank.
        var parameters: Int?
        /// Megabytes that a worker of a wire benchmark reads in a second at most.
        var lineRate: Int?
        /// Where a wire benchmark listens whose workers this process is to be.
        var dial: Endpoint?
        var kills: Int
        var seed: UInt64
        var json: Bool
    }

    static let threads = Option.optional(
        "threads", .integer(1...1024), absent: "all cores",
        "step, generate: threads that compute at once; each kernel is measured on one")
    static let model = Option.optional(
        "model", .path(),
        "step, generate, recovery, tokenize: the base model, a GGUF file or a Hugging Face folder")
    static let promptTokens = Option(
        "prompt-tokens", .integer(1...1_048_576), default: "512", "generate: tokens of the prompt")
    static let answerTokens = Option(
        "tokens", .integer(1...1_048_576), default: "128", "generate: tokens of the answer")
    static let data = Option.optional(
        "data", .path(), absent: "of tokenize: the pages of --help",
        "recovery, tokenize: rows as skein train takes them")
    static let steps = Option.optional(
        "steps", .integer(1...1_000_000), absent: "5 of step, 20 of wire, 40 of recovery",
        "step: steps that are measured; wire, recovery: steps of a run")
    static let workers = Option(
        "workers", .integer(1...1024), default: "64",
        "wire: workers that send gradients and do not compute")
    static let parameters = Option.optional(
        "parameters", .integer(1...1_000_000_000), absent: "of SmolLM2-135M with --rank",
        "wire: numbers in a gradient")
    static let lineRate = Option.optional(
        "line-rate", .integer(1...100_000), absent: "as fast as loopback",
        "wire: megabytes that each worker reads in a second at most, as on a slow line")
    static let dial = Option.optional(
        "dial", .endpoint, absent: "both sides",
        "wire: be only the workers of a benchmark that listens there; it starts them so itself")
    static let kills = Option(
        "kills", .integer(1...10_000), default: "50",
        "recovery: SIGKILLs of workers; half as many SIGSTOPs come with them")
    static let seed = Option(
        "seed", .seed, default: "0", "recovery: of the moments and of who is hit")

    static let table = ArgumentTable(
        command: "bench",
        summary: "measures kernels, steps, answers, the wire and more, beside limits",
        positional: Positional(
            "WHAT", count: .one, choices: Subject.allCases.map(\.rawValue),
            "kernels: each kernel alone; step: a whole training step of a model; generate: a prompt "
                + "and an answer of a model; wire: a coordinator and many workers that do not "
                + "compute; recovery: a cluster whose workers are killed and stopped; tokenize: a "
                + "model's tokenizer"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    model.description, data.description, DataFlags.microBatchTokens.description,
                    promptTokens.description, answerTokens.description,
                    threads.description, steps.description, workers.description,
                    TrainingFlags.rank.description, TrainingFlags.compute.description,
                    TrainingFlags.gradientCodec.description,
                    parameters.description, lineRate.description,
                    dial.description, kills.description, seed.description,
                    SharedFlags.json.description,
                ])
        ],
        example: "skein bench step --model SmolLM2-135M-Instruct.Q4_1.gguf --threads 2")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        guard let subject = arguments.positionals.first.flatMap({ Subject(rawValue: $0) }) else {
            throw UsageError.missingPositional("WHAT", command: Self.table.command)
        }
        options = Options(
            subject: subject, model: arguments[Self.model], data: arguments[Self.data],
            tokens: arguments[DataFlags.microBatchTokens],
            promptTokens: arguments[Self.promptTokens],
            answerTokens: arguments[Self.answerTokens], threads: arguments[Self.threads],
            steps: arguments[Self.steps] ?? Self.defaultSteps(of: subject),
            workers: arguments[Self.workers], rank: arguments[TrainingFlags.rank],
            compute: arguments[TrainingFlags.compute],
            codec: arguments[TrainingFlags.gradientCodec],
            parameters: arguments[Self.parameters], lineRate: arguments[Self.lineRate],
            dial: arguments[Self.dial],
            kills: arguments[Self.kills], seed: arguments[Self.seed],
            json: arguments[SharedFlags.json])
        let needed: [(name: String, isMissing: Bool)] = [
            (
                "model",
                [.step, .generate, .recovery, .tokenize].contains(subject) && options.model == nil
            ),
            ("data", subject == .recovery && options.data == nil),
        ]
        if let missing = needed.first(where: \.isMissing) {
            throw UsageError.missingOption(
                missing.name, placeholder: "PATH", command: Self.table.command)
        }
    }

    private static func defaultSteps(of subject: Subject) -> Int {
        switch subject {
        case .step: 5
        case .wire: 20
        default: 40
        }
    }

    func run(_ io: CommandIO) throws {
        if options.subject == .wire, let address = options.dial {
            return try load.run(at: address.text)
        }
        do {
            let report = try report(io)
            if options.json {
                try io.print(json: report.fields)
            } else {
                try io.write(report.text)
            }
            if let failure = report.failure { throw failure }
        } catch let error as BenchError {
            for line in error.lastLines { io.writeError(line + "\n") }
            throw error
        }
    }

    private func report(_ io: CommandIO) throws -> BenchReport {
        let model = options.model ?? ""
        switch options.subject {
        case .kernels: return try KernelBench.report(tokens: options.tokens)
        case .step:
            return try StepBench.report(
                modelPath: model, microBatchTokens: options.tokens, steps: options.steps,
                compute: options.compute, threads: options.threads, log: io.log)
        case .generate:
            return try GenerateBench.report(
                modelPath: model, promptTokens: options.promptTokens, tokens: options.answerTokens,
                threads: options.threads, compute: options.compute)
        case .wire:
            return try WireMeasurement(
                load, program: program(io), steps: options.steps, log: io.log
            ).report()
        case .recovery:
            return try inDirectory("skein-recovery", io) { directory in
                try RecoveryBench(
                    RecoveryBench.Plan(
                        program: program(io), model: model, data: options.data ?? "",
                        directory: directory, kills: options.kills, steps: options.steps,
                        seed: options.seed), log: io.log
                ).report()
            }
        case .tokenize:
            return try TokenizeBench.report(modelPath: model, dataPath: options.data) {
                CommandLineTool.commands.map { HelpText.text(of: $0.table) }
            }
        }
    }

    private var load: WireLoad {
        WireLoad(
            workers: options.workers, codec: options.codec,
            parameterCount: options.parameters ?? options.rank * WireMeasurement.parametersPerRank,
            lineRate: options.lineRate.map { $0 * 1_000_000 })
    }

    /// This program, for processes that end with this one. Ctrl-C ends their runs.
    private func program(_ io: CommandIO) -> SkeinProgram {
        io.interrupt.listen()
        return SkeinProgram(path: ProgramFile.path) { [interrupt = io.interrupt] in interrupt.isSet
        }
    }

    /// Runs `body` with a new directory, and removes it when all went well.
    private func inDirectory<Result>(
        _ name: String, _ io: CommandIO, _ body: (String) throws -> Result
    ) throws -> Result {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(name)-\(getpid())").path
        try AtomicFile.makeDirectory(directory)
        let result: Result
        do {
            result = try body(directory)
        } catch {
            io.log.warning("what is left of the runs is in \(directory)")
            throw error
        }
        try FileManager.default.removeItem(atPath: directory)
        return result
    }
}
