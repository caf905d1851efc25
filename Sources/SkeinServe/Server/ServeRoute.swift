import Foundation

/// What is at a path.
enum ServeRoute {
    case page, health, models, metrics, tokenizerInfo
    case model(String)
    /// Takes a body and answers later.
    case work(ServeWork)

    /// Whether a path asks if the server is there.
    static func isHealth(_ path: String) -> Bool {
        if case .health? = ServeRoute(path) { true } else { false }
    }

    /// nil: there is nothing. What begins with `/v1` is there without it, too: clients whose base URL
    /// lacks it ask so.
    init?(_ path: String) {
        let short = ["/chat/completions", "/completions", "/models"].contains(path)
        let path = short || path.hasPrefix("/models/") ? "/v1" + path : path
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
