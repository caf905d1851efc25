import SkeinBasics
import SkeinJSON

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
    /// Those of the products with frozen weights, which are also measured alone.
    var wideOperations: Int
    /// Trained numbers.
    var parameters: Int
    /// Whole steps.
    var step: [Timing]
    /// The products with frozen weights of all micro-batches and nothing else, on as many threads
    /// at once.
    var productsAlone: [Timing]
    /// Operations of all threads in one timing of `peak`.
    var peakOperations: Int
    /// Multiply-adds in registers and nothing else, on as many threads at once: the limit.
    var peak: [Timing]
    /// SHA-256 of one micro-batch's gradient.
    var hash: Measurement
    var reduction: Measurement
    var optimizer: Measurement

    /// The least share of the limit that is accepted.
    static let wantedShare = 0.8
    /// The largest share of hashing that is accepted.
    static let allowedHashShare = 0.01

    /// Tokens of a micro-batch.
    var tokens: Int { rowTokens.reduce(0, +) }
    var stepTime: Measurement { Measurement(seconds: step.map(\.seconds)) }
    var productsTime: Measurement { Measurement(seconds: productsAlone.map(\.seconds)) }
    var tokensPerSecond: Double { stepTime.rate(of: tokens * threads) }
    /// FLOP/s of the products over the whole step.
    var rate: Double { stepTime.rate(of: operations * threads) }
    /// FLOP/s of the products with frozen weights alone.
    var rateAlone: Double { productsTime.rate(of: wideOperations * threads) }
    /// FLOP/s of the registers: the limit.
    var peakRate: Double {
        Measurement(seconds: peak.map(\.seconds)).rate(of: peakOperations)
    }
    var share: Double { Self.ratio(rate, peakRate) }
    var shareAlone: Double { Self.ratio(rateAlone, peakRate) }

    /// The same share by processor time, which also holds on a machine that others use.
    var processorShare: Double {
        let limit = Measurement.median(of: peak.map(\.processorSeconds))
        let whole = Measurement.median(of: step.map(\.processorSeconds))
        return Self.ratio(Double(operations * threads) * limit, Double(peakOperations) * whole)
    }

    /// Part of the steps' time in which the threads had a processor; well below 1 when the machine
    /// was busy with something else, and then no wall time means much.
    var processorPresence: Double {
        Self.ratio(
            step.reduce(0) { $0 + $1.processorSeconds },
            step.reduce(0) { $0 + $1.seconds } * Double(threads))
    }

    /// The share of hashing in a step: each thread hashes one gradient.
    var hashShare: Double {
        let processor = Measurement.median(of: step.map(\.processorSeconds))
        return Self.ratio(hash.median * Double(threads), processor)
    }

    private static func ratio(_ part: Double, _ whole: Double) -> Double {
        whole > 0 ? part / whole : 0
    }

    var json: JSONValue {
        .fields([
            ("mix", .text(mix.rawValue)), ("row_tokens", .list(rowTokens.map { .integer($0) })),
            ("tokens", .integer(tokens)), ("loss_tokens", .integer(lossTokens)),
            ("threads", .integer(threads)), ("parameters", .integer(parameters)),
            ("repetitions", .integer(step.count)),
            ("step_seconds", .decimal(stepTime.median)), ("step_spread", .decimal(stepTime.spread)),
            ("tokens_per_second", .decimal(tokensPerSecond)),
            ("operations", .integer(operations * threads)),
            ("wide_operations", .integer(wideOperations * threads)),
            ("flops_in_step", .decimal(rate)),
            ("products_seconds", .decimal(productsTime.median)),
            ("products_spread", .decimal(productsTime.spread)),
            ("flops_alone", .decimal(rateAlone)), ("share_alone", .decimal(shareAlone)),
            ("flops_of_registers", .decimal(peakRate)), ("share", .decimal(share)),
            ("processor_share", .decimal(processorShare)),
            ("processor_presence", .decimal(processorPresence)),
            ("wanted_share", .decimal(Self.wantedShare)),
            ("hash_seconds", .decimal(hash.median)), ("hash_share", .decimal(hashShare)),
            ("allowed_hash_share", .decimal(Self.allowedHashShare)),
            ("reduction_seconds", .decimal(reduction.median)),
            ("optimizer_seconds", .decimal(optimizer.median)),
        ])
    }

    /// Columns: labels, then one for each result.
    static func table(_ results: [StepResult]) -> [[String]] {
        func row(_ label: String, _ cell: (StepResult) -> String) -> [String] {
            [label] + results.map(cell)
        }
        return [
            row("mix") { $0.mix.rawValue },
            row("tokens of each row") { $0.rowTokens.map(String.init).joined(separator: " + ") },
            row("tokens, with loss") { "\($0.tokens), \($0.lossTokens)" },
            row("step") { Figures.seconds($0.stepTime.median) },
            row("slowest - fastest") { Figures.percent($0.stepTime.spread) },
            row("tokens/s") { Figures.significant($0.tokensPerSecond) },
            row("products in the step") { Figures.rate($0.rate, unit: "FLOP") },
            row("limit: in registers") { Figures.rate($0.peakRate, unit: "FLOP") },
            row("share (wanted: 80 %)") { Figures.percent($0.share) },
            row("by processor time") { Figures.percent($0.processorShare) },
            row("with weights, alone") { Figures.rate($0.rateAlone, unit: "FLOP") },
            row("their share") { Figures.percent($0.shareAlone) },
            row("threads had a processor") { Figures.percent($0.processorPresence) },
            row("hash of a gradient") { Figures.seconds($0.hash.median) },
            row("of the step (below 1 %)") { Figures.percent($0.hashShare) },
            row("reduction") { Figures.seconds($0.reduction.median) },
            row("optimizer") { Figures.seconds($0.optimizer.median) },
        ]
    }
}
