import Foundation
import SkeinBasics
import SkeinModels
import SkeinRows
import SkeinTensors
import SkeinTestSupport
import SkeinText
import SkeinTraining
import Testing

@testable import SkeinLab

/// What a benchmark computes and prints; no test asks how fast it is.
@Suite struct EngineTests {
    @Test("a median is the middle value, or the mean of the two middle ones")
    func median() {
        #expect(Measurement.median(of: []) == 0)
        #expect(Measurement.median(of: [3]) == 3)
        #expect(Measurement.median(of: [9, 1, 2]) == 2)
        #expect(Measurement.median(of: [8, 1, 2, 4]) == 3)
        let measurement = Measurement(seconds: [2, 4, 3])
        #expect(measurement.rate(of: 12) == 4)
        #expect(measurement.spread == 2.0 / 3)
        #expect(Measurement(seconds: []).rate(of: 12) == 0)
        #expect(Measurement(seconds: [0]).spread == 0)
    }

    @Test("short work is repeated until the clock's steps do not matter")
    func repeats() {
        #expect(Stopwatch.repeats(once: 0.5, minimum: 0.02) == 1)
        #expect(Stopwatch.repeats(once: 0.0003, minimum: 0.02) == 67)
        #expect(Stopwatch.repeats(once: 0, minimum: 0.02) == 1_000_000)
        #expect(Stopwatch.repeats(once: 0, minimum: 0) == 1)
        var calls = 0
        let effort = Effort(repetitions: 3, minimumSeconds: 0)
        #expect(Stopwatch.measure(effort) { calls += 1 }.seconds.count == 3)
        #expect(calls == 4)
    }

    @Test("rows are as long as the demo's, and the dense micro-batch is one row")
    func mixes() {
        #expect(RowMix.dense.lengths(tokens: 512) == [512])
        #expect(RowMix.rows.lengths(tokens: 512) == [121, 181, 242])
        #expect(RowMix.rows.lengths(tokens: 182) == [182])
        #expect(RowMix.rows.lengths(tokens: 40) == [40])
        for mix in RowMix.allCases {
            #expect(mix.lengths(tokens: 1) == [2])
            for tokens in [364, 1024, 4096] {
                let sum = mix.lengths(tokens: tokens).reduce(0, +)
                #expect(abs(sum - tokens) <= RowMix.rowTokens)
            }
        }
        let rows = RowMix.rows.rows(tokens: 512, vocabulary: 320, number: 6)
        #expect(rows.map(\.ids.count) == [121, 181, 242])
        #expect(rows.map(\.number) == [6, 7, 8])
        #expect(rows.map(\.lossTokenCount) == [61, 91, 121])
        #expect(rows.allSatisfy { $0.ids.allSatisfy { (0..<320).contains($0) } })
        let dense = RowMix.dense.rows(tokens: 512, vocabulary: 320, number: 0)
        #expect(dense.map(\.lossTokenCount) == [511])
    }

    @Test("the processor's name is the first one, without double blanks")
    func processor() {
        let text = "processor\t: 0\nmodel name\t: Intel(R)  Xeon(R) @ 2 GHz\nmodel name\t: other\n"
        #expect(Machine.processorName(in: text) == "Intel(R) Xeon(R) @ 2 GHz")
        #expect(Machine.processorName(in: "Features\t: fp asimd\n") == nil)
    }

    @Test("a replay has the products that were counted")
    func replay() throws {
        let tally = MatMulTally()
        let counted = MatMul(tally: tally)
        let a = Operands.buffer(6 * 4, stream: 0)
        let b = Operands.buffer(4 * 5, stream: 1)
        let c = FloatBuffer(count: 6 * 5)
        for _ in 0..<3 {
            counted(
                m: 6, n: 5, k: 4, a.base, strideA: 4, b.base, .transposed, strideB: 4,
                into: c.base, strideC: 5)
        }
        let replay = try ProductReplay(tally.counts)
        #expect(replay.products == [.init(m: 6, n: 5, k: 4, transposedB: true, count: 3)])
        #expect(replay.operations == 3 * 2 * 6 * 5 * 4)
        #expect(replay.operations == tally.operations)
        replay.run()
    }

    @Test("every kernel runs at small sizes, also with a single token", arguments: [1, 40])
    func kernels(tokens: Int) throws {
        let sizes = KernelSizes(
            tokens: tokens, width: 64, feedForward: 96, heads: 4, keyValueHeads: 2,
            headDimension: 16, vocabulary: 130, rank: 2, headRows: 3, headPanel: 70, adapter: 100)
        let results = try KernelBench(sizes: sizes).run(Effort(repetitions: 1, minimumSeconds: 0))
        #expect(Set(results.map(\.name)).count == results.count)
        #expect(results.map(\.unit).contains("FLOP") && results.map(\.unit).contains("B"))
        for result in results {
            #expect(result.rate.isFinite && result.limit.isFinite, "\(result.name)")
            #expect(result.cells.count == KernelResult.heading.count)
        }
    }

