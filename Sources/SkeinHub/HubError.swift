/// A model or an adapter that cannot be had from the Hub or its cache. It crosses the fetcher's pipe, so no case
/// holds a token or a URL with a signature.
package enum HubError: Error, Equatable, Codable {
    /// Neither a path nor anything in the cache, and no server may be asked.
    case offline(reference: String, cache: String)
    /// There is no such path, and the Hub has no such repository (or hides it).
    case noRepository(reference: String, hasToken: Bool)
    /// Neither a path nor anything in the cache, for a command that downloads nothing.
    case notInCache(reference: String, cache: String)
    case noRevision(repository: String, revision: String)
    case noFile(repository: String, file: String)
    /// The license must be accepted on the repository's page.
    case gated(repository: String, hasToken: Bool)
    /// The server does not accept the token, or wants one.
    case unauthorized(repository: String, hasToken: Bool)
    /// Only GGUF files are there, and none was named.
    case onlyGGUF(repository: String, files: [String])
    /// No weights that can be read.
    case noWeights(repository: String)
    /// An adapter, where a model is wanted.
    case noModel(repository: String)
    /// No adapter that can be read, where one is wanted.
    case noAdapter(repository: String, found: Remains)
    /// A server's answer that is no answer of a Hub.
    case badAnswer(place: String, problem: String)
    case status(place: String, code: Int)
    /// A name that leads out of the cache, or is none.
    case badFileName(repository: String, bytes: Int)
    /// More than are looked at.
    case tooManyFiles(repository: String)
    case tooManyRedirects(place: String)
    /// Answers from https that lead to http.
    case insecureRedirect(place: String)
    /// The network failed as often as is tried.
    case network(place: String, problem: String, attempts: Int)
    case wrongBytes(file: String, expected: String, found: String)
    case wrongSize(file: String, expected: Int, found: Int)
    /// Another process downloads the same file.
    case locked(file: String)
    /// Something may be there, but the system does not let the cache be read.
    case unreadableCache(reference: String, path: String, operation: String, code: Int32)
    case storage(path: String, operation: String, code: Int32)
    case badEndpoint
    case badToken(place: String)
    case notAReference(text: String)
    case noFetcher(path: String)
    /// It ended, or a signal ended it, without a word.
    case fetcherEnded(status: Int32, isSignal: Bool)
    case fetcherSilent(seconds: Int)
    case badMessage
    case interrupted

    /// What a repository has that is not an adapter.
    package enum Remains: String, Codable, Sendable {
        case model
        /// An adapter without its configuration.
        case weights
        case pickle
        case nothing
    }

    /// Whether no server could be asked.
    package var isUnreachable: Bool {
        switch self {
        case .network, .noFetcher: true
        default: false
        }
    }
}
