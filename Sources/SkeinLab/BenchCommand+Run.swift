import Foundation
import SkeinBasics
import SkeinCluster
import SkeinCommands
import SkeinJSON
import SkeinLaunch
import SkeinModels

// Runs the benchmark that the options name and prints its report.
extension BenchCommand {
    func run(_ io: CommandIO) throws {
        if options.subject == .wire, let address = options.dial {
            return try load.run(at: address.text)
        }
        do {
            try runSubject(io)
        } catch let error as BenchError {
            for line in error.lastLines { io.writeError(line + "\n") }
            throw error
        }
    }

    private func runSubject(_ io: CommandIO) throws {
        let model = options.model ?? ""
        if [.step, .generate].contains(options.subject) {
            ComputeAdvice.tell(options.compute, io.log)
        }
        switch options.subject {
        case .kernels: try show(KernelBench.report(tokens: options.tokens), io)
        case .step:
            let report = try StepBench.report(
                modelPath: model, microBatchTokens: options.tokens, steps: options.steps,
                compute: options.compute, threads: options.threads, log: io.log)
            try show(report, io)
        case .generate:
            if let sequences = options.batch {
                let report = try BatchBench.report(
                    modelPath: model, sequences: sequences, promptTokens: options.promptTokens,
                    tokens: options.answerTokens, threads: options.threads,
                    compute: options.compute, cacheType: options.cacheType)
                return try show(report, io)
            }
            let report = try GenerateBench.report(
                modelPath: model, promptTokens: options.promptTokens, tokens: options.answerTokens,
                threads: options.threads, compute: options.compute)
            try show(report, io)
        case .wire:
            let wire = WireMeasurement(
                load, program: started(ProgramFile.path, io), steps: options.steps,
                status: options.status?.text,
                log: io.log)
            try show(wire.report(), io)
        case .recovery: try runRecovery(io)
        case .chaos: try runChaos(io)
        case .cluster: try runCluster(io)
        case .demo:
            let work = work(by: try skein(io), in: options.output ?? "")
            let demo = DemoBench(work, steps: options.steps, options: options.runOptions) { line in
                if options.json { io.log.info(line) } else { try io.print(line) }
            }
            let digest = try demo.run()
            if options.json { try io.print(json: [("sha256", .text(digest.description))]) }
        case .model:
            let written = try ModelProbe.run(
                ModelDirectory.open(model), plan: options.data ?? "")
            for path in written { try io.print(path) }
        case .grammar:
            guard let cases = options.cases else {
                return try show(
                    GrammarBench.report(modelPath: model, threads: options.threads), io)
            }
            let judged = try GrammarCases(
                modelPath: model, seed: options.seed, threads: options.threads)
            try judged.run(path: cases, runs: options.runs) { try io.print(json: $0) }
        case .tokenize:
            let report = try TokenizeBench.report(modelPath: model, dataPath: options.data) {
                CommandLineTool.skein.pages
            }
            try show(report, io)
        }
    }

    private func runRecovery(_ io: CommandIO) throws {
        let report = try withWork("skein-recovery", io) { work in
            try RecoveryBench(
                work, kills: options.kills, steps: options.steps, seed: options.seed, log: io.log
            ).report()
        }
        try show(report, io)
    }

    private func show(_ report: BenchReport, _ io: CommandIO) throws {
        if options.json {
            try io.print(json: report.fields)
        } else {
            try io.write(report.text)
        }
        if let failure = report.failure { throw failure }
    }

    /// Prints each case's line at once: all of them take ten minutes.
    private func runChaos(_ io: CommandIO) throws {
        try withWork("skein-chaos", io) { work in
            if !options.json { try io.print(ChaosBench.Line.heading) }
            try ChaosBench(work, rounds: options.rounds, seed: options.seed) { line in
                if options.json { try io.print(json: line.json) } else { try io.print(line.text) }
            }.run()
        }
    }

    private func runCluster(_ io: CommandIO) throws {
        let medians = try withWork("skein-bench", io) { work in
            try PaceBench(work, options: options.runOptions).run(options.rounds) {
                kind, number, rate in
                if options.json { return }
                try io.print("\(kind.rawValue) \(number): \(Figures.fixed(rate, 1)) tokens/s")
            }
        }
        if options.json { return try io.print(json: medians.json) }
        try io.print(medians.text)
    }

    private var load: WireLoad {
        WireLoad(
            workers: options.workers, codec: options.codec,
            parameterCount: options.parameters ?? options.rank * WireMeasurement.parametersPerRank,
            lineRate: options.lineRate.map { $0 * 1_000_000 })
    }

    /// The `skein` whose processes are measured.
    ///
    /// - Throws: `BenchError.noSkein`.
    private func skein(_ io: CommandIO) throws -> SkeinProgram {
        let path = options.skein ?? FilePath.join(FilePath.parent(of: ProgramFile.path), "skein")
        // A name without a slash would be looked up in PATH when it is started.
        guard let program = ProgramFile.program(at: path) else {
            throw BenchError.noSkein(place: path)
        }
        return started(program, io)
    }

    /// A program for child processes that end with this one. Ctrl-C ends their runs.
    private func started(_ path: String, _ io: CommandIO) -> SkeinProgram {
        io.interrupt.listen()
        return SkeinProgram(path: path) { [interrupt = io.interrupt] in interrupt.isSet }
    }

    /// Creates a directory that only this user can access.
    static func newDirectory(_ name: String) throws -> String {
        let pattern = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(name)-XXXXXX").path
        var path = Array(pattern.utf8CString)
        guard mkdtemp(&path) != nil else {
            throw FileError.failed(operation: "create a directory", path: pattern, code: errno)
        }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func work(by program: SkeinProgram, in directory: String) -> Workload {
        Workload(
            program: program, model: options.model ?? "", data: options.data ?? "",
            directory: directory)
    }

    /// Runs `body` with a new directory for the runs, and removes it on success.
    private func withWork<Result>(
        _ name: String, _ io: CommandIO, _ body: (Workload) throws -> Result
    ) throws -> Result {
        let program = try skein(io)
        let directory = try Self.newDirectory(name)
        let result: Result
        do {
            result = try body(work(by: program, in: directory))
        } catch {
            io.log.warning("the files of the runs are kept in \(directory)")
            throw error
        }
        try FileManager.default.removeItem(atPath: directory)
        return result
    }
}
