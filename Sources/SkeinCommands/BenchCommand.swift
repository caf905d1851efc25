import SkeinBasics
import SkeinFormats
import SkeinModels
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
        "step, generate: compute threads; each kernel is measured on one")
    static let model = Option.optional(
        "model", .path(),
        "step, generate, recovery, tokenize: base model, a GGUF file or a Hugging Face folder")
    static let promptTokens = Option(
        "prompt-tokens", .integer(1...1_048_576), default: "512", "generate: tokens of the prompt")
    static let answerTokens = Option(
        "tokens", .integer(1...1_048_576), default: "128", "generate: tokens of the answer")
    static let data = Option.optional(
        "data", .path(), absent: "tokenize: the pages of --help",
        "recovery, tokenize: rows as skein train takes them")
    static let steps = Option.optional(
        "steps", .integer(1...1_000_000), absent: "step 5, wire 20, recovery 40",
        "step: steps to measure; wire, recovery: steps of a run")
    static let workers = Option(
        "workers", .integer(1...1024), default: "64",
        "wire: workers, which send gradients without computing them")
    static let parameters = Option.optional(
        "parameters", .integer(1...1_000_000_000), absent: "those of SmolLM2-135M with --rank",
        "wire: numbers in a gradient")
    static let lineRate = Option.optional(
        "line-rate", .integer(1...100_000), absent: "as fast as loopback",
        "wire: most megabytes per second that a worker reads, as on a slow line")
    static let dial = Option.optional(
        "dial", .endpoint, absent: "both sides",
        "wire: run only the workers, of the benchmark that listens at this address")
    static let kills = Option(
        "kills", .integer(1...10_000), default: "50",
        "recovery: SIGKILLs to send to workers, besides half as many SIGSTOPs")
    static let seed = Option(
        "seed", .seed, default: "0", "recovery: seed of when and whom to hit")

    static let table = ArgumentTable(
        command: "bench",
        summary:
            "benchmarks kernels, training, generation, network and recovery",
        positional: Positional(
            "WHAT", count: .one, choices: Subject.allCases.map(\.rawValue),
            "kernels: each kernel alone; step: a whole training step; generate: a prompt and an "
                + "answer; wire: a coordinator with many workers that do not compute; recovery: a "
                + "cluster whose workers are killed and stopped; tokenize: a model's tokenizer"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    model.description, data.description,
                    RecipeOptions.table.microBatchTokens.description,
                    promptTokens.description, answerTokens.description,
                    threads.description, steps.description, workers.description,
                    RecipeOptions.table.rank.description, RecipeOptions.table.compute.description,
                    RecipeOptions.table.gradientCodec.description,
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
            tokens: arguments[RecipeOptions.table.microBatchTokens],
            promptTokens: arguments[Self.promptTokens],
            answerTokens: arguments[Self.answerTokens], threads: arguments[Self.threads],
            steps: arguments[Self.steps] ?? Self.defaultSteps(of: subject),
            workers: arguments[Self.workers], rank: arguments[RecipeOptions.table.rank],
            compute: arguments[RecipeOptions.table.compute],
            codec: arguments[RecipeOptions.table.gradientCodec],
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
        switch options.subject {
        case .kernels: try runKernels(io)
        case .step: try runStep(io)
        case .generate: try runGenerate(io)
        case .wire: try runWire(io)
        case .recovery: try runRecovery(io)
        case .tokenize: try runTokenize(io)
        }
    }

    /// Every kernel alone on one thread.
    private func runKernels(_ io: CommandIO, effort: Effort = .kernels) throws {
        let machine = Machine.current()
        let sizes = KernelSizes(tokens: options.tokens)
        var results: [KernelResult] = []
        try DecoderThreads(threadCount: 1).forEach(1) { _, _, _ in
            Result { try KernelBench(sizes: sizes).run(effort) }
        } receive: { _, measured in
            results = try measured.get()
        }
        if options.json {
            return try io.print(json: [
                ("machine", machine.json), ("tokens", .integer(sizes.tokens)),
                ("threads", .integer(1)), ("kernels", .array(results.map(\.json))),
            ])
        }
        try io.print(machine.text)
        try io.print("one thread, sizes of SmolLM2-135M; a product's limit is a loop in registers,")
        try io.print("that of the others a copy that reads and writes as many bytes\n")
        let rows = [KernelResult.heading] + results.map(\.cells)
        try io.write(TextTable.text(rows, leftColumns: 2))
    }

    /// Whole steps of a model, on all threads at once.
    private func runStep(_ io: CommandIO) throws {
        let effort = Effort(repetitions: options.steps, minimumSeconds: 0)
        let machine = Machine.current()
        let threads = options.threads ?? machine.cores
        let bench = try StepBench(
            modelPath: options.model ?? "", microBatchTokens: options.tokens,
            compute: options.compute, threads: threads)
        let results = try RowMix.allCases.map { mix in
            io.log.info("measuring \(mix.rawValue)")
            return try bench.run(mix, effort)
        }
        let configuration = bench.configuration
        let targets = configuration.targetModules.map(\.name)
        if options.json {
            return try io.print(json: [
                ("machine", machine.json), ("model", .string(bench.model.path)),
                ("weights", .string(bench.residence.rawValue)), ("threads", .integer(threads)),
                ("rank", .integer(configuration.rank)),
                ("compute", .string(configuration.compute.rawValue)),
                ("target_modules", .array(targets.map { .string($0) })),
                ("dropout", .number(configuration.dropout)),
                ("micro_batch_tokens", .integer(options.tokens)),
                ("mixes", .array(results.map(\.json))),
            ])
        }
        try io.print(machine.text)
        try io.print("\(bench.model.path), \(bench.residence.rawValue) weights")
        try io.print(
            "\(configuration.compute.rawValue), rank \(configuration.rank) on \(targets.joined(separator: ",")), dropout "
                + "\(configuration.dropout); \(Figures.count(threads, "thread")) at once, one "
                + "micro-batch each; median of \(effort.repetitions)\n")
        try io.write(TextTable.text(StepResult.table(results)))
    }
}
