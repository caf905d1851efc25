import Foundation
import Skein

/// `Sessions MODEL DATA DIRECTORY [STEP]`: trains in a session. Run again, it restores the session.
/// With STEP, kills itself after a report, once a checkpoint of this step or a later one is on disk.
@main enum Sessions {
    static func main() async throws {
        let words = CommandLine.arguments
        let folder = URL(fileURLWithPath: words[3])
        let settings = SessionParameters(
            sessionDirectory: folder, reportInterval: 1, checkpointInterval: 2, iterations: 8)
        var parameters = AdapterTrainer.Parameters(model: try Model(at: words[1]))
        parameters.recipe.rank = 8
        parameters.recipe.alpha = 16
        parameters.recipe.dropout = 0.05
        parameters.recipe.targetModules = ["q_proj", "k_proj", "v_proj", "o_proj"]
        parameters.recipe.learningRate = 1e-4
        parameters.recipe.schedule = .constant
        parameters.recipe.warmupSteps = 0
        parameters.recipe.epochs = 3
        parameters.recipe.maxLength = 64
        let session =
            AdapterTrainer.hasSession(in: folder)
            ? try AdapterTrainer.restoreTrainingSession(sessionParameters: settings)
            : try AdapterTrainer.makeTrainingSession(
                pairs: .file(words[2]), parameters: parameters, sessionParameters: settings)
        print("session: \(session.phase) \(session.iteration)")
        let step = words.count > 4 ? Int(words[4]) : nil
        let job = try AdapterTrainer.resume(session)
        for await report in job.progress {
            let loss = report.metrics[.loss] ?? report.metrics[.validationLoss]
            print("\(report.phase) \(report.itemCount)", loss.map { "loss \($0)" } ?? "")
            let saved = session.checkpoints.last?.iteration ?? 0
            if let step, saved >= step { kill(getpid(), SIGKILL) }
        }
        print("sha256:", try await job.result.adapter.sha256)
    }
}
