import Foundation
import Skein
import SkeinBasics
import SkeinCluster
import SkeinModels
import SkeinRows
import SkeinTraining
import SkeinWatch

/// `skein train`: a whole fine-tuning run in one process.
struct TrainCommand: Command {
    struct Options: Sendable, Equatable {
        var model: String
        var data: String
        var output: String
        var resume: Bool
        var usesTokenCache: Bool
        var configuration: TrainingConfiguration
        var status: LiveStatus?
        var exports = RunExports.Options()
        /// Whether a complete run says what its accuracies suggest.
        var advises = true
        /// Several recipes instead of one.
        var sweep: Sweep?
        /// What the command line leaves to an --init-adapter, which has an answer to it.
        var leftToAdapter: Set<TrainingConfiguration.AdapterOption>
        /// What is not given, and so is the run's own when it goes on.
        var unnamed: Set<MeasuredOption> = []

        /// Whether no run is in the output yet, so that all options are still open. Ask before the run is
        /// prepared.
        var beginsRun: Bool {
            !resume || !DiskStore().exists(FilePath.join(output, "run.json"))
        }

        func request() throws -> RunRequest {
            var configuration = configuration
            try configuration.take(leftToAdapter) { try ModelDirectory.open(model) }
            return RunRequest(
                configuration: configuration, model: .path(model), data: data, output: output,
                tokenCache: usesTokenCache ? TokenCache() : nil, unnamed: unnamed)
        }
    }

    static let table = ArgumentTable(
        command: "train",
        summary: "fine-tunes a base model with LoRA, in this process",
        groups: TrainingFlags.groups + [
            OptionGroup(title: "several recipes", options: [TrainingFlags.sweep.description]),
            OptionGroup(title: "at the end", options: [TrainingFlags.noAdvice.description]),
        ],
        example:
            "skein train --model SmolLM2-135M-Instruct.Q4_1.gguf --data pairs.jsonl --output run",
        first: [
            "model", "data", "output", "resume", "max-length", "recipe", "rank",
            "target-modules",
            "init-adapter", "learning-rate", "epochs", "iterations", "batch-size", "seed", "status",
        ])

    private(set) var options: Options

    init(_ arguments: ParsedArguments) throws {
        options = try Options(
            model: arguments[SharedFlags.model], data: arguments[TrainingFlags.data],
            output: arguments[TrainingFlags.output], resume: arguments[TrainingFlags.resume],
            usesTokenCache: !arguments[TrainingFlags.noTokenCache],
            configuration: arguments.configuration, status: LiveStatus(arguments),
            exports: arguments.exports,
            leftToAdapter: Set(
                TrainingConfiguration.AdapterOption.allCases.filter { option in
                    TrainingConfiguration.options.map(\.description).contains {
                        $0.name == option.rawValue && !arguments.isGiven($0)
                    }
                }), unnamed: arguments.unnamed)
        // A launch has the same options, but these.
        let names = Set(arguments.table.options.map(\.name))
        guard names.contains(TrainingFlags.sweep.description.name) else { return }
        options.advises = !arguments[TrainingFlags.noAdvice]
        guard let path = arguments[TrainingFlags.sweep] else { return }
        if options.status != nil {
            throw UsageError.excludes(
                option: TrainingFlags.sweep.description.name,
                other: TrainingFlags.status.description.name, command: Self.table.command)
        }
        options.sweep = try Sweep(path: path, arguments)
    }

    func checkOutput() throws {
        if options.sweep == nil {
            try RunDirectory.check(options.output, resuming: options.resume)
        } else {
            try SweepRun.check(options.output, resuming: options.resume)
        }
    }

    func run(_ io: CommandIO) throws {
        if let sweep = options.sweep { return try run(sweep, io) }
        let board = RunBoard()
        let server = try options.status?.open(board)
        defer { server?.stop() }
        let begins = options.beginsRun
        let run = try Trainer(options.request()).prepare(resuming: options.resume)
        board.prepared(run.job, output: options.output)
        if let server { options.status?.tell(server, io.log) }
        var lines = io
        lines.panel = TerminalPanel.begin(io, board)
        lines.isTerminal = io.isTerminal && TerminalPanel.moves(ProcessInfo.processInfo.environment)
        defer { lines.panel?.end() }
        let reporter = TrainingReporter(lines, job: run.job, board: board)
        reporter.showData()
        if begins { ComputeAdvice.tell(run.job.configuration.compute, io.log) }
        let exports = RunExports(options.exports, output: options.output, log: io.log)
        var outcome = RunExports.Outcome.failed
        defer { exports.finish(outcome) }
        do {
            let ending = try run.run(
                measuresKept: options.advises,
                report: { event in
                    switch event {
                    case .memory(let estimate, let residence):
                        reporter.showMemory(estimate, residence: residence)
                    case .features(let plan, let keptRows):
                        io.log.info(
                            plan.sentence + (keptRows > 0 ? ", where \(keptRows) are already" : ""))
                    case .loaded: reporter.stopOnInterrupt()
                    case .references(let count):
                        io.log.info(References.sentence(rows: count))
                    case .warning(let text): io.log.warning(text)
                    case .ready: reporter.showReady()
                    case .loop(let event):
                        try board.note(event)
                        exports.note(event)
                        reporter.show(event)
                    case .trained: reporter.finishLine()
                    case .measuringKept: reporter.tellMeasuring()
                    }
                }, shouldStop: { io.interrupt.isSet })
            outcome = try RunExports.Outcome(ending)
            reporter.showAdvice(ending)
            try reporter.showEnding(ending)
        } catch {
            if outcome == .failed { outcome = RunExports.Outcome(error) }
            throw error
        }
    }
}
