import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinTraining

/// How long a resumed run takes to check its records:
///
///     SKEIN_LEDGER_BENCH=200000 swift test -c release --filter LedgerBench
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["SKEIN_LEDGER_BENCH"] != nil,
        "SKEIN_LEDGER_BENCH tells how many steps"))
struct LedgerBench {
    @Test("ledger and metrics of a long run")
    func resume() throws {
        let text = ProcessInfo.processInfo.environment["SKEIN_LEDGER_BENCH"] ?? ""
        let steps = try #require(Int(text))
        // Rows of 100 to 499 tokens, four a step: one to four micro-batches.
        let plan = StepPlan(
            lengths: (0..<40_000).map { 100 + $0 * 7919 % 400 }, batchSize: 4,
            microBatchTokens: 512, seed: 1, shuffles: true, epochs: 1, iterations: steps)
        try TestPaths.withTemporaryDirectory { directory in
            let paths = (directory + "/ledger.jsonl", directory + "/metrics.jsonl")
            let lines = try write(plan, to: paths)
            for _ in 0..<3 {
                let began = ContinuousClock.now
                _ = try Ledger(path: paths.0, keepingThroughStep: steps)
                _ = try Metrics(path: paths.1, keepingThroughStep: steps)
                let opened = ContinuousClock.now
                let counts = plan.steps().prefix(steps).map(\.microBatches.count)
                let counted = ContinuousClock.now
                let report = try Ledger.verify(
                    ledger: paths.0, metrics: paths.1, doneSteps: steps,
                    microBatchCount: { counts[$0 - 1] })
                let verified = ContinuousClock.now
                #expect(report.findingCount == 0 && report.steps == steps)
                print(
                    "\(steps) steps, \(lines) ledger lines: opened \(opened - began), "
                        + "plan \(counted - opened), verified \(verified - counted)")
            }
        }
    }

    /// - Returns: the number of lines of the ledger.
    private func write(_ plan: StepPlan, to paths: (String, String)) throws -> Int {
        let digest = String(repeating: "0123456789abcdef", count: 4)
        var ledger: [UInt8] = []
        var metrics: [UInt8] = []
        var lines = 0
        for step in plan.steps() {
            var tree = ReductionTree(count: step.microBatches.count)
            for index in step.microBatches.indices {
                let loss = 100 + Double(step.step % 977) / 7 + Double(index) / 3
                let entry = LedgerEntry(
                    step: step.step, microBatch: index, worker: "worker-\(index)", attempt: 1,
                    tokens: 200, lossTokens: 50, lossSum: loss, gradientDigest: digest)
                ledger += Array((entry.line.written + "\n").utf8)
                tree.add(
                    index,
                    GradientSum(tokens: 200, lossTokens: 50, lossSum: loss, gradient: []))
                lines += 1
            }
            let sum = try #require(tree.total)
            let line = StepMetrics(
                step: step.step, epoch: step.epoch, loss: sum.lossSum / Double(sum.lossTokens),
                tokens: sum.tokens, lossTokens: sum.lossTokens,
                learningRate: 1e-4 / Double(step.step), gradientNorm: 0.1 + 1 / Double(step.step),
                seconds: 1.0 / 3 + Double(step.step % 13), tokensPerSecond: 1000.0 / 7, workers: 4)
            metrics += Array((line.line.written + "\n").utf8)
        }
        try AtomicFile.write(ledger, to: paths.0)
        try AtomicFile.write(metrics, to: paths.1)
        return lines
    }
}
