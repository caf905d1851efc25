import Foundation
import SkeinBasics

/// Runs a coordinator and three workers on a real model again and again, kills and stops workers at
/// random moments, and demands that each run ends with the bytes of a quiet one.
package struct RecoveryBench {
    struct Plan: Sendable {
        /// SIGKILLs in all; a SIGSTOP follows every second one.
        var kills: Int
        /// Steps of each run.
        var steps: Int
        var seed: UInt64

        /// Short rows and micro-batches of one row: what is measured is the cluster, not the model.
        var training: [String] {
            [
                "--iterations", String(steps), "--max-length", "64", "--micro-batch-tokens", "64",
                "--batch-size", "8", "--validation-split", "0", "--learning-rate", "1e-3",
                "--checkpoint-every", "20",
            ]
        }

        static let workers = ["w1", "w2", "w3"]

        /// The kind of the blow with this number.
        func kind(ofBlow number: Int) -> Blow.Kind { number % 3 == 2 ? .stop : .kill }
        var stops: Int { kills / 2 }
        var blows: Int { kills + stops }
    }

    private let work: Workload
    private let plan: Plan
    private let log: Log
    private let began = ContinuousClock.now

    package init(_ work: Workload, kills: Int, steps: Int, seed: UInt64, log: Log) {
        self.work = work
        plan = Plan(kills: kills, steps: steps, seed: seed)
        self.log = log
    }

    /// Strikes all blows, over as many runs as it takes.
    ///
    /// - Throws: `BenchError` when a run does not end, or not as a quiet one does.
    func run() throws -> RecoveryResult {
        log.info("a quiet run of \(Figures.count(plan.steps, "step")) (seed \(plan.seed))")
        try work.train("quiet", plan.training)
        let expected = try work.adapterDigest(of: "quiet")
        var record = RecoveryRecord()
        var given = 0
        var runs = 0
        while given < plan.blows {
            runs += 1
            let name = "run-\(runs)"
            var lap = try RecoveryRun(work, plan, output: name, firstBlow: given, began: began)
            let (facts, blows) = try lap.run()
            record.add(RecoveryRecord(facts, blows))
            guard try work.adapterDigest(of: name) == expected else {
                throw BenchError.failed(
                    what: "the adapter differs from that of a quiet run", place: work.path(name))
            }
            try work.verifyLedger(of: name)
            guard !blows.isEmpty else {
                throw BenchError.failed(
                    what: "a run ended before any worker could be killed", place: work.path(name))
            }
            given += blows.count
            log.info(
                "\(name): \(blows.count) blows, \(given) of \(plan.blows); the same adapter, the "
                    + "ledger is good (\(Figures.seconds(seconds)))")
        }
        return RecoveryResult(
            record: record, kills: plan.kills, stops: plan.stops, runs: runs, seed: plan.seed,
            seconds: seconds)
    }

    private var seconds: Double { (ContinuousClock.now - began) / .seconds(1) }

    /// Strikes all blows.
    ///
    /// - Returns: the figures, with a failure when one of them misses its bar.
    /// - Throws: as `run`.
    package func report() throws -> BenchReport {
        let result = try run()
        var report = BenchReport(
            .current(), result.json,
            [
                "\(Figures.count(result.kills, "SIGKILL")) and "
                    + "\(Figures.count(result.stops, "SIGSTOP")) in "
                    + "\(Figures.count(result.runs, "run")) of 3 workers with one thread each, "
                    + "seed \(result.seed), \(Figures.seconds(result.seconds)); each run gave the "
                    + "adapter of a quiet one"
            ], result.table)
        report.failure = result.missed.first.map {
            .failed(what: "too slow: \($0.text)", place: "bench recovery")
        }
        return report
    }
}
