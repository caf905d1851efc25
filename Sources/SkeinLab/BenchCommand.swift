import SkeinBasics
import SkeinCommands
import SkeinModels
import SkeinTensors
import SkeinTraining

/// `skein-lab bench`: speeds next to their limits (kernels, step, generate, tokenize, wire), and real
/// clusters (recovery, cluster, chaos, demo).
struct BenchCommand: Command {
    enum Subject: String, Sendable, CaseIterable {
        case kernels
        case step
        case generate
        case wire
        case recovery
        case chaos
        case cluster
        case demo
        case tokenize
        case grammar
        /// Not shown: for Scripts/check-families.
        case model
    }

    struct Options: Sendable, Equatable {
        var subject: Subject
        /// Required unless the subject is `kernels` or `wire`.
        var model: String?
        /// Required by `recovery`, `chaos`, `cluster` and `demo`.
        var data: String?
        /// Required by `demo`.
        var output: String?
        /// The program whose processes are measured; nil: the `skein` beside this one.
        var skein: String?
        /// Tokens of the micro-batch that is measured.
        var tokens: Int
        var promptTokens: Int
        var answerTokens: Int
        /// Answers that are generated together; nil: one, beside its limits.
        var batch: Int?
        var cacheType: CacheType
        var threads: Int?
        var steps: Int
        var workers: Int
        var rank: Int
        var compute: ComputeType
        var codec: GradientCodec
        /// Numbers in a wire benchmark's gradient; nil: as in SmolLM2-135M's adapter of this rank.
        var parameters: Int?
        /// Most megabytes per second that a worker of a wire benchmark reads.
        var lineRate: Int?
        /// The address of the wire benchmark whose workers this process runs.
        var dial: Endpoint?
        /// Where a wire benchmark can be watched.
        var status: Endpoint?
        var kills: Int
        var rounds: Int
        var seed: UInt64
        /// Schemas for `grammar` to write values for; nil: measure.
        var cases: String?
        /// Values of each.
        var runs: Int
        /// Further options of the runs of `cluster` and `demo`.
        var runOptions: [String]
        var json: Bool
    }

    static let threads = Option.optional(
        "threads", .integer(1...1024), absent: "all cores that may be used",
        "step, generate: compute threads; each kernel is measured on one")
    static let model = Option.optional(
        "model", .path(),
        "all but kernels and wire: base model, a GGUF file, a Hugging Face folder, or "
            + "ORG/NAME[@revision][:file.gguf] of the Hub")
    static let promptTokens = Option(
        "prompt-tokens", .integer(1...1_048_576), default: "512", "generate: tokens of the prompt")
    static let answerTokens = Option(
        "tokens", .integer(1...1_048_576), default: "128", "generate: tokens of the answer")
    static let batch = Option.optional(
        "batch", .integer(1...64), absent: "one answer beside its limits",
        "generate: up to so many answers together, beside one alone")
    static let cacheType = Option<CacheType>(
        "cache-type", .choice, default: "fp32",
        "generate --batch: how keys and values are held; bf16 halves their memory, int8 leaves "
            + "about 27 % of it")
    static let data = Option.optional(
        "data", .path(), absent: "tokenize: the pages of --help",
        "recovery, chaos, cluster, demo, tokenize: rows as skein train takes them")
    static let output = Option.optional("output", .path(), "demo: where its two runs are kept")
    static let skein = Option.optional(
        "skein", .path("FILE"), absent: "skein beside this program",
        "recovery, chaos, cluster, demo: the program whose processes are started")
    static let steps = Option.optional(
        "steps", .integer(1...1_000_000), absent: "step 5, wire 20, others 40",
        "step: steps to measure; wire, recovery, demo: steps of a run")
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
    static let status = TrainingFlags.status.described(
        "wire: show the run at this address meanwhile, and measure what those who look cost")
    static let kills = Option(
        "kills", .integer(1...10_000), default: "50",
        "recovery: SIGKILLs to send to workers, besides half as many SIGSTOPs")
    static let rounds = Option.optional(
        "rounds", .integer(1...10_000), absent: "chaos 1, cluster 5",
        "chaos: how often to repeat the kills, at other moments; cluster: how often to run both")
    static let seed = Option(
        "seed", .seed, default: "0",
        "recovery, chaos: seed of which process is hit, and when; grammar: of the values")
    static let cases = Option.optional(
        "cases", .path("FILE"), absent: "measure",
        "grammar: write values for the schemas of this file, for another program to judge")
    static let runs = Option(
        "runs", .integer(1...1_000_000), default: "50", "grammar: values of each of --cases")
    /// As `TrainingConfiguration.fixed` has it: figures must not move with the default of a run.
    static let rank = Option(
        "rank", RecipeOptions.table.rank.format, default: "8",
        RecipeOptions.table.rank.description.help)
    static let runOptions = Option.optional(
        "run-options", .text("TEXT"), absent: "none",
        "cluster, demo: options of skein train for their runs, separated by blanks")

