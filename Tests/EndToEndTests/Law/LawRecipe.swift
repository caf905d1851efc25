import SkeinBasics
import SkeinTestSupport
import SkeinTraining
import Testing

/// A row of the law's table: what is trained, and the ways in which it is.
struct LawRecipe: Sendable, CustomTestStringConvertible {
    enum Rows: Sendable {
        case completions(Int)
        case preferences(Int)
    }

    let testDescription: String
    let options: [String]
    let rows: Rows
    /// Quantized, so that streaming has weights to dequantize.
    let weights: TinyModel.WeightType
    /// Compared with one thread in one process.
    let ways: [LawWay]

    init(
        _ name: String, _ options: [String], rows: Rows = .completions(40),
        weights: TinyModel.WeightType = .q8x0, _ ways: [LawWay]
    ) {
        testDescription = name
        self.options = options
        self.rows = rows
        self.weights = weights
        self.ways = ways
    }

    /// What every run of the table has. All other flags are the defaults: dropout, a validation
    /// split, shuffling and clipping are on.
    static let run = [
        "--epochs", "2", "--checkpoint-every", "3", "--learning-rate", "5e-3",
        "--micro-batch-tokens", "48",
    ]

    /// The whole table. Kills are `LawKillTests`' business.
    static let table =
        [
            LawRecipe("defaults", [], LawWay.whole),
            LawRecipe(
                "defaults, Q4_0", [], weights: .q4x0,
                [.alone(["--weights", "resident"]), .sparing]),
            LawRecipe("defaults, F32", [], weights: .f32, [.sparing, .workers(2)]),
            LawRecipe(
                "codec bf16", ["--gradient-codec", "bf16"], [.sparing, .workers(2)]),
            LawRecipe(
                "codec int8", ["--gradient-codec", "int8"], [.sparing, .workers(2)]),
            // Two micro-batches a step, and three.
            LawRecipe(
                "few micro-batches", ["--micro-batch-tokens", "2048"], [.sparing, .workers(2)]),
            LawRecipe(
                "slots", ["--micro-batch-tokens", "2048", "--slots", "3"], [.sparing, .workers(2)]),
        ] + recipes + pairs + deltas + frozen

    private static let measured = RecipeOptions.measured.flatMap { option in
        let description = option.description
        let usual = description.rule == nil ? description.fallback : OptionDescription.automatic
        return ["--" + description.name, usual ?? ""]
    }

    /// Each recipe of docs/RECIPES.md.
    static let recipes = [
        // What a run does that names nothing; the others name what the defaults once were.
        LawRecipe("measured defaults", measured, LawWay.whole),
        LawRecipe(
            "restarts",
            [
                "--schedule", "cosine-with-restarts", "--restarts", "3", "--warmup-ratio", "0.1",
                "--min-learning-rate", "1e-4",
            ], [.sparing]),
        LawRecipe(
            "polynomial",
            ["--schedule", "polynomial", "--power", "2.5", "--min-learning-rate", "1e-5"],
            [.sparing]),
        LawRecipe("rslora", ["--rslora", "on"], [.sparing]),
        LawRecipe("lora-plus", ["--lora-plus-ratio", "8"], [.sparing]),
        LawRecipe(
            "patterns",
            [
                "--target-modules", "all-linear", "--rank-pattern", "down_proj=5",
                "--rank-pattern", "layers.0.self_attn.q_proj=3", "--alpha-pattern",
                "(gate|up)_proj=4",
            ], [.sparing]),
        LawRecipe("label-smoothing", ["--label-smoothing", "0.1"], [.sparing]),
        LawRecipe("neftune", ["--neftune-alpha", "5"], [.sparing]),
        LawRecipe(
            "validate-every",
            [
                "--validate-every", "2", "--best-metric", "accuracy", "--validate-at-start",
                "--learning-rate", "0.05", "--sample-prompt", "1?",
            ], [.sparing]),
        LawRecipe(
            "local steps",
            [
                "--local-steps", "2", "--logical-workers", "2", "--batch-size", "1",
                "--save-state-every", "2", "--dora", "on", "--lora-plus-ratio", "4",
                "--neftune-alpha", "5", "--schedule", "cosine-with-restarts", "--restarts", "2",
            ], [.sparing]),
        LawRecipe("dora", ["--dora", "on", "--target-modules", "all-linear"], [.sparing]),
        LawRecipe(
            "embedding and head",
            [
                "--target-modules", "q_proj,embed_tokens,lm_head", "--layers", "1",
                "--neftune-alpha", "5", "--rank-pattern", "embed_tokens=3", "--dropout", "0.1",
            ], [.sparing]),
        LawRecipe(
            "embedding and head with local steps",
            [
                "--target-modules", "embed_tokens,lm_head", "--local-steps", "2",
                "--logical-workers", "2", "--batch-size", "1", "--save-state-every", "2",
                "--lora-plus-ratio", "4", "--compute", "bf16",
            ], [.sparing]),
        LawRecipe(
            "dora and all the others",
            [
                "--dora", "on", "--rslora", "on", "--lora-plus-ratio", "4", "--rank-pattern",
                "o_proj=2", "--neftune-alpha", "5", "--label-smoothing", "0.05",
                "--gradient-codec", "int8", "--compute", "bf16", "--schedule", "polynomial",
            ], [.sparing]),
    ]

