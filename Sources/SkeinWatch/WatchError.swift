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