    @Test("a tokenizer is measured on the rows of a file, or else on given texts")
    func tokenize() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let (model, data) = (directory + "/tiny.gguf", directory + "/rows.jsonl")
            try TinyModel().writeGGUF(to: model)
            try AtomicFile.write(
                """
                {"prompt":"one","completion":"two"}
                {"prompt":[{"role":"user","content":"three"}], \
                "completion":[{"role":"assistant","content":"four"}]}

                """, to: data)
            let effort = Effort(repetitions: 1, minimumSeconds: 0)
            let bench = try TokenizeBench(modelPath: model, dataPath: data) { [] }
            #expect(bench.texts == ["one", "two", "three", "four"])
            let result = try bench.run(effort)
            #expect(result.bytes == 15 && result.texts == 4)
            let tokens = try bench.texts.reduce(0) { try $0 + bench.tokenizer.ids(of: $1).count }
            #expect(result.tokens == tokens)
            #expect(result.rate.isFinite && result.limit.isFinite)
            #expect(result.table.allSatisfy { $0.count == result.table[0].count })
            let pages = try TokenizeBench(modelPath: model, dataPath: nil) { ["five"] }
            #expect(pages.texts == ["five"])
        }
    }

    private let result = StepResult(
        mix: .rows, rowTokens: [121, 181], lossTokens: 151, threads: 2, operations: 1_000_000_000,
        wideOperations: 1_000_000_000,
        parameters: 10,
        step: [
            Timing(seconds: 0.02, processorSeconds: 0.03),
            Timing(seconds: 0.04, processorSeconds: 0.04),
            Timing(seconds: 0.03, processorSeconds: 0.02),
        ],
        productsAlone: [Timing(seconds: 0.024, processorSeconds: 0.015)],
        peakOperations: 4_000_000_000, peak: [Timing(seconds: 0.04, processorSeconds: 0.06)],
        hash: Measurement(seconds: [0.00006]), reduction: Measurement(seconds: [0.001]),
        optimizer: Measurement(seconds: [0.002]))

    @Test("a share is the rate of a step's products divided by that of loops in registers")
    func shares() {
        #expect(result.tokensPerSecond == 604 / 0.03)
        #expect(abs(result.rate - 2e9 / 0.03) < 1)
        #expect(abs(result.rateAlone - 2e9 / 0.024) < 1)
        #expect(abs(result.peakRate - 1e11) < 1)
        #expect(abs(result.share - 2.0 / 3) < 1e-12)
        #expect(abs(result.shareAlone - 5.0 / 6) < 1e-12)
        // 2e9 operations in 0.03 s beside 4e9 in 0.06 s.
        #expect(abs(result.processorShare - 1) < 1e-12)
        #expect(abs(result.processorPresence - 0.5) < 1e-12)
        #expect(abs(result.hashShare - 0.004) < 1e-12)
        let table = StepResult.table([result])
        #expect(table.contains(["tokens of each row", "121 + 181"]))
        #expect(table.contains(["share (wanted: 80 %)", "66.7 %"]))
        #expect(table.contains(["of the step (below 1 %)", "0.40 %"]))
    }

    @Test("answers together are compared with one alone in the same repetition")
    func batchGain() {
        func timing(_ seconds: Double) -> Timing {
            Timing(seconds: seconds, processorSeconds: 2 * seconds)
        }
        let result = BatchResult(
            compute: .fp32, cacheType: .fp32, threads: 2, promptTokens: 100, tokens: 10,
            operationsPerToken: 1_000_000, memoryBytes: 5,
            runs: [
                .init(
                    sequences: 1, decode: [0.1, 0.2, 0.3].map(timing), peakRates: [1e9, 1e9, 1e9]),
                .init(
                    sequences: 4, decode: [0.2, 0.4, 0.3].map(timing), peakRates: [4e8, 2e8, 1e9]),
            ], waits: [0.1, 0.3, 0.2])
        #expect(abs(result.rate(result.runs[0]) - 50) < 1e-9)
        #expect(abs(result.processorRate(result.runs[1]) - 40 / 0.3) < 1e-9)
        #expect(abs(result.gain(result.runs[1]) - 2) < 1e-9)
        #expect(abs(result.share(result.runs[1]) - 0.5) < 1e-9)
        #expect(result.table.allSatisfy { $0.count == 3 })
        #expect(result.waitLine(answers: 4).hasSuffix("every 200 ms, at most 300 ms"))
    }

    @Test("a prompt's limit is the registers' rate, an answer's the memory's")
    func generateLimits() {
        let result = GenerateResult(
            compute: .fp32, promptTokens: 100, tokens: 10, threads: 2, load: 0.5,
            operationsPerToken: 1_000_000,
            bytesPerToken: 2_000_000, prompt: [Timing(seconds: 0.2, processorSeconds: 0.3)],
            decode: [Timing(seconds: 0.05, processorSeconds: 0.1)], peakRates: [1e9, 4e9, 2e9],
            memoryRates: [1e9], peakBytes: 5)
        #expect(abs(result.promptRate - 500) < 1e-9)
        #expect(abs(result.promptLimit - 2000) < 1e-9)
        #expect(abs(result.promptShare - 0.25) < 1e-12)
        #expect(abs(result.decodeRate - 200) < 1e-9)
        #expect(abs(result.decodeLimit - 500) < 1e-9)
        #expect(abs(result.decodeShare - 0.4) < 1e-12)
        #expect(abs(result.processorPresence(result.prompt) - 0.75) < 1e-12)
        #expect(result.table.allSatisfy { $0.count == 3 })
        #expect(result.table.contains(["limit: tokens/s", "2000", "500"]))
    }
}
