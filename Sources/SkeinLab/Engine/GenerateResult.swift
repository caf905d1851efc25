import SkeinBasics
import SkeinJSON
import SkeinModels

/// Prompts and answers of one model, measured.
struct GenerateResult: Sendable, Equatable {
    /// The number format of the prompt's products.
    var compute: ComputeType
    var promptTokens: Int
    /// Tokens in an answer; all of them are computed.
    var tokens: Int
    var threads: Int
    /// Seconds from the file to the first token.
    var load: Double
    /// Floating-point operations of a prompt token's projections, without attention.
    var operationsPerToken: Int
    /// Bytes of weights and cache that a token in the middle of the answer reads.
    var bytesPerToken: Int
    /// Whole prompts.
    var prompt: [Timing] = []
    /// Whole answers.
    var decode: [Timing] = []
    /// FLOP/s of multiply-adds in registers, on all threads at once.
    var peakRates: [Double] = []
    /// B/s of reading as much memory as a token does, on all threads at once.
    var memoryRates: [Double] = []
    /// The most memory that the process ever used.
    var peakBytes: Int?

    var promptTime: Measurement { Measurement(seconds: prompt.map(\.seconds)) }
    var decodeTime: Measurement { Measurement(seconds: decode.map(\.seconds)) }
    var promptRate: Double { promptTime.rate(of: promptTokens) }
    var decodeRate: Double { decodeTime.rate(of: tokens) }
    /// Tokens per second by processor time, as if all threads had a processor all the time: this
    /// also holds on a machine that others use. Threads that wait for each other count as busy.
    func processorRate(of tokens: Int, _ timings: [Timing]) -> Double {
        let seconds = Measurement.median(of: timings.map(\.processorSeconds))
        return seconds > 0 ? Double(tokens * threads) / seconds : 0
    }

    var memoryRate: Double { Measurement.median(of: memoryRates) }
    var peakRate: Double { Measurement.median(of: peakRates) }

    /// Prompt tokens per second if nothing but the projections were computed, at `peakRate`.
    var promptLimit: Double {
        operationsPerToken > 0 ? peakRate / Double(operationsPerToken) : 0
    }

    /// Tokens per second if nothing but reading memory took time.
    var decodeLimit: Double { bytesPerToken > 0 ? memoryRate / Double(bytesPerToken) : 0 }
    var promptShare: Double { promptLimit > 0 ? promptRate / promptLimit : 0 }
    var decodeShare: Double { decodeLimit > 0 ? decodeRate / decodeLimit : 0 }

    /// Part of the time in which the threads had a processor.
    func processorPresence(_ timings: [Timing]) -> Double {
        let wall = timings.reduce(0) { $0 + $1.seconds } * Double(threads)
        return wall > 0 ? timings.reduce(0) { $0 + $1.processorSeconds } / wall : 0
    }

    var json: [(String, JSONValue)] {
        [
            ("compute", .text(compute.rawValue)), ("threads", .integer(threads)),
            ("prompt_tokens", .integer(promptTokens)),
            ("tokens", .integer(tokens)), ("repetitions", .integer(decode.count)),
            ("load_seconds", .decimal(load)),
            ("prompt_tokens_per_second", .decimal(promptRate)),
            ("prompt_spread", .decimal(promptTime.spread)),
            ("flops_of_registers", .decimal(peakRate)),
            ("prompt_limit", .decimal(promptLimit)),
            ("prompt_share", .decimal(promptShare)),
            ("prompt_by_processor_time", .decimal(processorRate(of: promptTokens, prompt))),
            ("prompt_processor_presence", .decimal(processorPresence(prompt))),
            ("decode_tokens_per_second", .decimal(decodeRate)),
            ("decode_spread", .decimal(decodeTime.spread)),
            ("bytes_per_token", .integer(bytesPerToken)),
            ("memory_bytes_per_second", .decimal(memoryRate)),
            ("decode_limit", .decimal(decodeLimit)), ("decode_share", .decimal(decodeShare)),
            ("decode_by_processor_time", .decimal(processorRate(of: tokens, decode))),
            ("decode_processor_presence", .decimal(processorPresence(decode))),
            ("peak_bytes", peakBytes.map { .integer($0) } ?? .null),
        ]
    }

    /// Columns: labels, the prompt, the answer.
    var table: [[String]] {
        [
            ["", "prompt", "answer"],
            ["tokens", String(promptTokens), String(tokens)],
            ["time", Figures.seconds(promptTime.median), Figures.seconds(decodeTime.median)],
            [
                "slowest - fastest", Figures.percent(promptTime.spread),
                Figures.percent(decodeTime.spread),
            ],
            ["tokens/s", Figures.significant(promptRate), Figures.significant(decodeRate)],
            [
                "by processor time",
                Figures.significant(processorRate(of: promptTokens, prompt)),
                Figures.significant(processorRate(of: tokens, decode)),
            ],
            [
                "limit: rate", Figures.rate(peakRate, unit: "FLOP"),
                Figures.rate(memoryRate, unit: "B"),
            ],
            [
                "of each token",
                Figures.significant(Double(operationsPerToken) / 1e6) + " MFLOP",
                Figures.bytes(bytesPerToken),
            ],
            [
                "limit: tokens/s", Figures.significant(promptLimit),
                Figures.significant(decodeLimit),
            ],
            ["share", Figures.percent(promptShare), Figures.percent(decodeShare)],
            [
                "threads had a processor", Figures.percent(processorPresence(prompt)),
                Figures.percent(processorPresence(decode)),
            ],
        ]
    }
}
