import Foundation
import SkeinBasics
import SkeinHub

/// Where `--mlflow` sends a run, and as what.
package struct MLflowTarget: Sendable, Equatable {
    var url: String
    var experiment: String
    var name: String?
    /// The path of `skein-fetch`.
    var program: String

    /// - Parameters:
    ///   - url: of the server.
    ///   - environment: the process's variables; MLFLOW_EXPERIMENT_NAME and MLFLOW_RUN_NAME are MLflow's.
    /// - Throws: `MLflowError.badURL`; `HubError.noFetcher`.
    package init(url: String, environment: [String: String]) throws {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        self.url = try MLflowServer.checked(url)
        experiment = value("MLFLOW_EXPERIMENT_NAME") ?? "Default"
        name = value("MLFLOW_RUN_NAME")
        program = try FetchClient(environment: environment).program
    }

    /// A session for a run's directory, and what its requests go through.
    func session(
        directory: String, isRunning: Bool
    ) throws -> (session: MLflowSession, exchange: FetcherExchange) {
        let exchange = FetcherExchange(program: program)
        let server = try MLflowServer(url) { exchange.send($0) }
        let own = URL(fileURLWithPath: directory).standardized.lastPathComponent
        let session = MLflowSession(
            server: server, experiment: experiment, name: name ?? own, directory: directory,
            isRunning: isRunning)
        return (session, exchange)
    }
}
