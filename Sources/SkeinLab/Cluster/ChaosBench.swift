import Foundation
import SkeinBasics
import SkeinJSON

/// One hash, whichever processes compute or die: a short run in one process and in clusters that are
/// left alone, and in clusters whose members are killed and stopped at random moments.
package final class ChaosBench {
    /// A case that succeeded.
    package struct Line: Sendable {
        package static let heading = text("case", "SHA-256 of the adapter", "ledger", "time")
        var title: String
        var digest: SHA256.Digest
        var seconds: Double

        package var text: String { Self.text(title, "\(digest)", "ok", "\(Int(seconds)) s") }

        package var json: [(String, JSONValue)] {
            [
                ("case", .text(title)), ("sha256", .text("\(digest)")),
                ("seconds", .decimal(seconds)),
            ]
        }

        private static func text(
            _ title: String, _ digest: String, _ ledger: String, _ time: String
        ) -> String {
            func wide(_ text: String, _ width: Int) -> String {
                text + String(repeating: " ", count: max(0, width - text.count)) + " "
            }
            return wide(title, 34) + wide(digest, 64) + wide(ledger, 6) + time
        }
    }

    private let work: Workload
    /// How often the cases with kills run, at other moments each time.
    private let rounds: Int
    private let report: (Line) throws -> Void
    private let random: AddressedRandom
    private var draws: UInt32 = 0
    private var cases = 0
    /// Options of the cases whose adapters must be equal.
    var options: [String] = []
    private var expected: SHA256.Digest?

    /// - Parameters:
    ///   - work: what is trained.
    ///   - rounds: how often the cases with kills run.
    ///   - seed: decides the moments of the kills.
    ///   - report: called with each case that succeeded.
    package init(
        _ work: Workload, rounds: Int, seed: UInt64, report: @escaping (Line) throws -> Void
    ) {
        self.work = work
        self.rounds = rounds
        self.report = report
        random = AddressedRandom(seed: seed, purpose: .benchmark)
    }

    /// Runs all cases.
    ///
    /// - Throws: `BenchError` at the first adapter that differs or ledger that does not verify.
    package func run() throws {
        begin(codec: "fp32", compute: "fp32")
        for threads in 1...2 { try alone("train, \(Figures.count(threads, "thread"))", threads) }
        for count in [1, 2, 3, 5, 7] { try quiet("coordinator, \(count) workers", count) }
        for round in 1...rounds {
            try cluster("worker killed and back, \(round)", killedWorker)
            try cluster("worker stopped for 4 s, \(round)", stoppedWorker)
            try cluster("coordinator killed twice, \(round)") { cluster in
                try self.twice(cluster) { try cluster.restartCoordinator() }
            }
            try cluster("both killed twice, \(round)") { cluster in
                try self.twice(cluster) {
                    try cluster.restartWorker(0) { try cluster.restartCoordinator() }
                }
            }
        }
        for codec in ["bf16", "int8"] {
            begin(codec: codec, compute: "fp32")
            try alone("\(codec): train, 2 threads", 2)
            try cluster("\(codec): worker killed and back", backAtOnce)
        }
        begin(codec: "fp32", compute: "bf16")
        let products = "products in bf16: "
        for threads in 1...2 {
            try alone(products + "train, \(Figures.count(threads, "thread"))", threads)
        }
        for count in [1, 2, 5] { try quiet(products + "\(count) workers", count) }
        try cluster(products + "worker killed", backAtOnce)
    }

    /// Begins cases that must have one hash.
    func begin(codec: String, compute: String) {
        expected = nil
        options = [
            "--validation-split", "0", "--iterations", "8", "--batch-size", "8",
            "--micro-batch-tokens", "64", "--max-length", "64", "--learning-rate", "1e-3",
            "--checkpoint-every", "2", "--gradient-codec", codec, "--compute", compute,
        ]
    }

    /// The run in one process.
    func alone(_ title: String, _ threads: Int) throws {
        try check(title) { output in
            try work.train(output, options + ["--threads", String(threads)])
        }
    }

    /// A cluster that is left alone and begins when all workers are there.
    func quiet(_ title: String, _ count: Int) throws {
        try cluster(title, workers: count, with: ["--min-workers", String(count)]) { _ in }
    }

    private func cluster(
        _ title: String, workers: Int = 2, with more: [String] = [],
        _ faults: (ClusterHarness) throws -> Void
    ) throws {
        try check(title) { output in
            let cluster = try ClusterHarness(work, output, options + more, keepsLogs: true)
            for number in 1...workers { try cluster.startWorker("w\(number)") }
            try faults(cluster)
            try cluster.finish(seconds: Workload.longest)
        }
    }

    private func killedWorker(_ cluster: ClusterHarness) throws {
        try waitForMoment(cluster, 1...3)
        try cluster.restartWorker(1) { try waitForMoment(cluster, 1...2) }
    }

    private func backAtOnce(_ cluster: ClusterHarness) throws {
        try waitForMoment(cluster, 1...3)
        try cluster.restartWorker(1)
    }

    /// Stops a worker for longer than the silence that counts as a loss.
    private func stoppedWorker(_ cluster: ClusterHarness) throws {
        try waitForMoment(cluster, 1...3)
        cluster.workers[0].send(SIGSTOP)
        try sleep(4.5)
        cluster.workers[0].send(SIGCONT)
        let lines = cluster.coordinator.errorText.split(separator: "\n")
        guard lines.contains(where: { $0.contains("w1") && $0.contains("silent") }) else {
            throw BenchError.failed(
                what: "the silence of w1 was not noticed", place: work.path(cluster.output))
        }
    }

    private func twice(_ cluster: ClusterHarness, _ fault: () throws -> Void) throws {
        for _ in 1...2 {
            try waitForMoment(cluster, 1...2)
            try fault()
        }
    }

    /// Waits for a number of further steps, drawn from the seed, then for a moment within a step.
    private func waitForMoment(_ cluster: ClusterHarness, _ steps: ClosedRange<Int>) throws {
        let words = random.block(draws)
        draws += 1
        let goal = cluster.steps + steps.lowerBound + Int(words.x) % steps.count
        try cluster.waitForSteps(goal)
        guard cluster.coordinator.isRunning else {
            throw BenchError.failed(
                what: "the run ended before step \(goal)", place: work.path(cluster.output))
        }
        try sleep(0.1 + 0.9 * AddressedRandom.unitDouble(words.y, words.z))
    }

    private func sleep(_ seconds: Double) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            if work.program.shouldStop() { throw BenchError.interrupted }
            usleep(10_000)
        }
    }

    /// Runs a case in a directory of its own and checks its adapter and ledger.
    private func check(_ title: String, _ body: (String) throws -> Void) throws {
        let began = ContinuousClock.now
        cases += 1
        let output = "run-\(cases)"
        try body(output)
        let digest = try work.adapterDigest(of: output)
        guard digest == expected ?? digest else {
            throw BenchError.adaptersDiffer(place: "\(title), \(work.path(output))")
        }
        expected = digest
        try work.verifyLedger(of: output)
        try report(
            Line(
                title: title, digest: digest,
                seconds: (ContinuousClock.now - began) / .seconds(1)))
    }
}
