import Foundation
import SkeinBasics
import SkeinLaunch

/// A coordinator and its workers as real processes on loopback. Benchmarks, scripts and tests kill,
/// stop and restart them; none of them outlives this object.
///
/// The system picks the port; a restarted coordinator takes the same one.
package final class ClusterHarness {
    package private(set) var work: Workload
    /// The run's directory, below that of the workload.
    package private(set) var output: String
    private var options: [String]
    /// Whether the output of all processes stays beside the run, for debugging.
    private let keepsLogs: Bool
    package private(set) var coordinator: SkeinProcess
    package private(set) var address: String
    package private(set) var workers: [SkeinProcess] = []
    private var starts = 1

    /// Starts a coordinator for `output` and waits until it listens.
    package init(
        _ work: Workload, _ output: String, _ options: [String] = [], keepsLogs: Bool = false
    ) throws {
        self.work = work
        self.output = output
        self.options = options
        self.keepsLogs = keepsLogs
        (coordinator, address) = try Self.start(
            work, output, options, listen: "127.0.0.1:0",
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

    /// Starts another coordinator on the port of the one before.
    private func startCoordinator() throws {
        (coordinator, address) = try Self.start(
            work, output, options, listen: address, logs: nextLogs("coordinator"))
    }

    /// Ends the coordinator and, after `meanwhile`, starts it again on its port with `--resume`.
    ///
    /// - Returns: how the first one ended.
    @discardableResult
    package func restartCoordinator(
        _ signal: Int32 = SIGKILL, meanwhile: () throws -> Void = {}
    ) throws -> SkeinProcess.Ending {
        coordinator.send(signal)
        let ending = try coordinator.wait()
        try meanwhile()
        if !options.contains("--resume") { options.append("--resume") }
        try startCoordinator()
        return ending
    }

    /// Kills the coordinator and starts one of another run on its port.
    package func replaceCoordinator(
        by work: Workload, _ output: String, _ options: [String]
    ) throws {
        coordinator.end()
        (self.work, self.output, self.options) = (work, output, options)
        try startCoordinator()
    }

    /// Starts a worker.
    ///
    /// - Parameters:
    ///   - name: the worker's.
    ///   - threads: how many compute.
    ///   - model: nil: it fetches the coordinator's.
    ///   - more: further options.
    ///   - shell: see `SkeinProcess`.
    ///   - place: what it dials; nil: the coordinator.
    /// - Returns: the worker, the last of `workers`.
    /// - Throws: as `SkeinProcess`.
    @discardableResult
    package func startWorker(
        _ name: String, threads: Int = 1, model: String?, _ more: [String] = [],
        shell: String? = nil, at place: String? = nil
    ) throws -> SkeinProcess {
        let worker = try SkeinProcess(
            work.program,
            [
                "worker", "--coordinator", place ?? address, "--name", name, "--threads",
                String(threads),
            ] + (model.map { ["--model", $0] } ?? []) + more, name: name,
            shell: shell, isHeld: true, directory: nextLogs(name))
        workers.append(worker)
        return worker
    }

    /// Starts a worker with the cluster's model.
    @discardableResult
    package func startWorker(
        _ name: String, threads: Int = 1, _ more: [String] = []
    ) throws -> SkeinProcess {
        try startWorker(name, threads: threads, model: work.model, more)
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
            // A worker that was reconnecting when the coordinator ended finds nobody any more.
            if !worker.errorText.hasSuffix("the run is complete\n") { worker.send(SIGTERM) }
            _ = try worker.wait()
            try worker.demandSuccess()
        }
        return ending
    }

    /// Leaves the present workers out of `finish`: their end has been checked.
    package func forgetWorkers() {
        workers = []
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
