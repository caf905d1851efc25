import Foundation
import SkeinBasics
import SkeinFormats
import SkeinLaunch
import SkeinTraining

/// Runs a coordinator and three workers on a real model again and again, kills and stops workers
/// at random moments, and demands the bytes of a quiet run at the end of each.
struct RecoveryBench {
    struct Plan: Sendable, Equatable {
        var program: String
        var model: String
        var data: String
        /// An empty folder for the runs.
        var directory: String
        /// SIGKILLs in all; after every second one a SIGSTOP comes.
        var kills: Int
        /// Steps of each run.
        var steps: Int
        var seed: UInt64

        /// Short rows and micro-batches of one row: what is measured is the cluster, not the model.
        var training: [String] {
            [
                "--model", model, "--data", data, "--iterations", String(steps), "--max-length",
                "64", "--micro-batch-tokens", "64", "--batch-size", "8", "--validation-split", "0",
                "--learning-rate", "1e-3", "--checkpoint-every", "20",
            ]
        }

        static let workers = ["w1", "w2", "w3"]

        /// The blow of this number, without its moment.
        func kind(ofBlow number: Int) -> Blow.Kind { number % 3 == 2 ? .stop : .kill }
        var stops: Int { kills / 2 }
        var blows: Int { kills + stops }
    }

    private let plan: Plan
    private let io: CommandIO
    private let began = ContinuousClock.now

    init(_ plan: Plan, io: CommandIO) {
        self.plan = plan
        self.io = io
    }

    /// Gives all blows, over as many runs as it takes.
    ///
    /// - Throws: `CommandError` when a run ends otherwise than a quiet one, or does not end.
    func run() throws -> RecoveryResult {
        io.log.info("a quiet run of \(Figures.count(plan.steps, "step")) (seed \(plan.seed))")
        try finish("train", ["train"] + plan.training + ["--output", path("quiet")])
        let expected = try adapterDigest("quiet")
        var record = RecoveryRecord()
        var given = 0
        var runs = 0
        while given < plan.blows {
            runs += 1
            let name = "run-\(runs)"
            var lap = RecoveryRun(
                plan, output: path(name), firstBlow: given, io: io, began: began)
            let (facts, blows) = try lap.run()
            record.add(RecoveryRecord(facts, blows))
            guard try adapterDigest(name) == expected else {
                throw CommandError.benchFailed(
                    what: "the adapter differs from that of a quiet run", place: path(name))
            }
            try finish("inspect", ["inspect", "--verify-ledger", path(name)])
            guard !blows.isEmpty else {
                throw CommandError.benchFailed(
                    what: "a run ended before any worker could be killed", place: path(name))
            }
            given += blows.count
            io.log.info(
                "\(name): \(blows.count) blows, \(given) of \(plan.blows); the same adapter, the "
                    + "ledger is good (\(Figures.seconds(seconds)))")
        }
        return RecoveryResult(
            record: record, kills: plan.kills, stops: plan.stops, runs: runs, seed: plan.seed,
            seconds: seconds)
    }

    private var seconds: Double { (ContinuousClock.now - began) / .seconds(1) }

    private func path(_ name: String) -> String { plan.directory + "/" + name }

    private func adapterDigest(_ name: String) throws -> SHA256.Digest {
        try MappedFile(path: path(name) + "/adapter/" + AdapterFiles.weightsName).withBytes {
            SHA256.digest(of: $0)
        }
    }

    /// Runs a command to its good end.
    private func finish(_ name: String, _ words: [String]) throws {
        var child = try LoggedChild(name, [plan.program] + words)
        child.wait(seconds: 1800)
        try child.demandSuccess(io)
    }
}

extension LoggedChild {
    /// Throws `CommandError.benchFailed` for one that has ended otherwise than with 0.
    func demandSuccess(_ io: CommandIO) throws {
        guard let ending, ending != .exited(0) else { return }
        for line in lastLines { io.writeError("[\(name)] \(line)\n") }
        throw CommandError.benchFailed(
            what: "\(name) ended with \(ending.text); its last lines stand above",
            place: "skein bench")
    }
}