    static let table = ArgumentTable(
        command: "bench",
        summary:
            "benchmarks kernels, training, generation, network and recovery",
        positional: Positional(
            "WHAT", count: .one, choices: Subject.allCases.filter { $0 != .model }.map(\.rawValue),
            hidden: [Subject.model.rawValue],
            "kernels: each kernel alone; step: a whole training step; generate: a prompt and an "
                + "answer; wire: a coordinator with many workers that do not compute; recovery: a "
                + "cluster whose workers are killed and stopped; chaos: one hash, whichever "
                + "processes compute or die; cluster: train next to a cluster of two workers; "
                + "demo: a cluster whose worker is killed, line by line; tokenize: a model's "
                + "tokenizer; grammar: answers that a JSON Schema constrains"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    model.description, data.description, output.description,
                    skein.description,
                    RecipeOptions.table.microBatchTokens.description,
                    promptTokens.description, answerTokens.description,
                    batch.description, cacheType.description,
                    threads.description, steps.description, workers.description,
                    rank.description, RecipeOptions.table.compute.description,
                    RecipeOptions.table.gradientCodec.description,
                    parameters.description, lineRate.description,
                    dial.description, status.description, kills.description, rounds.description,
                    seed.description, cases.description, runs.description,
                    runOptions.description,
                    SharedFlags.json.description,
                ])
        ],
        example: "skein-lab bench step --model SmolLM2-135M-Instruct.Q4_1.gguf --threads 2")

    let options: Options

    init(_ arguments: ParsedArguments) throws {
        guard let subject = arguments.positionals.first.flatMap({ Subject(rawValue: $0) }) else {
            throw UsageError.missingPositional("WHAT", command: Self.table.command)
        }
        options = Options(
            subject: subject, model: arguments[Self.model], data: arguments[Self.data],
            output: arguments[Self.output], skein: arguments[Self.skein],
            tokens: arguments[RecipeOptions.table.microBatchTokens],
            promptTokens: arguments[Self.promptTokens],
            answerTokens: arguments[Self.answerTokens], batch: arguments[Self.batch],
            cacheType: arguments[Self.cacheType], threads: arguments[Self.threads],
            steps: arguments[Self.steps] ?? Self.defaultSteps(of: subject),
            workers: arguments[Self.workers], rank: arguments[Self.rank],
            compute: arguments[RecipeOptions.table.compute],
            codec: arguments[RecipeOptions.table.gradientCodec],
            parameters: arguments[Self.parameters], lineRate: arguments[Self.lineRate],
            dial: arguments[Self.dial], status: arguments[Self.status],
            kills: arguments[Self.kills],
            rounds: arguments[Self.rounds] ?? (subject == .cluster ? 5 : 1),
            seed: arguments[Self.seed], cases: arguments[Self.cases],
            runs: arguments[Self.runs],
            runOptions: (arguments[Self.runOptions] ?? "").split(whereSeparator: \.isWhitespace)
                .map(String.init),
            json: arguments[SharedFlags.json])
        let needed: [(name: String, isMissing: Bool)] = [
            ("model", ![.kernels, .wire].contains(subject) && options.model == nil),
            (
                "data",
                [.recovery, .chaos, .cluster, .demo, .model].contains(subject)
                    && options.data == nil
            ),
            ("output", subject == .demo && options.output == nil),
        ]
        if let missing = needed.first(where: \.isMissing) {
            throw UsageError.missingOption(
                missing.name, placeholder: "PATH", command: Self.table.command)
        }
        if subject == .demo, options.steps < DemoBench.fewestSteps {
            throw UsageError.badValue(
                option: "steps", value: String(options.steps),
                accepted: "at least \(DemoBench.fewestSteps) for demo", suggestion: nil)
        }
    }

    private static func defaultSteps(of subject: Subject) -> Int {
        switch subject {
        case .step: 5
        case .wire: 20
        default: 40
        }
    }
}
