import Basics
import Formats
import Models
import Training

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

    static let threads = Option.optional(
        "threads", .integer(1...1024), absent: "all cores",
        "step: threads that compute at once; each kernel is measured on one")
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
                    threads.description, SharedFlags.json.description,
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
            threads: arguments[Self.threads], json: arguments[SharedFlags.json])
        if subject == .step, options.model == nil {
            throw UsageError.missingOption(
                "model", placeholder: "PATH", command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        switch options.subject {
        case .kernels: try runKernels(io)
        case .step: try runStep(io)
        }
    }

    /// Every kernel alone on one thread.
    private func runKernels(_ io: CommandIO, effort: Effort = .kernels) throws {
        let machine = Machine.current()
        let sizes = KernelSizes(tokens: options.tokens)
        var results: [KernelResult] = []
        try ComputePool(threadCount: 1).forEach(1) { _, _ in
            KernelBench(sizes: sizes).run(effort)
        } receive: { _, measured in
            results = measured
        }
        if options.json {
            return try io.print(json: [
                ("machine", machine.json), ("tokens", .integer(sizes.tokens)),
                ("threads", .integer(1)), ("kernels", .array(results.map(\.json))),
            ])
        }
        try io.print(machine.text)
        try io.print("one thread, sizes of SmolLM2-135M; a product's limit is sgemm, that of the")
        try io.print("others a copy that reads and writes as many bytes\n")
        let rows = [KernelResult.heading] + results.map(\.cells)
        try io.write(TextTable.text(rows, leftColumns: 2))
    }

    /// Whole steps of a model, on all threads at once.
    private func runStep(_ io: CommandIO, effort: Effort = .step) throws {
        let machine = Machine.current()
        let threads = options.threads ?? machine.cores
        let bench = try StepBench(
            modelPath: options.model ?? "", microBatchTokens: options.tokens, threads: threads)
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
                ("target_modules", .array(targets.map { .string($0) })),
                ("dropout", .number(configuration.dropout)),
                ("micro_batch_tokens", .integer(options.tokens)),
                ("mixes", .array(results.map(\.json))),
            ])
        }
        try io.print(machine.text)
        try io.print("\(bench.model.path), \(bench.residence.rawValue) weights")
        try io.print(
            "rank \(configuration.rank) on \(targets.joined(separator: ",")), dropout "
                + "\(configuration.dropout); \(Figures.count(threads, "thread")) at once, one "
                + "micro-batch each; median of \(effort.repetitions)\n")
        try io.write(TextTable.text(StepResult.table(results)))
    }
}
