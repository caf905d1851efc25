import Foundation
import SkeinBasics
import SkeinCluster
import SkeinTraining
import Synchronization

/// The wire benchmark: a coordinator in this process; in another, workers that do not compute.
package struct WireMeasurement {
    /// Numbers in an adapter of SmolLM2-135M for each unit of rank.
    package static let parametersPerRank = KernelSizes().adapter / KernelSizes().rank

    private let load: WireLoad
    private let program: SkeinProgram
    private let steps: Int
    private let status: String?
    private let log: Log

    /// - Parameters:
    ///   - load: the workers.
    ///   - program: runs them in a process of their own.
    ///   - steps: how many to measure.
    ///   - status: where the run can be watched meanwhile; nil: nowhere.
    ///   - log: told how far it is.
    package init(
        _ load: WireLoad, program: SkeinProgram, steps: Int, status: String? = nil, log: Log
    ) {
        self.load = load
        self.program = program
        self.steps = steps
        self.status = status
        self.log = log
    }

    package func report() throws -> BenchReport {
        let machine = Machine.current()
        let limits = try Self.limits()
        let bench = try WireBench(load, status: status, log: Log(isQuiet: true))
        if let url = bench.statusURL { log.info("status: \(url)") }
        var result = WireResult(load: load, steps: [], limits: limits, peakBytes: nil)
        result.steps = try measure(bench, watched: &result.watched)
        result.peakBytes = ProcessFigures.peakResidentBytes
        return BenchReport(
            machine, result.json,
            [
                "\(Figures.count(load.workers, "worker")) that do not compute, in a process of "
                    + "their own; \(load.codec.rawValue), \(Figures.grouped(load.parameterCount)) "
                    + "numbers in a gradient"
            ], result.table)
    }

    private func measure(
        _ bench: WireBench, watched: inout WireResult.Watched?
    ) throws -> [WireBench.Step] {
        let workers = Mutex(
            try SkeinProcess(
                program,
                [
                    "bench", "wire", "--dial", bench.address, "--workers", String(load.workers),
                    "--gradient-codec", load.codec.rawValue, "--parameters",
                    String(load.parameterCount),
                ] + (load.lineRate.map { ["--line-rate", String($0 / 1_000_000)] } ?? []),
                name: "workers", isHeld: true))
        defer { workers.withLock { $0.end(within: 5) } }
        var done: [WireBench.Step] = []
        var seconds = (looking: 0.0, all: 0.0)
        let before = ProcessFigures.processorSeconds ?? 0
        let interval = max(1, steps / 10)
        do {
            try bench.run(steps: steps) { step in
                done.append(step)
                if bench.statusURL != nil {
                    seconds = (
                        try bench.statusSeconds(), (ProcessFigures.processorSeconds ?? 0) - before
                    )
                }
                if done.count % interval == 0 {
                    log.info("step \(done.count) of \(steps): \(Figures.seconds(step.seconds))")
                }
            } shouldStop: { [shouldStop = program.shouldStop] in
                shouldStop() || workers.withLock { !$0.isRunning }
            }
        } catch let stopped as SourceStopped {
            if case .failed(let error) = stopped.reason { throw error }
        }
        if bench.statusURL != nil {
            watched = WireResult.Watched(seconds: seconds.looking, allSeconds: seconds.all)
        }
        if done.count < steps {
            if program.shouldStop() { throw BenchError.interrupted }
            try workers.withLock { try $0.demandSuccess() }
            throw BenchError.failed(
                what: "the run ended after \(done.count) of \(steps) steps", place: "bench wire")
        }
        return done
    }

    /// Measured in this process, before anything else uses the machine.
    private static func limits() throws -> WireResult.Machine {
        let block = [UInt8](repeating: 0xa5, count: 1 << 20)
        let hash = Stopwatch.measure(.kernels) { _ = SHA256.digest(of: block) }
        return WireResult.Machine(
            loopback: try LoopbackRate.measure(bytes: 1 << 30), hash: hash.rate(of: block.count))
    }
}
