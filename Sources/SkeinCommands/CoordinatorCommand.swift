import Foundation
import Skein
import SkeinBasics
import SkeinCluster
import SkeinJSON
import SkeinLaunch
import SkeinTensors
import SkeinTraining
import SkeinWatch

/// `skein coordinator`: a whole run whose gradients workers compute.
struct CoordinatorCommand: Command {
    struct Options: Sendable, Equatable {
        var listen: Endpoint
        /// nil: no token, allowed only on loopback.
        var tokenFile: String?
        var localWorkers: Int
        var admitsOtherEngines: Bool
        /// The options shared with `skein train`.
        var training: TrainCommand.Options
    }

    static let table = ArgumentTable(
        command: "coordinator",
        summary: "fine-tunes as train does, on workers that connect to it",
        groups: [
            OptionGroup(
                title: "where",
                options: [
                    ClusterFlags.listen.description, ClusterFlags.tokenFile.description,
                ])
        ]
            + ClusterFlags.groups(
                threads: ClusterFlags.coordinatorThreads.description,
                cluster: [
                    ClusterFlags.localWorkers.description,
                    ClusterFlags.admitOtherEngines.description,
                ]),
        example: "skein coordinator --listen 10.0.0.5 --token-file token --model m.gguf "
            + "--data d.jsonl --output run",
        first: [
            "listen", "token-file", "local-workers", "model", "data", "output", "resume",
            "max-length", "rank", "learning-rate", "epochs", "iterations", "batch-size",
            "min-workers", "status",
        ])

    /// What `join` does where `coordinator` expects people to start workers.
    struct Companion {
        /// The run's view, from before anything is read.
        var board = RunBoard()
        /// Called once others can dial; returns the lines that say so.
        var listening: (_ address: String) throws -> [String]
    }

    let options: Options

    init(_ options: Options) { self.options = options }

    init(_ arguments: ParsedArguments) throws {
        let listen = arguments[ClusterFlags.listen]
        options = Options(
            listen: listen, tokenFile: arguments[ClusterFlags.tokenFile],
            localWorkers: arguments[ClusterFlags.localWorkers],
            admitsOtherEngines: arguments[ClusterFlags.admitOtherEngines],
            training: try TrainCommand(arguments).options)
        if options.tokenFile == nil, !listen.isLoopback {
            throw UsageError.tokenNeeded(
                option: "listen", address: listen.text, command: Self.table.command)
        }
        guard options.training.configuration.patience > PeerTimeouts.lost else {
            throw UsageError.patienceTooShort(options.training.configuration.patience)
        }
    }

    func checkOutput() throws {
        try RunDirectory.check(options.training.output, resuming: options.training.resume)
    }

    func run(_ io: CommandIO) throws {
        try run(
            io, Companion { address in [self.introduction(address: address)] + self.waits })
    }

    /// Runs to the end.
    func run(_ io: CommandIO, _ companion: Companion) throws {
        try io.reporting(companion.board) { try run(io, companion, shouldStop: $0) }
    }

    private func run(
        _ io: CommandIO, _ companion: Companion, shouldStop: @escaping @Sendable () -> Bool
    ) throws {
        ProcessFigures.raiseFileLimit()
        let token = try options.tokenFile.map { try TokenFile(reading: $0).bytes }
        let board = companion.board
        let status = options.training.status
        let server = try status?.open(board, clusterToken: token)
        defer { server?.stop() }
        let begins = options.training.beginsRun
        let run = try Coordinator(
            options.training.request(),
            options: CoordinatorOptions(
                listen: options.listen.text, token: token, localWorkers: options.localWorkers,
                admitsOtherEngines: options.admitsOtherEngines), log: io.log
        ).prepare(resuming: options.training.resume, board: board)
        // The first line, from which scripts read the port.
        io.log.info(
            ListeningLine.text(address: run.address), [("address", .text(run.address))])
        let introduction = try companion.listening(run.address)
        // The node's threads write lines, too, so only a panel can be rewritten.
        var lines = io
        lines.panel = TerminalPanel.begin(io, board)
        lines.isTerminal = false
        defer { lines.panel?.end() }
        let reporter = TrainingReporter(lines, job: run.job, board: board)
        if let server { status?.tell(server, io.log) }
        reporter.showData()
        if begins, options.localWorkers > 0 {
            ComputeAdvice.tell(run.job.configuration.compute, io.log)
        }
        for line in introduction { io.log.info(line) }
        reporter.stopOnInterrupt()
        let exports = RunExports(
            options.training.exports, output: options.training.output, log: io.log)
        var outcome = RunExports.Outcome.failed
        defer { exports.finish(outcome) }
        do {
            let ending = try run.run(
                report: { event in
                    exports.note(event)
                    reporter.show(event)
                }, shouldStop: shouldStop)
            outcome = try RunExports.Outcome(ending)
            try reporter.showEnding(ending)
        } catch {
            if outcome == .failed { outcome = RunExports.Outcome(error) }
            throw error
        }
    }

    /// How to start workers.
    func introduction(address: String) -> String {
        var dialled = address
        if let endpoint = Endpoint(address), endpoint.isWildcard {
            dialled = Endpoint(host: ProcessInfo.processInfo.hostName, port: endpoint.port).text
        }
        var command = ["skein", "worker", "--coordinator", dialled]
        if let file = options.tokenFile { command += ["--token-file", file] }
        return "start workers with: " + ShellWords.line(command)
    }

    /// What is waited for, and the timeouts that apply.
    var waits: [String] {
        let configuration = options.training.configuration
        return [
            PeerTimeouts.sentence(patience: configuration.patience),
            "waiting for \(Figures.count(configuration.minWorkers, "worker"))",
        ]
    }
}
