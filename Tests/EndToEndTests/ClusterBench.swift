import Foundation
import TestSupport
import Testing

/// A coordinator and its workers as real processes on loopback, at a bench with a tiny model.
///
/// The port is the system's choice; a coordinator that is started again takes the one it had.
final class ClusterBench {
    let bench: Workbench
    let output: String
    private let options: [String]
    private(set) var coordinator: SkeinProcess
    private(set) var address: String
    private(set) var workers: [SkeinProcess] = []
    /// What workers have written that are gone.
    private(set) var pastErrors: [String] = []

    /// Starts a coordinator for `output` and waits until it listens.
    init(_ bench: Workbench, _ output: String, _ options: [String] = []) throws {
        self.bench = bench
        self.output = output
        self.options = options
        (coordinator, address) = try Self.start(
            bench, output, options, listen: "127.0.0.1:0")
    }

    private static func start(
        _ bench: Workbench, _ output: String, _ options: [String], listen: String
    ) throws -> (SkeinProcess, String) {
        let process = try SkeinProcess(
            [
                "coordinator", "--listen", listen, "--model", bench.model, "--data", bench.data,
                "--output", bench.path(output),
            ] + options)
        let mark = "listening on "
        try process.waitForError(mark)
        let lines = process.errorText.split(separator: "\n")
        let line = try #require(lines.first { $0.contains(mark) }, "\(process.errorText)")
        let range = try #require(line.range(of: mark))
        let rest = line[range.upperBound...]
        return (process, String(rest.prefix { $0 != " " && $0 != "," }))
    }

    /// Kills the coordinator and starts it again on its port with `--resume`.
    func restartCoordinator() throws {
        coordinator.send(SIGKILL)
        _ = try coordinator.wait()
        (coordinator, address) = try Self.start(
            bench, output, options + ["--resume"], listen: address)
    }

    @discardableResult
    func startWorker(
        _ name: String, threads: Int = 1, _ more: [String] = []
    ) throws -> SkeinProcess {
        let worker = try SkeinProcess(
            [
                "worker", "--coordinator", address, "--model", bench.model, "--name", name,
                "--threads", String(threads),
            ] + more)
        workers.append(worker)
        return worker
    }

    /// Kills a worker and starts another of the same name.
    func restartWorker(_ index: Int, name: String) throws {
        workers[index].send(SIGKILL)
        pastErrors.append(try workers[index].wait().error)
        let last = try startWorker(name)
        workers[index] = last
        workers.removeLast()
    }

    /// Waits for the coordinator's good end and for the workers'.
    @discardableResult
    func finish(
        seconds: Double = 120, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> SkeinProcess.Ending {
        let ending = try coordinator.wait(seconds: seconds)
        #expect(
            ending.status == 0, "coordinator: \(ending.error)", sourceLocation: sourceLocation)
        for worker in workers {
            // One that was on its way back when the coordinator ended finds nobody any more.
            if !worker.errorText.hasSuffix("the run is complete\n") { worker.send(SIGTERM) }
            let ending = try worker.wait(seconds: 30)
            #expect(ending.status == 0, "worker: \(ending.error)", sourceLocation: sourceLocation)
        }
        return ending
    }

    /// Steps that are committed so far.
    var steps: Int {
        let path = bench.path(output) + "/metrics.jsonl"
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return data.split(separator: 0x0A).filter {
            String(decoding: $0, as: UTF8.self).contains("\"loss_tokens\"")
        }.count
    }

    /// Blocks until `count` steps are committed or the coordinator is gone.
    func waitForSteps(_ count: Int, seconds: Double = 60) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while steps < count, coordinator.isRunning {
            try #require(
                ContinuousClock.now < deadline, "no step \(count): \(coordinator.errorText)")
            Thread.sleep(forTimeInterval: 0.005)
        }
    }
}
