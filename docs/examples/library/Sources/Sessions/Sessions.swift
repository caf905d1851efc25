import Foundation
import Skein

/// `Sessions MODEL DATA DIRECTORY`: trains in a session. Run again, it restores the session.
@main enum Sessions {
    static func main() async throws {
        let words = CommandLine.arguments
        let settings = SessionParameters(
            sessionDirectory: URL(fileURLWithPath: words[3]), reportInterval: 1,
            checkpointInterval: 2, iterations: 8)
        var parameters = AdapterTrainer.Parameters(model: try Model(at: words[1]))
        parameters.recipe.maxLength = 64
        let restored = try? AdapterTrainer.restoreTrainingSession(sessionParameters: settings)
        let session =
            try restored
            ?? AdapterTrainer.makeTrainingSession(
                pairs: .file(words[2]), parameters: parameters, sessionParameters: settings)
        print("session: \(session.phase) \(session.iteration)")
        let job = try AdapterTrainer.resume(session)
        for await report in job.progress {
            let loss = report.metrics[.loss] ?? report.metrics[.validationLoss]
            print("\(report.phase) \(report.itemCount)", loss.map { "loss \($0)" } ?? "")
        }
        print("sha256:", try await job.result.adapter.sha256)
    }
}
