import SkeinBasics
import SkeinTraining

/// Options that several commands have in common.
enum SharedFlags {
    static let model = Option.required(
        "model", .path(), "base model: a GGUF file or a Hugging Face folder")
    static let adapter = Option.optional(
        "adapter", .path("DIR"), "adapter folder (PEFT) to use on top of the base model")
    static let threads = Option.optional(
        "threads", .integer(1...1024), absent: "all cores",
        "threads that compute; the result does not depend on it")
    static let weights = Option<ResidenceChoice>(
        "weights", .choice, default: "auto",
        "frozen weights: 32-bit in memory, or read from the file layer by layer; auto goes by memory"
    )
    static let logFormat = Option<Log.Format>(
        "log-format", .choice, default: "text", "form of the lines on standard error")
    static let json = Option.flag("json", "print the result as JSON")

    /// What a command that computes takes.
    static let machine = OptionGroup(
        title: "machine",
        options: [threads.description, weights.description, logFormat.description])
}

/// How rows of data become tokens, and which of them carry loss.
enum DataFlags {
    static let promptFormat = Option<PromptFormat>(
        "prompt-format", .choice, default: "auto",
        "how a row becomes text: the model's chat template, or prompt and completion joined by the "
            + "end token (eos) or by nothing (raw); auto: chat when there is a template, else eos")
    static let trainOn = Option<TrainedTurns>(
        "train-on", .choice, default: "all", "assistant turns of a conversation that carry loss")
    static let maximumLength = Option(
        "max-length", .integer(2...1_048_576), default: "512",
        "tokens of a row; a longer one is cut at the right")
    static let microBatchTokens = Option(
        "micro-batch-tokens", .integer(1...1_048_576), default: "512",
        "tokens that are computed together, at least one row")
    static let skipBadLines = Option.flag(
        "skip-bad-lines", "count lines that are not valid rows, and go on")
}
