import SkeinBasics
import SkeinModels
import SkeinTensors

/// What a base model and all that answers with it may take of a machine, declared once: `skein serve`
/// has these as flags, and `SystemLanguageModel.Resources` asks the ranges for its properties. Numbers of
/// bytes are MiB as text.
package struct HostOptions: OptionTable {
    package let maximumAdapters = Option(
        "max-adapters", .integer(1...1024), default: "16", in: Self.loaded,
        "adapters that may be loaded at once")
    package let maximumRank = Option(
        "max-rank", .integer(Self.ranks), default: "64", in: Self.loaded,
        "largest rank of an adapter")
    package let parallel = Option(
        "parallel", .integer(Self.answers), default: "8", in: Self.room,
        "answers that are decoded together")
    package let queue = Option(
        "queue", .integer(Self.waiting), default: "256", in: Self.room,
        "requests that wait beyond those; more are refused with 429")
    package let context = Option.optional(
        "context", .integer(Self.contexts), absent: "the model's, at most \(Self.usualContext)",
        in: Self.room,
        "tokens of a prompt and its answer together")
    package let answerTokens = Option(
        "max-tokens", .integer(1...1_048_576), default: "1024", in: Self.room,
        "tokens of an answer whose request does not say how many")
    package let cacheType = Option<CacheType>(
        "cache-type", .choice, default: "fp32", in: Self.room,
        "how keys and values are held: bf16 takes half of fp32's memory, int8 about a quarter")
    package let cacheBytes = Option.optional(
        "cache-memory", .mebibytes(1...Self.mostMebibytes),
        absent: "enough for all, at most a quarter of what is free", in: Self.room,
        "MiB of keys and values of all answers together")
    package let prefixBytes = Option.optional(
        "prefix-memory", .mebibytes(0...Self.mostMebibytes),
        absent: "\(Self.usualPrefixMebibytes), at most an eighth of what is free", in: Self.room,
        "MiB of beginnings of prompts that are kept for the next turn; 0 = none")
    package let grammarBytes = Option.optional(
        "grammar-memory", .mebibytes(Self.leastGrammarMebibytes...Self.mostMebibytes),
        absent: "\(Self.usualGrammarMebibytes), at most an eighth of what is free", in: Self.room,
        "MiB of schemas and their states; where others need all of it, another schema gets 429")
    package let adapterBytes = Option.optional(
        "adapter-memory", .mebibytes(1...Self.mostMebibytes),
        absent: "enough for --max-adapters of --max-rank, at most what the rest leaves",
        in: Self.room,
        "MiB of adapters that are loaded or that requests still use; a request for another one gets "
            + "429")
    package let threads = Option.threads(in: Self.machine)
    package let compute = Option<ComputeType>(
        "compute", .choice, default: "fp32", in: Self.machine,
        "precision of multiplying a prompt by the weights, int8 with a second copy of them (a byte a "
            + "weight); `skein --version --json` has this CPU's rates in each")
    package let guesses = Option(
        "speculation", .onOff, default: "on", in: Self.machine,
        "guess the next tokens from the prompt and check them together; changes no answer")

    package static let table = HostOptions()
    package static let options = list(table)

    // As `skein serve --help` groups them.
    package static let loaded = OptionHeading("what")
    package static let room = OptionHeading("how much")
    package static let machine = OptionHeading("machine")

    package static let answers = 1...256
    package static let waiting = 0...65536
    package static let contexts = 16...1_048_576
    package static let ranks = 1...1024
    package static let leastGrammarMebibytes = 16
    static let usualPrefixMebibytes = 1024
    static let usualGrammarMebibytes = 512
    private static let mostMebibytes = 1_048_576
    /// What people talk about at once, and not the memory of the longest rows.
    static let usualContext = 4096
}
