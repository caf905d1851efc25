import Basics

/// Training steps over one mix of rows, measured.
struct StepResult: Sendable, Equatable {
    var mix: RowMix
    /// Tokens of each row of a micro-batch.
    var rowTokens: [Int]
    /// Loss tokens of a micro-batch.
    var lossTokens: Int
    /// Micro-batches of a step, one on each thread.
    var threads: Int
    /// Floating-point operations of all matrix products of a micro-batch.
    var operations: Int
    /// Trained numbers.
    var parameters: Int
    var step: Measurement
    /// The products of all threads' micro-batches and nothing else, as many threads at once.
    var productsAlone: Measurement
    /// SHA-256 of one micro-batch's gradient.
    var hash: Measurement
    var reduction: Measurement
    var optimizer: Measurement

    /// The least that issue 2 accepts.
    static let wantedShare = 0.6
    /// The most that issue 2 accepts.
    static let allowedHashShare = 0.01

    /// Tokens of a micro-batch.
    var tokens: Int { rowTokens.reduce(0, +) }
    var tokensPerSecond: Double { step.rate(of: tokens * threads) }
    /// FLOP/s of the products over the whole step.
    var rate: Double { step.rate(of: operations * threads) }
    /// FLOP/s of the same products alone.
    var rateAlone: Double { productsAlone.rate(of: operations * threads) }
    var share: Double { rateAlone > 0 ? rate / rateAlone : 0 }
    /// Each thread hashes one gradient in each step.
    var hashShare: Double { step.median > 0 ? hash.median / step.median : 0 }

    var json: JSONLine.Value {
        .object([
            ("mix", .string(mix.rawValue)), ("row_tokens", .array(rowTokens.map { .integer($0) })),
            ("tokens", .integer(tokens)), ("loss_tokens", .integer(lossTokens)),
            ("threads", .integer(threads)), ("repetitions", .integer(step.seconds.count)),
            ("step_seconds", .number(step.median)), ("step_spread", .number(step.spread)),
            ("tokens_per_second", .number(tokensPerSecond)),
            ("operations", .integer(operations * threads)), ("flops_in_step", .number(rate)),
            ("products_seconds", .number(productsAlone.median)),
            ("products_spread", .number(productsAlone.spread)),
            ("flops_alone", .number(rateAlone)), ("share", .number(share)),
            ("wanted_share", .number(Self.wantedShare)),
            ("hash_seconds", .number(hash.median)), ("hash_share", .number(hashShare)),
            ("allowed_hash_share", .number(Self.allowedHashShare)),
            ("reduction_seconds", .number(reduction.median)),
            ("optimizer_seconds", .number(optimizer.median)),
        ])
    }

    /// Labels in the first column, a column for each result.
    static func table(_ results: [StepResult]) -> [[String]] {
        func row(_ label: String, _ cell: (StepResult) -> String) -> [String] {
            [label] + results.map(cell)
        }
        return [
            row("mix") { $0.mix.rawValue },
            row("tokens of each row") { $0.rowTokens.map(String.init).joined(separator: " + ") },
            row("tokens, with loss") { "\($0.tokens), \($0.lossTokens)" },
            row("step") { Figures.seconds($0.step.median) },
            row("slowest - fastest") { Figures.percent($0.step.spread) },
            row("tokens/s") { Figures.significant($0.tokensPerSecond) },
            row("products in the step") { Figures.rate($0.rate, unit: "FLOP") },
            row("products alone") { Figures.rate($0.rateAlone, unit: "FLOP") },
            row("share (wanted: 60 %)") { Figures.percent($0.share) },
            row("hash of a gradient") { Figures.seconds($0.hash.median) },
            row("of the step (below 1 %)") { Figures.percent($0.hashShare) },
            row("reduction") { Figures.seconds($0.reduction.median) },
            row("optimizer") { Figures.seconds($0.optimizer.median) },
        ]
    }
}
