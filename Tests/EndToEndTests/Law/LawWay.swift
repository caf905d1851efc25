/// A column of the law's table: who computes a run, and how.
enum LawWay: Sendable {
    /// One process, with these options beside the recipe's.
    case alone([String])
    /// One process, after another that had the same cache of tokens and references of DPO.
    case cached
    /// A coordinator and so many workers of one thread, all of which it waits for.
    case workers(Int)
    /// Two threads of the coordinator itself, and a worker with three.
    case localWorkers
    /// The lower blocks' outputs are kept in a file, whose rows are all new.
    case keepingFeatures
    /// They are read from it, after `keepingFeatures`.
    case readingFeatures

    /// Weights that are dequantized as they are needed, and activations that are computed again.
    static let spare = ["--weights", "streamed", "--gradient-checkpointing", "--threads", "2"]
    static let sparing = LawWay.alone(spare)

    /// All that need neither a frozen block nor references.
    static let whole: [LawWay] =
        [
            ["--threads", "2"],
            ["--threads", "5"],
            ["--weights", "resident"],
            ["--weights", "streamed", "--threads", "2"],
            ["--gradient-checkpointing", "--threads", "2"],
            ["--weights", "streamed", "--gradient-checkpointing", "--threads", "3"],
        ].map { .alone($0) } + [1, 2, 3, 5, 7].map { .workers($0) } + [.localWorkers]
}
