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

    /// - Throws: `BenchError`, also when the two adapters differ.
    package func run() throws {
        try say("== a coordinator and two workers, one thread each: \(steps) steps")
        let cluster = try ClusterHarness(work, "run", options, keepsLogs: true)
        for name in ["goose", "gander"] { try cluster.startWorker(name) }
        try show(cluster.coordinator, until: steps * 4 / 10)
        try title("kill -9 of worker gander, in the middle of the epoch")
        cluster.workers[1].end()
        let status = ["status", "--coordinator", cluster.address, "--why"]
        try sayLines(work.program.run(status, seconds: SkeinProcess.patience))
        try show(cluster.coordinator, until: steps * 6 / 10)
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
    }

    private func sayLines(_ text: String) throws {
        for line in text.split(separator: "\n") { try say(String(line)) }
    }

    private func title(_ text: String) throws {
        try say("== \(text) (\(Int((ContinuousClock.now - began) / .seconds(1))) s)")
    }

    /// Passes on what a process prints until it has reported step `goal`, or has ended.
    private func show(_ process: SkeinProcess, until goal: Int? = nil) throws {
        var isThere = false
        try process.wait(Workload.longest, for: "step \(goal ?? steps)") {
            usleep(20_000)
            for line in try process.newLines() {
                try say(line)
                let step = line.prefixMatch(of: /step (\d+)\//).flatMap { Int($0.1) }
                if let goal, let step, step >= goal { isThere = true }
            }
            return isThere
        }
        guard !isThere else { return }
        for line in try process.newLines() { try say(line) }
        if goal != nil {
            try process.demandSuccess()
            throw BenchError.failed(what: "the run ended too early", place: work.directory)
        }
    }
}
