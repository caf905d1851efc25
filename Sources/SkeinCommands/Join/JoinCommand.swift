import Foundation
import SkeinBasics
import SkeinCluster
import SkeinLaunch
import SkeinTraining

/// `skein join`: the same command for every task of a job. Rank 0 coordinates and computes, the
/// others are its workers; which one this is, the environment says.
struct JoinCommand: Command {
    static let table = ArgumentTable(
        command: "join",
        summary:
            "joins a job of Slurm, MPI, torchrun or Kubernetes, whatever its task",
        groups: JoinFlags.groups,
        example: "srun skein join --model m.gguf --data d.jsonl --output run",
        first: [
            "model", "data", "output", "rendezvous", "coordinator", "listen", "role", "task-rank",
            "task-count", "threads", "rank", "learning-rate", "epochs", "batch-size",
            "print-environment",
        ])

    /// A worker fetches it from the coordinator.
    static var needsModel: Bool { false }

    let arguments: ParsedArguments

    init(_ arguments: ParsedArguments) throws {
        self.arguments = arguments
        let configuration = try arguments.configuration
        guard configuration.patience > PeerTimeouts.lost else {
            throw UsageError.patienceTooShort(configuration.patience)
        }
        _ = try LiveStatus(arguments)
        let isWorker = arguments[JoinFlags.role] == .worker
        let prints = arguments[JoinFlags.printEnvironment]
        // In every task the words are the same, so what one of them lacks is said by all.
        if !isWorker, !prints { try checkRun() }
    }

    /// - Throws: `UsageError.missing` for what a coordinator needs.
    private func checkRun() throws {
        let missing = [JoinFlags.model, JoinFlags.data, JoinFlags.output].filter {
            arguments[$0] == nil
        }.map { "--\($0.description.name) \($0.description.placeholder)" }
        guard missing.isEmpty else {
            throw UsageError.missing(missing, command: Self.table.command)
        }
    }

    func run(_ io: CommandIO) throws {
        let process = ProcessInfo.processInfo
        let plan = try JoinPlan(
            arguments, environment: process.environment,
            cores: JoinPlan.Cores(
                usable: SystemProcessors.allowed, online: process.processorCount,
                quota: ControlGroups().processors),
            ancestors: Ancestors.names)
        if arguments[JoinFlags.printEnvironment] { return try print(plan, io) }
        if let choice = plan.choice { io.log.info(choice) }
        for warning in plan.warnings { io.log.warning(warning) }
        if plan.isCoordinator {
            try checkRun()
            try JoinedCoordinator(plan: plan, arguments: arguments).run(io)
        } else {
            try JoinedWorker(
                plan: plan, options: workerOptions(plan),
                output: arguments[JoinFlags.rendezvous] == nil ? arguments[JoinFlags.output] : nil,
                isElastic: arguments[JoinFlags.role] == .worker
            ).run(io)
        }
    }

    private func print(_ plan: JoinPlan, _ io: CommandIO) throws {
        if arguments[JoinFlags.json] { return try io.print(json: plan.json) }
        let width = plan.lines.map(\.name.count).max() ?? 0
        for (name, text) in plan.lines {
            try io.print(name + ":" + String(repeating: " ", count: width - name.count + 1) + text)
        }
    }

    private func workerOptions(_ plan: JoinPlan) throws -> WorkerOptions {
        let configuration = try arguments.configuration
        // The same words name a model that this host may not have.
        let model = arguments[JoinFlags.model].flatMap {
            FileManager.default.fileExists(atPath: $0) ? $0 : nil
        }
        return WorkerOptions(
            coordinator: plan.address?.text ?? "", token: nil, modelPath: model,
            threads: plan.threads, name: plan.name, patience: configuration.patience,
            weights: configuration.weights, features: configuration.featureSettings)
    }
}
