/// Sizes that kernels are measured at: those of SmolLM2-135M, and one row of `tokens` tokens.
struct KernelSizes: Sendable, Equatable {
    var tokens = 512
    var width = 576
    var feedForward = 1536
    var heads = 9
    var keyValueHeads = 3
    var headDimension = 64
    var vocabulary = 49152
    var rank = 8
    /// Logit rows that a training step holds at once, and the vocabulary rows of one product.
    var headRows = 128
    var headPanel = 8192
    /// Numbers in a rank-8 adapter on q, k, v and o of all 30 layers.
    var adapter = 921_600

    var keyValueWidth: Int { keyValueHeads * headDimension }
}
