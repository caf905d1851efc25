import SkeinBasics
import SkeinJSON

/// Why a run is not at its MLflow server.
package enum MLflowError: Error, Equatable {
    case badURL(String)
    /// No answer came; `problem` is the system's word.
    case unreachable(server: String, problem: String)
    case refused(server: String, status: Int, message: String)
    /// An answer that is none of MLflow's.
    case badAnswer(server: String, problem: String)
    case badState(path: String, problem: String)

    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch self {
        case .unreachable, .badAnswer: true
        case .refused(_, let status, _):
            [401, 403, 407, 408, 425, 429].contains(status) || status >= 500
        case .badURL, .badState: false
        }
    }
}

extension MLflowError: Explained {
    package var explanation: Explanation {
        switch self {
        case .badURL(let text):
            Explanation(
                what: "\(JSONValue.quoted(text)) is not the URL of an MLflow server",
                place: "--mlflow",
                remedy: "give scheme, host and port alone, as http://127.0.0.1:5000; a name and a "
                    + "password stand in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
                status: .usage)
        case .unreachable(let server, let problem):
            Explanation(
                what: "the MLflow server does not answer: \(problem)", place: server,
                remedy: "check that it runs: mlflow server --host HOST --port PORT",
                status: .peerGone)
        case .refused(let server, let status, let message):
            Explanation(
                what: "the MLflow server answers with status \(status)"
                    + (message.isEmpty ? "" : ": \(message)"), place: server,
                remedy: Self.remedy(status), status: .peerGone)
        case .badAnswer(let server, let problem):
            Explanation(
                what: "this is not an answer of an MLflow server: \(problem)", place: server,
                remedy: "check the URL: its page /version shows MLflow's version",
                status: .badData)
        case .badState(let path, let problem):
            Explanation(
                what: "the file that names this run's run at MLflow cannot be used: \(problem)",
                place: path, remedy: "remove it: the run is then sent again, as a new one",
                status: .badData)
        }
    }

    private static func remedy(_ status: Int) -> String {
        switch status {
        case 401, 403:
            "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN"
        case 400, 404:
            "if the run was deleted there, remove mlflow.json from the run's directory: the run is "
                + "then sent again, as a new one"
        case 300..<400: "give the URL to which it redirects"
        default: "look at the server's log"
        }
    }
}