    /// Losses of pairs of answers.
    static let pairs = ["dpo", "orpo", "simpo"].flatMap { loss in
        let options = ["--loss", loss, "--micro-batch-tokens", "64"]
        let others = ["--dora", "on", "--compute", "bf16", "--gradient-codec", "int8"]
        return [
            // The others have no references.
            LawRecipe(
                loss, options, rows: .preferences(40),
                loss == "dpo" ? [.sparing, .cached] : [.sparing]),
            LawRecipe(
                "\(loss) with dora, bf16 and int8", options + others, rows: .preferences(40),
                [.alone(["--threads", "2"])]),
        ]
    }

    /// What local steps send.
    static let deltas = ["fp32", "bf16", "int8", "topk"].map { codec in
        LawRecipe(
            "local steps, deltas as \(codec)",
            [
                "--local-steps", "3", "--logical-workers", "3", "--delta-codec", codec,
                "--batch-size", "1", "--epochs", "3", "--learning-rate", "0.01",
                "--save-state-every", "4", "--max-length", "64",
            ], rows: .completions(44), [.workers(1), .workers(2), .workers(3)])
    }

    /// One block of two is trained, so that what the lower one computes can be kept.
    static let frozen = [
        LawRecipe("frozen block", [], .completions(40)),
        LawRecipe("frozen block in bf16", ["--compute", "bf16"], .completions(40)),
        LawRecipe(
            "features in bf16", ["--feature-type", "bf16", "--dora", "on"], .completions(40)),
        LawRecipe(
            "frozen block, all modules",
            ["--gradient-codec", "int8", "--target-modules", "all-linear", "--dropout", "0.3"],
            .completions(40)),
        LawRecipe(
            "frozen block and a head", ["--target-modules", "v_proj,lm_head"], .completions(40)),
        LawRecipe(
            "a head alone", ["--target-modules", "lm_head", "--dropout", "0.2"], .completions(40)),
        LawRecipe(
            "frozen block with local steps",
            [
                "--local-steps", "2", "--logical-workers", "2", "--batch-size", "1",
                "--save-state-every", "2",
            ], .completions(40)),
        LawRecipe("frozen block, dpo", ["--loss", "dpo"], .preferences(24)),
        LawRecipe("frozen block, simpo", ["--loss", "simpo"], .preferences(24)),
    ]

    private init(_ name: String, _ options: [String], _ rows: Rows) {
        self.init(
            name, ["--epochs", "3", "--layers", "1"] + options, rows: rows,
            [.keepingFeatures, .readingFeatures])
    }
}
