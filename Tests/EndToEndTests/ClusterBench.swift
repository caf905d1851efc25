import Foundation
import SkeinTestSupport
import Testing

/// A coordinator and its workers as real processes on loopback, at a bench with a tiny model.
///
/// The port is the system's choice; a coordinator that is started again takes the one it had.
final class ClusterBench {
    let bench: Workbench
    let output: String
    private let options: [String]
    private let model: String
    private(set) var coordinator: SkeinProcess
    private(set) var address: String
    private(set) var workers: [SkeinProcess] = []
    /// What workers have written that are gone.
    private(set) var pastErrors: [String] = []

    /// Starts a coordinator for `output` and waits until it listens.
    init(
        _ bench: Workbench, _ output: String, _ options: [String] = [], model: String? = nil
    ) throws {
        self.bench = bench
        self.output = output
        self.options = options
        self.model = model ?? bench.model
        (coordinator, address) = try Self.start(
            bench, output, options, model: self.model, data: bench.data, listen: "127.0.0.1:0")
    }

    private static func start(
        _ bench: Workbench, _ output: String, _ options: [String], model: String, data: String,
        listen: String
    ) throws -> (SkeinProcess, String) {
        let process = try SkeinProcess(
            [
                "coordinator", "--listen", listen, "--model", model, "--data", data,
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

    /// Kills the coordinator and starts it again on its port with `--resume`, after `meanwhile`.
    ///
    /// - Returns: how the first one ended.
    @discardableResult
    func restartCoordinator(
        _ signal: Int32 = SIGKILL, meanwhile: () throws -> Void = {}
    ) throws -> SkeinProcess.Ending {
        coordinator.send(signal)
        let ending = try coordinator.wait()
        try meanwhile()
        (coordinator, address) = try Self.start(
            bench, output, options + ["--resume"], model: model, data: bench.data, listen: address)
        return ending
    }

    /// Kills the coordinator and starts one of another run on its port.
    func replaceCoordinator(
        model: String? = nil, data: String? = nil, _ output: String, _ options: [String]
    ) throws {
        coordinator.send(SIGKILL)
        _ = try coordinator.wait()
        (coordinator, address) = try Self.start(
            bench, output, options, model: model ?? self.model, data: data ?? bench.data,
            listen: address)
    }

    /// Starts a worker without a model, for nil, with a `shell` as `SkeinProcess` has it, or at another
    /// `place` than the coordinator's.
    @discardableResult
    func startWorker(
        _ name: String, threads: Int = 1, model: String?, _ more: [String] = [],
        shell: String? = nil, at place: String? = nil
    ) throws -> SkeinProcess {
        let worker = try SkeinProcess(
            [
                "worker", "--coordinator", place ?? address, "--name", name, "--threads",
                String(threads),
            ] + (model.map { ["--model", $0] } ?? []) + more, shell: shell)
        workers.append(worker)
        return worker
    }

    @discardableResult
    func startWorker(
        _ name: String, threads: Int = 1, _ more: [String] = []
    ) throws -> SkeinProcess {
        try startWorker(name, threads: threads, model: bench.model, more)
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
        seconds: Double = SkeinProcess.patience, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> SkeinProcess.Ending {
        let ending = try coordinator.wait(seconds: seconds)
        #expect(
            ending.status == 0, "coordinator: \(ending.error)", sourceLocation: sourceLocation)
        for worker in workers {
            // One that was on its way back when the coordinator ended finds nobody any more.
            if !worker.errorText.hasSuffix("the run is complete\n") { worker.send(SIGTERM) }
            let ending = try worker.wait()
            #expect(ending.status == 0, "worker: \(ending.error)", sourceLocation: sourceLocation)
        }
        return ending
    }

    /// Leaves those out of `finish` whose end a test has seen.
    func forgetWorkers() {
        workers = []
    }

    /// Steps that are committed so far.
    var steps: Int { steps(of: output) }

    private func steps(of output: String) -> Int {
        let path = bench.path(output) + "/metrics.jsonl"
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return data.split(separator: 0x0A).filter {
            String(decoding: $0, as: UTF8.self).contains("\"loss_tokens\"")
        }.count
    }

    /// Blocks until `count` steps are committed or the coordinator is gone.
    func waitForSteps(
        _ count: Int, in output: String? = nil, seconds: Double = SkeinProcess.patience
    ) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while steps(of: output ?? self.output) < count, coordinator.isRunning {
            try #require(
                ContinuousClock.now < deadline, "no step \(count): \(coordinator.errorText)")
            Thread.sleep(forTimeInterval: 0.005)
        }
    }
}
