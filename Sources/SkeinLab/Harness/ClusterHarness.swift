import Foundation
import SkeinBasics
import SkeinLaunch

/// A coordinator and its workers as real processes on loopback. Benchmarks, scripts and tests kill,
/// stop and restart them; none of them outlives this object.
///
/// The system picks the port; a restarted coordinator takes the same one.
package final class ClusterHarness {
    package let work: Workload
    /// The run's directory, below that of the workload.
    package let output: String
    /// Words of the coordinator's next start.
    package var options: [String]
    /// Whether the output of all processes stays beside the run, for debugging.
    private let keepsLogs: Bool
    package private(set) var coordinator: SkeinProcess
    package private(set) var address: String
    /// The workers that `finish` waits for; all of them must succeed.
    package var workers: [SkeinProcess] = []
    private var starts = 1

    /// Starts a coordinator for `output` and waits until it listens.
    package init(
        _ work: Workload, _ output: String, _ options: [String] = [],
        listen: String = "127.0.0.1:0", keepsLogs: Bool = false
    ) throws {
        self.work = work
        self.output = output
        self.options = options
        self.keepsLogs = keepsLogs
        (coordinator, address) = try Self.start(
            work, output, options, listen: listen,
            logs: keepsLogs ? Self.logs(work, output, 1, "coordinator") : nil)
    }

    private static func start(
        _ work: Workload, _ output: String, _ options: [String], listen: String, logs: String?
    ) throws -> (SkeinProcess, String) {
        let process = try SkeinProcess(
            work.program, ["coordinator", "--listen", listen] + work.words(output) + options,
            isHeld: true, directory: logs)
        var address: String?
        try process.wait(SkeinProcess.patience, for: "its address") {
            // The last piece may be an incomplete line.
            for line in process.errorText.split(separator: "\n", omittingEmptySubsequences: false)
                .dropLast()
            {
                if case .listening(let found) = CoordinatorLine(String(line)) { address = found }
            }
            return address != nil
        }
        guard let address else {
            try process.demandSuccess()
            throw BenchError.failed(
                what: "the coordinator never listened", place: work.path(output))
        }
        return (process, address)
    }

    /// Where a member writes; `number` counts the starts of members.
    private static func logs(
        _ work: Workload, _ output: String, _ number: Int, _ name: String
    ) -> String {
        work.path("\(output)-logs/\(number)-\(name)")
    }

    private func nextLogs(_ name: String) -> String? {
        starts += 1
        return keepsLogs ? Self.logs(work, output, starts, name) : nil
    }

    /// Kills the coordinator, if it still runs, and starts it again on its port with `--resume`.
    package func restartCoordinator() throws {
        coordinator.end()
        if !options.contains("--resume") { options.append("--resume") }
        (coordinator, address) = try Self.start(
            work, output, options, listen: address, logs: nextLogs("coordinator"))
    }

    /// Starts a worker with the cluster's model.
    ///
    /// - Returns: the worker, the last of `workers`.
    @discardableResult
    package func startWorker(
        _ name: String, threads: Int = 1, _ more: [String] = []
    ) throws -> SkeinProcess {
        let worker = try SkeinProcess(
            work.program,
            [
                "worker", "--coordinator", address, "--model", work.model, "--name", name,
                "--threads", String(threads),
            ] + more, name: name, isHeld: true, directory: nextLogs(name))
        workers.append(worker)
        return worker
    }

    /// Kills a worker and, after `meanwhile`, starts another with its name and model.
    package func restartWorker(_ index: Int, meanwhile: () throws -> Void = {}) throws {
        workers[index].end()
        try meanwhile()
        workers[index] = try startWorker(workers[index].name)
        workers.removeLast()
    }

    /// Waits until the coordinator and the workers have ended, and demands that all succeeded.
    ///
    /// - Returns: how the coordinator ended.
    /// - Throws: `BenchError.memberFailed` for one that failed.
    @discardableResult
    package func finish(seconds: Double = SkeinProcess.patience) throws -> SkeinProcess.Ending {
        let ending = try coordinator.wait(seconds: seconds)
        try coordinator.demandSuccess()
        for worker in workers {
            // A worker that was reconnecting when the coordinator ended cannot find it any more.
            let isStopped = !worker.errorText.hasSuffix("the run is complete\n")
            if isStopped { worker.send(SIGTERM) }
            let ending = try worker.wait()
            // One that has just started dies of the signal: it does not handle it yet.
            if isStopped, ending.wasKilled, ending.status == 128 + SIGTERM { continue }
            try worker.demandSuccess()
        }
        return ending
    }

    /// Steps committed so far.
    package var steps: Int {
        let data =
            FileManager.default.contents(atPath: work.path(output) + "/metrics.jsonl") ?? Data()
        return data.split(separator: 0x0A).count { $0.contains("\"loss_tokens\"".utf8) }
    }

    /// Blocks until `count` steps are committed or the coordinator is gone.
    package func waitForSteps(
        _ count: Int, seconds: Double = SkeinProcess.patience
    ) throws {
        try coordinator.wait(seconds, for: "step \(count)") { steps >= count }
    }
}
