import Foundation

/// What is at a path.
enum ServeRoute {
    case page, health, models, metrics, tokenizerInfo
    case model(String)
    /// Takes a body and answers later.
    case work(ServeWork)

    /// nil: there is nothing.
    init?(_ path: String) {
        switch path {
        case "/": self = .page
        case "/health", "/healthz": self = .health
        case "/v1/models": self = .models
        case "/metrics": self = .metrics
        case "/tokenizer_info": self = .tokenizerInfo
        default:
            if let work = ServeWork(rawValue: path) {
                self = .work(work)
            } else if path.hasPrefix("/v1/models/") {
                let name = path.dropFirst("/v1/models/".count)
                self = .model(String(name).removingPercentEncoding ?? String(name))
            } else {
                return nil
            }
        }
    }
}
