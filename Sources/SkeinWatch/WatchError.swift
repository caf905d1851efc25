import SkeinBasics

/// What keeps a run from being shown or sent.
package enum WatchError: Error, Equatable {
    /// Without a token only this machine may look, but others can reach `address`.
    case tokenRequired(address: String)
    /// A token with bytes that no HTTP header holds.
    case tokenNotPrintable(path: String)
    /// The token is the one that workers have.
    case tokenIsClusters(path: String)
    /// A directory without run.json.
    case notARun(path: String)
}

extension WatchError: Explained {
    package var explanation: Explanation {
        switch self {
        case .tokenRequired(let address):
            Explanation(
                what: "without a token, the status is shown on this machine alone",
                place: address,
                remedy: "give --status-token-file FILE, a secret for those who may look, or use "
                    + "--status 127.0.0.1:PORT",
                status: .usage)
        case .tokenNotPrintable(let path):
            Explanation(
                what: "the status token has a character that no HTTP header holds", place: path,
                remedy: "make one with: (umask 077; openssl rand -hex 32 > FILE)",
                status: .badData)
        case .tokenIsClusters(let path):
            Explanation(
                what: "the status token is also the workers' secret: a reader of the status could "
                    + "join the run",
                place: path,
                remedy: "make another one with: (umask 077; openssl rand -hex 32 > FILE)",
                status: .usage)
        case .notARun(let path):
            Explanation(
                what: "this is not a run directory: it has no run.json", place: path,
                remedy: "give the --output folder of a training run", status: .badData)
        }
    }
}
