import SkeinBasics
import SkeinModels
import SkeinTensors
import SkeinTraining

/// The options of a training run, with the defaults that docs and run.json promise.
enum TrainingFlags {
    static let data = Option.required(
        "data", .path(), "a .jsonl file, or a folder with train.jsonl (and valid.jsonl, test.jsonl)"
    )
    static let output = Option.required("output", .path("DIR"), "the run's folder; it is made")

    static let validData = Option.optional(
        "valid-data", .path("FILE"), "validation rows, instead of a split")
    static let testData = Option.optional(
        "test-data", .path("FILE"), "test rows, evaluated once at the end")
    static let validationSplit = Option(
        "validation-split", .number(0..<1), default: "0.2",
        "part of the rows that is kept for validation, when there are no rows for it")
    static let shuffle = Option(
        "shuffle", .onOff, default: "on", "other order of the rows in each epoch")

    static let noTokenCache = Option.flag(
        "no-token-cache", "encode all rows anew, and keep no tokens for the next start")

    static let rank = Option(
        "rank", .integer(1...1024), default: "8", "rows of A and columns of B")
    static let alpha = Option(
        "alpha", .number(above: 0, to: 65536), default: "16",
        "strength: the adapter's part is scaled by alpha / rank")
    static let dropout = Option(
        "dropout", .number(0...Dropout.mostProbable), default: "0.05",
        "part of the adapter's input that is dropped")
    static let targetModules = Option(
        "target-modules", .targetModules, default: "q_proj,k_proj,v_proj,o_proj",
        "projections that get an adapter, with commas; all-linear for all seven")
    static let layers = Option(
        "layers", .layers, default: "all",
        "decoder blocks that get an adapter: all, the last N, or a range from 0 such as 8-15")
    static let initialAdapter = Option.optional(
        "init-adapter", .path("DIR"), "begin with this adapter (PEFT) and not with a random one")

    static let learningRate = Option(
        "learning-rate", .number(above: 0, to: 10), default: "1e-4", "AdamW's step size")
    static let weightDecay = Option(
        "weight-decay", .number(0...10), default: "0.01", "decoupled, on A and B")
    static let beta1 = Option("beta1", .number(0..<1), default: "0.9", "decay of the mean gradient")
    static let beta2 = Option(
        "beta2", .number(0..<1), default: "0.999", "decay of the mean squared gradient")
    static let epsilon = Option(
        "epsilon", .number(1e-30...1), default: "1e-8", "added to the root of that mean")
    static let schedule = Option<Schedule.Kind>(
        "schedule", .choice, default: "constant", "of the learning rate, after the warm-up")
    static let warmupSteps = Option(
        "warmup-steps", .integer(0...1_000_000_000), default: "0",
        "steps over which the learning rate rises from 0")
    static let maximumGradientNorm = Option(
        "max-grad-norm", .number(0...1e6), default: "1.0", "longer gradients are scaled; 0 = off")

    static let epochs = Option(
        "epochs", .integer(1...1_000_000), default: "3", "passes over the training rows")
    static let iterations = Option.optional(
        "iterations", .integer(1...1_000_000_000), absent: "all epochs",
        "steps, whatever the epochs")
    static let batchSize = Option(
        "batch-size", .integer(1...65536), default: "4", "rows of an optimizer step")
    static let slots = Option.optional(
        "slots", .integer(1...65536), absent: "cut for any number",
        "threads of all workers that steps are cut for; shapes the result")
    static let seed = Option(
        "seed", .seed, default: "0", "of the split, the order, A and the dropout")
    static let earlyStopPatience = Option.optional(
        "early-stop-patience", .integer(1...1_000_000), absent: "off",
        "end after so many validations without a better loss")
    static let gradientCheckpointing = Option.flag(
        "gradient-checkpointing", "compute activations twice instead of keeping them")
    static let gradientCodec = Option<GradientCodec>(
        "gradient-codec", .choice, default: "fp32", "precision of a micro-batch's gradient")
    static let compute = Option<ComputeType>(
        "compute", .choice, default: "fp32",
        "precision of the products with frozen weights; bf16 is about twice as fast on a CPU that "
            + "has instructions for it")

    static let resume = Option.flag("resume", "go on from the last good checkpoint in --output")
    static let checkpointEvery = Option(
        "checkpoint-every", .integer(0...1_000_000_000), default: "50",
        "steps between checkpoints, besides those after each epoch; 0 = only those")
    static let keepCheckpoints = Option(
        "keep-checkpoints", .integer(1...1_000_000), default: "3",
        "newest that stay on disk, besides the best step's")
    static let reportEvery = Option(
        "report-every", .integer(1...1_000_000), default: "1", "steps between reports")

    static let minimumWorkers = Option(
        "min-workers", .integer(1...65536), default: "1",
        "workers that must be there before a coordinator begins a step; nothing to a run in one "
            + "process")
    static let patience = Option<Duration>(
        "patience", .duration, default: "60s",
        "how long a coordinator waits while workers are missing, since one last joined or got on "
            + "with its model; 10 times as long before the first came; nothing to a run in one "
            + "process")

    static let groups = [
        OptionGroup(
            title: "what",
            options: [
                SharedFlags.model.description, data.description, output.description,
                resume.description,
            ]),
        OptionGroup(
            title: "data",
            options: [
                validData.description, testData.description, validationSplit.description,
                shuffle.description, DataFlags.promptFormat.description,
                DataFlags.trainOn.description, DataFlags.maximumLength.description,
                DataFlags.skipBadLines.description, noTokenCache.description,
            ]),
        OptionGroup(
            title: "adapter",
            options: [
                rank.description, alpha.description, dropout.description,
                targetModules.description, layers.description, initialAdapter.description,
            ]),
        OptionGroup(
            title: "optimizer",
            options: [
                learningRate.description, weightDecay.description, beta1.description,
                beta2.description, epsilon.description, schedule.description,
                warmupSteps.description, maximumGradientNorm.description,
            ]),
        OptionGroup(
            title: "run",
            options: [
                epochs.description, iterations.description, batchSize.description,
                DataFlags.microBatchTokens.description, slots.description, seed.description,
                earlyStopPatience.description, gradientCheckpointing.description,
                gradientCodec.description, compute.description,
            ]),
        OptionGroup(
            title: "reports and checkpoints",
            options: [
                reportEvery.description, checkpointEvery.description, keepCheckpoints.description,
            ]),
        SharedFlags.machine,
        OptionGroup(
            title: "cluster", options: [minimumWorkers.description, patience.description]),
    ]
}
