import Foundation
import SkeinBasics

/// A cluster whose worker is killed and comes back, and the same run in one process: what
/// `Scripts/demo` shows, line by line.
package struct DemoBench {
    private let work: Workload
    private let steps: Int
    private let options: [String]
    private let say: (String) throws -> Void
    private let began = ContinuousClock.now

    /// - Parameters:
    ///   - work: what is trained, to `run` and `alone` in its directory.
    ///   - steps: how many each run has.
    ///   - options: further options of both runs.
    ///   - say: called with each line.
    package init(
        _ work: Workload, steps: Int, options: [String], say: @escaping (String) throws -> Void
    ) {
        self.work = work
        self.steps = steps
        self.options = options + ["--iterations", String(steps)]
        self.say = say
    }

    /// Fewer do not leave a step for each of the events.
    package static let fewestSteps = 5

    /// - Returns: the adapter of both runs.
    /// - Throws: `BenchError`, also when the two adapters differ.
    package func run() throws -> SHA256.Digest {
        for output in ["run", "alone"]
        where FileManager.default.fileExists(atPath: work.path(output)) {
            throw BenchError.hasRun(place: work.path(output))
        }
        try say("== a coordinator and two workers, one thread each: \(steps) steps")
        let cluster = try ClusterHarness(work, "run", options, keepsLogs: true)
        for name in ["goose", "gander"] { try cluster.startWorker(name) }
        try show(cluster.coordinator) { cluster.steps >= steps * 4 / 10 }
        try demandRunning(cluster)
        try title("kill -9 of worker gander, in the middle of the epoch")
        cluster.workers[1].end()
        let status = ["status", "--coordinator", cluster.address, "--why"]
        try sayLines(work.program.run(status, seconds: SkeinProcess.patience))
        try show(cluster.coordinator) { cluster.steps >= steps * 6 / 10 }
        try demandRunning(cluster)
        try title("gander comes back")
        try cluster.restartWorker(1)
        try show(cluster.coordinator)
        try sayLines(cluster.finish().output)

        try title("the same run in one process")
        let alone = try SkeinProcess(
            work.program, ["train"] + work.words("alone") + options + ["--threads", "2"],
            isHeld: true)
        try show(alone)
        try alone.demandSuccess()
        try sayLines(alone.wait().output)
        for output in ["run", "alone"] { try work.verifyLedger(of: output) }
        let (found, expected) = try (work.adapterDigest(of: "run"), work.adapterDigest(of: "alone"))
        try title("the ledgers of both runs prove that each micro-batch counted exactly once")
        try say("SHA-256 of the adapter, cluster:     \(found)")
        try say("SHA-256 of the adapter, one process: \(expected)")
        guard found == expected else {
            throw BenchError.adaptersDiffer(place: work.directory)
        }
        return found
    }

    private func sayLines(_ text: String) throws {
        for line in text.split(separator: "\n") { try say(String(line)) }
    }

    private func title(_ text: String) throws {
        try say("== \(text) (\(Int((ContinuousClock.now - began) / .seconds(1))) s)")
    }

    /// Passes on what a process prints until `isReached`, or until it has ended.
    private func show(
        _ process: SkeinProcess, until isReached: () throws -> Bool = { false }
    ) throws {
        try process.wait(Workload.longest, for: "the next steps") {
            usleep(20_000)
            // First, so that the lines of the steps that reach it are passed on, too.
            let isReached = try isReached()
            for line in try process.newLines() { try say(line) }
            return isReached
        }
        for line in try process.newLines() { try say(line) }
    }

    /// What is killed or comes back must do so in the middle of the run.
    private func demandRunning(_ cluster: ClusterHarness) throws {
        guard cluster.coordinator.isRunning, cluster.steps < steps else {
            try cluster.coordinator.demandSuccess()
            throw BenchError.failed(what: "the run ended too early", place: work.directory)
        }
    }
}
