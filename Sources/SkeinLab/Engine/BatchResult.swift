import SkeinBasics
import SkeinJSON
import SkeinModels
import SkeinTensors

/// Answers of several sequences at once, measured.
struct BatchResult: Sendable, Equatable {
    /// One number of sequences.
    struct Run: Sendable, Equatable {
        var sequences: Int
        /// All answers together.
        var decode: [Timing] = []
        /// FLOP/s of multiply-adds in registers, on all threads at once, just before.
        var peakRates: [Double] = []
    }

    /// The number format of prompts.
    var compute: ComputeType
    var cacheType: CacheType
    var threads: Int
    var promptTokens: Int
    /// Tokens of each answer.
    var tokens: Int
    /// Floating-point operations of a token's products with the weights, without attention.
    var operationsPerToken: Int
    /// Bytes besides the weights, as the plan states them.
    var memoryBytes: Int
    /// The first is one sequence alone.
    var runs: [Run]
    /// Seconds of steps in which a long prompt was read beside the answers.
    var waits: [Double] = []

    /// Tokens per second, of all sequences together.
    func rate(_ run: Run) -> Double {
        Measurement(seconds: run.decode.map(\.seconds)).rate(of: run.sequences * tokens)
    }

    /// Tokens per second by processor time, as if all threads had a processor all the time.
    func processorRate(_ run: Run) -> Double {
        let seconds = Measurement.median(of: run.decode.map(\.processorSeconds))
        return seconds > 0 ? Double(run.sequences * tokens * threads) / seconds : 0
    }

    /// The rate beside that of one sequence: the median of the repetitions' ratios.
    func gain(_ run: Run) -> Double {
        Measurement.median(
            of: zip(runs[0].decode, run.decode).map {
                $0.seconds * Double(run.sequences) / max($1.seconds, .leastNormalMagnitude)
            })
    }

    /// The share of the rate of multiply-adds in registers: the median of the repetitions' shares.
    func share(_ run: Run) -> Double {
        Measurement.median(
            of: zip(run.decode, run.peakRates).map { timing, peak in
                Double(run.sequences * tokens * operationsPerToken)
                    / max(timing.seconds * peak, .leastNormalMagnitude)
            })
    }

    func waitLine(answers: Int) -> String {
        guard let longest = waits.max() else { return "no prompt was read meanwhile" }
        return "while a prompt of \(promptTokens) is read, \(answers) answers get a token every "
            + "\(Figures.seconds(Measurement.median(of: waits))), at most "
            + Figures.seconds(longest)
    }

    var json: [(String, JSONValue)] {
        [
            ("compute", .text(compute.rawValue)), ("cache_type", .text(cacheType.rawValue)),
            ("threads", .integer(threads)), ("prompt_tokens", .integer(promptTokens)),
            ("tokens", .integer(tokens)), ("repetitions", .integer(runs[0].decode.count)),
            ("memory_bytes", .integer(memoryBytes)),
            ("sequences", .list(runs.map { .integer($0.sequences) })),
            ("tokens_per_second", .list(runs.map { .decimal(rate($0)) })),
            ("by_processor_time", .list(runs.map { .decimal(processorRate($0)) })),
            ("gain", .list(runs.map { .decimal(gain($0)) })),
            ("share", .list(runs.map { .decimal(share($0)) })),
            ("wait_seconds", .decimal(Measurement.median(of: waits))),
            ("longest_wait_seconds", .decimal(waits.max() ?? 0)),
        ]
    }

    /// Columns: labels, then one for each number of sequences.
    var table: [[String]] {
        func row(_ label: String, _ text: (Run) -> String) -> [String] {
            [label] + runs.map(text)
        }
        return [
            row("sequences") { String($0.sequences) },
            row("tokens/s, all") { Figures.significant(rate($0)) },
            row("slowest - fastest") {
                Figures.percent(Measurement(seconds: $0.decode.map(\.seconds)).spread)
            },
            row("by processor time") { Figures.significant(processorRate($0)) },
            row("times one alone") { Figures.significant(gain($0)) },
            row("limit: rate") {
                Figures.rate(Measurement.median(of: $0.peakRates), unit: "FLOP")
            },
            row("share") { Figures.percent(share($0)) },
        ]
    }
}
