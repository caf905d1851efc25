import Foundation
import SkeinBasics
import SkeinJSON
import SkeinTraining
import SkeinWatch

/// `skein sync`: sends a run that has ended to an MLflow server.
struct SyncCommand: Command {
    static let mlflow = Option.required(
        "mlflow", .text("URL"),
        "the MLflow server; MLFLOW_EXPERIMENT_NAME, MLFLOW_RUN_NAME and MLFLOW_TRACKING_USERNAME, "
            + "_PASSWORD or _TOKEN are read")

    static let table = ArgumentTable(
        command: "sync",
        summary: "sends a run that has ended to an MLflow server",
        positional: Positional(
            "RUN", count: .one, isPath: true, "the run's directory"),
        groups: [
            OptionGroup(
                title: "what",
                options: [
                    mlflow.description, SharedFlags.json.description,
                    SharedFlags.logFormat.description,
                ])
        ],
        example: "skein sync run --mlflow http://127.0.0.1:5000")

    private let path: String
    private let target: MLflowTarget
    private let json: Bool

    init(_ arguments: ParsedArguments) throws {
        path = arguments.positionals[0]
        target = try MLflowTarget(
            url: arguments[Self.mlflow], environment: ProcessInfo.processInfo.environment)
        json = arguments[SharedFlags.json]
    }

    func run(_ io: CommandIO) throws {
        // Before the lock, which would make a directory.
        guard try FileKind.at(FilePath.join(path, "run.json")) != nil else {
            throw WatchError.notARun(path: path)
        }
        let directory = try RunDirectory(path: path, resuming: true)
        var told = ContinuousClock.now
        let result = try MLflowSync.send(to: target, directory) { sent, problem in
            if let problem { return io.log.warning("\(problem); trying again") }
            guard ContinuousClock.now - told > .seconds(5) else { return }
            told = .now
            io.log.info("\(Figures.grouped(sent)) numbers sent")
        }
        if result.damaged > 0 {
            io.log.warning(
                "\(Figures.count(result.damaged, "line")) of metrics.jsonl cannot be read and "
                    + (result.damaged == 1 ? "was" : "were") + " left out")
        }
        if json {
            try io.print(json: [
                ("run_id", .text(result.run)), ("url", .text(result.page)),
                ("sent", .integer(result.sent)),
            ])
        } else {
            try io.print("sent: \(Figures.grouped(result.sent)) numbers")
            try io.print("run: \(result.page)")
        }
    }
}
