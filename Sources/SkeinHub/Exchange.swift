/// One HTTP request that `skein` has `skein-fetch` send, as a line of JSON: its own network code would
/// load libcurl and libssl. Secrets are not in it: the fetcher has the same environment.
package struct ExchangeRequest: Sendable, Equatable, Codable {
    package enum Method: String, Sendable, Codable {
        case get = "GET"
        case post = "POST"
    }

    package var method: Method
    /// http or https, without a name or a password.
    package var url: String
    /// JSON; nil without a body.
    package var body: String?

    package init(_ method: Method, url: String, body: String? = nil) {
        self.method = method
        self.url = url
        self.body = body
    }
}

/// What became of a request.
package enum ExchangeAnswer: Sendable, Equatable, Codable {
    /// A whole answer, of any status.
    case answered(status: Int, body: String)
    /// None came; the text has no URL and no secret.
    case failed(problem: String)
}

/// How `skein` starts `skein-fetch` for exchanges.
package enum ExchangeMode {
    /// Its one argument.
    package static let argument = "exchange"
    /// The variables that hold the secret.
    package static let tokenVariable = "MLFLOW_TRACKING_TOKEN"
    package static let nameVariable = "MLFLOW_TRACKING_USERNAME"
    package static let passwordVariable = "MLFLOW_TRACKING_PASSWORD"
}
