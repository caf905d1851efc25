import Foundation
import SkeinBasics
import SkeinLaunch
import SkeinNodes
import SkeinTraining
import Synchronization

// What several processes do.
extension BenchCommand {
    /// Numbers of an adapter of SmolLM2-135M for each unit of rank.
    private static let parametersPerRank = KernelSizes().adapter / KernelSizes().rank

    private var load: WireLoad {
        WireLoad(
            workers: options.workers, codec: options.codec,
            parameterCount: options.parameters ?? options.rank * Self.parametersPerRank,
            lineRate: options.lineRate.map { $0 * 1_000_000 })
    }

    /// A coordinator in this process, and workers that do not compute in another.
    func runWire(_ io: CommandIO) throws {
        if let address = options.dial {
            return try load.run(at: address.text)
        }
        let machine = Machine.current()
        let limits = try Self.limits()
        let bench = try WireBench(load, log: Log(isQuiet: true))
        let steps = try measure(bench, io)
        let result = WireResult(
            load: load, steps: steps, limits: limits, peakBytes: ProcessFigures.peakResidentBytes)
        if options.json {
            return try io.print(json: [("machine", machine.json)] + result.json)
        }
        try io.print(machine.text)
        try io.print(
            "\(Figures.count(options.workers, "worker")) that do not compute, in a process of "
                + "their own; \(options.codec.rawValue), \(Figures.grouped(load.parameterCount)) "
                + "numbers in a gradient\n")
        try io.write(TextTable.text(result.table))
    }

    private func measure(_ bench: WireBench, _ io: CommandIO) throws -> [WireBench.Step] {
        let child = Mutex(
            try LoggedChild(
                "workers",
                [
                    ProgramFile.path, "bench", "wire", "--dial", bench.address, "--workers",
                    String(options.workers), "--gradient-codec", options.codec.rawValue,
                    "--parameters", String(load.parameterCount),
                ] + (options.lineRate.map { ["--line-rate", String($0)] } ?? [])))
        defer { child.withLock { $0.wait(seconds: 5) } }
        var steps: [WireBench.Step] = []
        let interval = max(1, options.steps / 10)
        do {
            try bench.run(steps: options.steps) { step in
                steps.append(step)
                if steps.count % interval == 0 {
                    io.log.info(
                        "step \(steps.count) of \(options.steps): \(Figures.seconds(step.seconds))")
                }
            } shouldStop: { [interrupt = io.interrupt] in
                interrupt.isSet
                    || child.withLock {
                        _ = $0.read()
                        return $0.ending != nil
                    }
            }
        } catch let stopped as SourceStopped {
            if case .failed(let error) = stopped.reason { throw error }
        }
        if steps.count < options.steps {
            try child.withLock { try $0.demandSuccess(io) }
            throw CommandError.benchFailed(
                what: "it ended after \(steps.count) of \(options.steps) steps", place: "bench wire"
            )
        }
        return steps
    }

    /// In this process, before anything else uses the machine.
    private static func limits() throws -> WireResult.Machine {
        let block = [UInt8](repeating: 0xa5, count: 1 << 20)
        let hash = Stopwatch.measure(.kernels) { _ = SHA256.digest(of: block) }
        return WireResult.Machine(
            loopback: try LoopbackRate.measure(bytes: 1 << 30), hash: hash.rate(of: block.count))
    }

    /// Kills, and how the cluster takes them.
    func runRecovery(_ io: CommandIO) throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("skein-recovery-\(getpid())").path
        try AtomicFile.makeDirectory(directory)
        let bench = RecoveryBench(
            RecoveryBench.Plan(
                program: ProgramFile.path, model: options.model ?? "",
                data: options.data ?? "", directory: directory, kills: options.kills,
                steps: options.steps, seed: options.seed), io: io)
        let result: RecoveryResult
        do {
            result = try bench.run()
        } catch {
            io.log.warning("what is left of the runs is in \(directory)")
            throw error
        }
        try FileManager.default.removeItem(atPath: directory)
        if options.json {
            try io.print(json: [("machine", Machine.current().json)] + result.json)
        } else {
            try io.print(Machine.current().text)
            try io.print(
                "\(Figures.count(result.kills, "SIGKILL")) and "
                    + "\(Figures.count(result.stops, "SIGSTOP")) in "
                    + "\(Figures.count(result.runs, "run")) of 3 workers with one thread each, "
                    + "seed \(result.seed), \(Figures.seconds(result.seconds)); each run gave the "
                    + "adapter of a quiet one\n")
            try io.write(TextTable.text(result.table))
        }
        if let missed = result.missed.first {
            throw CommandError.benchFailed(
                what: "not as fast as it has to be: \(missed.text)", place: "bench recovery")
        }
    }
}
