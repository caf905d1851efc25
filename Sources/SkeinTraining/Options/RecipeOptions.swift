import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinText

/// The options that shape the result, besides the bytes of model, data and starting adapter. The
/// digest of a configuration covers them, in this order. A new option may go anywhere, but must be
/// `namedOnlyWhenGiven`, so that digests of runs without it stay the same.
package final class RecipeOptions: OptionTable {
    package let rank = Option(
        "rank", .integer(1...1024), default: "16", in: .adapter,
        "rank of the adapter: rows of A, columns of B")
    package let alpha = Option(
        "alpha", .number(above: 0, to: 65536), default: "32", in: .adapter,
        "the adapter's output is scaled by alpha / rank")
    package let rslora = Option.optional(
        "rslora", .onOff, absent: "off", in: .adapter,
        "scale by alpha / sqrt(rank) instead (rank-stabilized LoRA)"
    ).namedOnlyWhenGiven()
    package let dora = Option.optional(
        "dora", .onOff, absent: "off", in: .adapter,
        "also train how long each row of an adapted weight is (DoRA): slower, and PEFT and MLX alone "
            + "have it"
    ).namedOnlyWhenGiven()
    package let rankPattern = Option.optional(
        "rank-pattern", .rankPattern, absent: "--rank everywhere", in: .adapter,
        "another rank for modules whose names end so, such as down_proj=16 or "
            + "layers.0.self_attn.q_proj=4; a regular expression, as in PEFT; may be repeated"
    ).namedOnlyWhenGiven().repeatable { (first, second) throws(JoinProblem) in
        try ModulePatternText.joined(first, second)
    }
    package let alphaPattern = Option.optional(
        "alpha-pattern", .alphaPattern, absent: "--alpha everywhere", in: .adapter,
        "another alpha, likewise; may be repeated"
    ).namedOnlyWhenGiven().repeatable { (first, second) throws(JoinProblem) in
        try ModulePatternText.joined(first, second)
    }
    package let dropout = Option(
        "dropout", .number(0...Dropout.mostProbable), default: "0", in: .adapter,
        "probability of dropping an element of the adapter's input")
    package let targetModules = Option(
        "target-modules", .targetModules, default: "all-linear", in: .adapter,
        "projections that get an adapter, separated by commas; all-linear means all seven; "
            + "on Phi-3 also qkv_proj, gate_up_proj; on Granite 4 also gate_up_proj; and "
            + "embed_tokens, lm_head")
    package let layers = Option(
        "layers", .layers, default: "all", in: .adapter,
        "decoder blocks that get an adapter: all, the last N, or a range from 0 such as 8-15")

    package let loss = Option.optional(
        "loss", ValueFormat<PreferenceLoss.Kind>.choice, absent: "cross-entropy of each row",
        in: .optimizer,
        "learn that one answer is better than another, from rows of prompt, chosen and rejected"
    ).namedOnlyWhenGiven()
    package let beta = Option.optional(
        "beta", .number(above: 0, to: 1000), absent: "0.1, with simpo 2", in: .optimizer,
        "how much a loss of pairs weighs their difference"
    ).namedOnlyWhenGiven()
    package let simpoGamma = Option.optional(
        "simpo-gamma", .number(0...1000), absent: "half of --beta", in: .optimizer,
        "by how much simpo wants the chosen answer ahead"
    ).namedOnlyWhenGiven()
    package let reference = Option.optional(
        "reference", ValueFormat<PreferenceReference>.choice, absent: "base", in: .optimizer,
        "what dpo compares with: the base model alone, or, init, with --init-adapter as it began"
    ).namedOnlyWhenGiven()

    package let learningRate = Option(
        "learning-rate", .number(above: 0, to: 10), default: "1e-4", in: .optimizer,
        "AdamW's step size"
    ).automatic(by: "by the model's width and --loss")
    package let loraPlusRatio = Option.optional(
        "lora-plus-ratio", .number(above: 0, to: 1024), absent: "1", in: .optimizer,
        "the learning rate of B is this many times that of A (LoRA+)"
    ).namedOnlyWhenGiven()
    package let weightDecay = Option(
        "weight-decay", .number(0...10), default: "0.01", in: .optimizer,
        "decoupled weight decay of A and B")
    package let beta1 = Option(
        "beta1", .number(0..<1), default: "0.9", in: .optimizer, "decay of the mean gradient")
    package let beta2 = Option(
        "beta2", .number(0..<1), default: "0.999", in: .optimizer,
        "decay of the mean squared gradient")
    // As Float, too, it must be above 0: where a gradient is 0, the update is 0 / epsilon.
    package let epsilon = Option(
        "epsilon", .number(1e-30...1), default: "1e-8", in: .optimizer,
        "added to the root of the mean squared gradient")
    package let schedule = Option<Schedule.Kind>(
        "schedule", .choice, default: "linear", in: .optimizer,
        "learning rate after the warm-up")
    package let warmupSteps = Option(
        "warmup-steps", .integer(0...Limits.steps), default: "0", in: .optimizer,
        "steps over which the learning rate rises from 0"
    ).automatic(by: "by the number of steps")
    package let warmupRatio = Option.optional(
        "warmup-ratio", .number(0..<1), absent: "--warmup-steps", in: .optimizer,
        "share of all steps over which the learning rate rises from 0, rounded up"
    ).namedOnlyWhenGiven()
    package let minLearningRate = Option.optional(
        "min-learning-rate", .number(0..<10), absent: "0", in: .optimizer,
        "the rate that a decaying schedule ends at, below --learning-rate"
    ).namedOnlyWhenGiven()
    package let restarts = Option.optional(
        "restarts", .integer(1...Limits.steps), absent: "1", in: .optimizer,
        "cycles of cosine-with-restarts: each begins at --learning-rate"
    ).namedOnlyWhenGiven()
    package let power = Option.optional(
        "power", .number(above: 0, to: 100), absent: "1.0", in: .optimizer,
        "exponent of polynomial: 1 falls on a line, 2 faster at first"
    ).namedOnlyWhenGiven()
    package let maxGradNorm = Option(
        "max-grad-norm", .number(0...1e6), default: "1.0", in: .optimizer,
        "clip the gradient to this norm; 0 = off")

    package let labelSmoothing = Option.optional(
        "label-smoothing", .number(0..<1), absent: "0", in: .optimizer,
        "share of the training loss that wants all tokens alike; validation is without it"
    ).namedOnlyWhenGiven()
    package let neftuneAlpha = Option.optional(
        "neftune-alpha", .number(above: 0, to: 1000), absent: "off", in: .optimizer,
        "strength of uniform noise on the embeddings of training rows (NEFTune)"
    ).namedOnlyWhenGiven()

    package let epochs = Option(
        "epochs", .integer(1...1_000_000), default: "3", in: .run, "passes over the training rows"
    ).automatic(by: "by the rows, --batch-size and --loss")
    package let iterations = Option.optional(
        "iterations", .integer(1...Limits.steps), absent: "all epochs", in: .run,
        "optimizer steps; overrides --epochs")
    package let batchSize = Option(
        "batch-size", .integer(1...65536), default: "4", in: .run, "rows per optimizer step")
    package let microBatchTokens = Option(
        "micro-batch-tokens", .integer(1...mostTokens), default: "512", in: .run,
        "tokens computed together, at least one row")
    package let slots = Option.optional(
        "slots", .integer(1...65536), absent: "any number", in: .run,
        "cut each step for this many threads, over all workers; changes the result"
    ).namedOnlyWhenGiven()
    package let localSteps = Option.optional(
        "local-steps", .integer(1...LocalSettings.mostSteps), absent: "off", in: .localSteps,
        "for slow links: each logical worker takes this many AdamW steps by itself, of --batch-size "
            + "rows each, before anything is averaged; --iterations counts the averages"
    ).namedOnlyWhenGiven()
    package let logicalWorkers = Option.optional(
        "logical-workers", .integer(1...LocalSettings.mostWorkers), in: .localSteps,
        "adapters that are trained side by side; they are part of the plan, whoever computes them"
    ).namedOnlyWhenGiven()
    package let deltaCodec = Option.optional(
        "delta-codec", ValueFormat<DeltaCodec.Kind>.choice, absent: "fp32", in: .localSteps,
        "how a change of parameters is coded; topk keeps the largest, as int8; what coding loses is "
            + "added to the next one"
    ).namedOnlyWhenGiven()
    package let topkDensity = Option.optional(
        "topk-density", .number(above: 0, to: 1), absent: "0.03125", in: .localSteps,
        "share of the numbers that topk keeps"
    ).namedOnlyWhenGiven()
    package let outerLearningRate = Option.optional(
        "outer-learning-rate", .number(above: 0, to: 10), absent: "0.7", in: .localSteps,
        "how far the parameters follow the average change"
    ).namedOnlyWhenGiven()
    package let outerMomentum = Option.optional(
        "outer-momentum", .number(0..<1), absent: "0.9", in: .localSteps,
        "Nesterov momentum of the average changes"
    ).namedOnlyWhenGiven()
    package let maxLength = Option(
        "max-length", .integer(2...mostTokens), default: "512", in: .data,
        "tokens per row; longer rows are cut at the right")
    package let seed = Option(
        "seed", .integer(0...Int.max), default: "0", in: .run,
        "seed of the split, the row order, the initial A and dropout")
    package let field = Option.optional(
        "field", .rowFields, absent: "their own names", in: .data,
        "the key or column that holds a part of a row, for instance prompt=question; may be repeated"
    ).namedOnlyWhenGiven().repeatable { (first, second) throws(JoinProblem) in
        try RowFields.joined(first, second)
    }
    package let shuffle = Option(
        "shuffle", .onOff, default: "on", in: .data, "shuffle the rows in each epoch")
    package let validationSplit = Option(
        "validation-split", .number(0..<1), default: "0.2", in: .data,
        "share of the rows kept for validation when there is no validation file")
    package let splitBy = Option.optional(
        "split-by", ValueFormat<SplitUnit>.choice, absent: "row", in: .data,
        "what --validation-split never divides: a row, or all rows that have the same prompt"
    ).namedOnlyWhenGiven()
    package let splitSeed = Option.optional(
        "split-seed", .integer(0...Int.max), absent: "--seed", in: .data,
        "seed of --validation-split alone: the same rows are held out, whatever --seed is"
    ).namedOnlyWhenGiven()
    package let textChunks = Option.optional(
        "text-chunks", .onOff, absent: "off", in: .data,
        "cut texts that are longer than --max-length into several rows; blank lines, not line ends, "
            + "then separate the texts of a .txt file"
    ).namedOnlyWhenGiven()
    package let promptFormat = Option<PromptFormat>(
        "prompt-format", .choice, default: "auto", in: .data,
        "how a row becomes text: the model's chat template, or prompt and completion joined by the "
            + "end token (eos) or by nothing (raw); auto: chat when there is a template, else eos")
    package let trainOn = Option<TrainedTurns>(
        "train-on", .choice, default: "all", in: .data,
        "assistant turns that carry loss")
    package let chatTemplate = Option.optional(
        "chat-template", .path("NAME|FILE"), absent: "the model's", in: .data,
        "chat template: chatml, gemma, llama3, mistral, phi3, zephyr, a name from the model's list or a "
            + "file"
    ).namedOnlyWhenGiven()
    package let templateArgument = Option.optional(
        "template-argument", .templateArguments, absent: "none", in: .data,
        "what the chat template sees besides the messages, for instance enable_thinking=false; may "
            + "be repeated"
    ).namedOnlyWhenGiven().repeatable { (first, second) throws(JoinProblem) in
        try TemplateArgumentText.joined(first, second)
    }
    package let templateDate = Option.optional(
        "template-date", .day, absent: "2024-07-26", in: .data,
        "the day that the chat template sees as today"
    ).namedOnlyWhenGiven()
    package let earlyStopPatience = Option.optional(
        "early-stop-patience", .integer(1...Limits.steps), absent: "off", in: .run,
        "stop after this many validations without a better one")
    package let validateEvery = Option.optional(
        "validate-every", .integer(1...Limits.steps), absent: "each epoch", in: .run,
        "validate after so many steps, too, and keep the best adapter of all of these; each has a "
            + "checkpoint"
    ).namedOnlyWhenGiven()
    package let bestMetric = Option.optional(
        "best-metric", ValueFormat<BestMetric>.choice, absent: "loss", in: .run,
        "what makes a validation the best one: the lowest loss, or the highest token accuracy"
    ).namedOnlyWhenGiven()
    package let gradientCodec = Option<GradientCodec>(
        "gradient-codec", .choice, default: "fp32", in: .run,
        "precision of a micro-batch's gradient")
    package let featureType = Option.optional(
        "feature-type", ValueFormat<FeatureType>.choice, absent: "fp32", in: .run,
        "bf16 rounds what enters the lowest adapted block, so that --reuse-features takes half the disk; "
            + "changes the result"
    ).namedOnlyWhenGiven()
    package let compute = Option<ComputeType>(
        "compute", .choice, default: "fp32", in: .run,
        "precision of multiplying by the frozen weights; `skein --version --json` has this CPU's rates "
            + "in each")

    /// Tokens of a row and of a micro-batch: more than any context that a machine without
    /// accelerators can train.
    package static let mostTokens = RowLimits.tokens

    // It is an object: a struct of this size would be copied for each value that is read.
    package static let table = RecipeOptions()
    package static let options = list(table)

    /// The declarations of `MeasuredOption`. A command that shall give the same run under any version
    /// names them.
    package static let measured = MeasuredOption.allCases.map(\.option)
}

extension OptionHeading {
    package static let adapter = OptionHeading("adapter")
    package static let optimizer = OptionHeading("optimizer")
    package static let run = OptionHeading("run")
    package static let localSteps = OptionHeading("local steps")
    package static let data = OptionHeading("data")
}
