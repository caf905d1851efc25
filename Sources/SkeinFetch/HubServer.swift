import Foundation
import FoundationNetworking
import SkeinHub

/// Asks a Hub: retries what passes, follows redirects, and says what the answer means.
struct HubServer {
    let settings: HubSettings
    private let token: String?
    private let endpoint: URL
    /// Called several times a second.
    private let beat: () -> Void
    private let idle: Duration

    static let attempts = 5
    static let redirects = 5
    private static let apiBytes = 8 << 20

    init(settings: HubSettings, idle: Duration, beat: @escaping () -> Void) throws {
        self.settings = settings
        token = try settings.token()
        guard let endpoint = URL(string: settings.endpoint) else { throw HubError.badEndpoint }
        self.endpoint = endpoint
        self.idle = idle
        self.beat = beat
    }

    var hasToken: Bool { token != nil }

    /// The token goes to the endpoint's scheme, host and port, and nowhere else.
    private func isEndpoint(_ url: URL) -> Bool {
        url.scheme?.lowercased() == endpoint.scheme?.lowercased()
            && url.host?.lowercased() == endpoint.host?.lowercased()
            && Self.port(url) == Self.port(endpoint)
    }

    private static func port(_ url: URL) -> Int {
        url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
    }

    /// A URL of the endpoint, each part of its path escaped, slashes inside of a part, too.
    func url(_ parts: [String], query: String = "") throws(HubError) -> URL {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let path = parts.map {
            "/" + ($0.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
        }
        guard let url = URL(string: settings.endpoint + path.joined() + query) else {
            throw .badEndpoint
        }
        return url
    }

    /// One transfer with redirects, without retries. Without `followsHosts`, a redirect to another
    /// host is returned as it is.
    func transfer(
        _ method: String, _ url: URL, range: String? = nil, limit: Int = Self.apiBytes,
        followsHosts: Bool = true,
        receive: ((HTTPURLResponse, Data) throws(HubError) -> Void)? = nil
    ) throws -> FetchedAnswer {
        var url = url
        for _ in 0...Self.redirects {
            var request = URLRequest(
                method, url,
                authorization: isEndpoint(url) ? token.map { "Bearer " + $0 } : nil)
            if let range { request.setValue(range, forHTTPHeaderField: "Range") }
            let limits = HTTPLimits(
                bytes: limit, idle: idle, total: receive == nil ? idle * 4 : .seconds(900))
            let trap = HubError.badAnswer(place: place(url), problem: TrapNotice.problem)
            let answer = try TrapNotice.saying(FetchMessage.failed(trap)) {
                try HTTPTransfer.run(request, limits: limits, beat: beat, receive: receive)
            }
            guard (301...308).contains(answer.status), answer.status != 304 else { return answer }
            guard let text = answer.header("Location"), text.utf8.count <= 1 << 14,
                let next = URL(string: text, relativeTo: url)?.absoluteURL,
                let scheme = next.scheme?.lowercased(), ["http", "https"].contains(scheme),
                next.host != nil, next.user == nil
            else {
                throw HubError.badAnswer(place: place(url), problem: "a redirect leads nowhere")
            }
            if !isEndpoint(next), !followsHosts { return answer }
            if url.scheme?.lowercased() == "https", scheme != "https" {
                throw HubError.insecureRedirect(place: place(url))
            }
            url = next
        }
        throw HubError.tooManyRedirects(place: place(url))
    }

    /// A URL without its query, which may hold a signature.
    func place(_ url: URL) -> String {
        let host = (url.host ?? "") + (url.port.map { ":\($0)" } ?? "")
        return String((host + url.path).prefix(500))
    }

    /// Repeats `body` while it fails in a way that passes. `hasMoved`: whether the last attempt
    /// brought anything; it does not count then. `place` is for the error.
    func retrying<Value>(
        _ place: String, hasMoved: () -> Bool = { false },
        _ body: () throws -> Attempt<Value>
    ) throws -> Value {
        var failed = 0
        var problem = HubError.network(place: place, problem: "", attempts: 0)
        // Progress is bounded, too: a server may send one byte for each connection.
        for _ in 0..<1000 {
            var pause: Duration?
            do {
                switch try body() {
                case .done(let value): return value
                case .again(let status, let after):
                    problem = .status(place: place, code: status)
                    pause = after.map { min($0, .seconds(60)) }
                }
            } catch HTTPFailure.network(let text) {
                problem = .network(place: place, problem: text, attempts: failed + 1)
            } catch HTTPFailure.tooLong {
                throw HubError.badAnswer(place: place, problem: "it is too long")
            } catch HTTPFailure.storage(let error) {
                throw error
            }
            failed = hasMoved() ? 1 : failed + 1
            if failed >= Self.attempts { throw problem }
            let end = ContinuousClock.now + (pause ?? .milliseconds(250 << (failed - 1)))
            while ContinuousClock.now < end {
                beat()
                usleep(50_000)
            }
        }
        throw problem
    }

    enum Attempt<Value> {
        case done(Value)
        case again(status: Int, after: Duration?)
    }

    /// Whether the answer asks to come back later.
    static func later<Value>(_ answer: FetchedAnswer) -> Attempt<Value>? {
        guard answer.status == 429 || answer.status == 408 || answer.status >= 500 else {
            return nil
        }
        let after = answer.header("Retry-After").flatMap { Int($0) }
        return .again(
            status: answer.status, after: after.map { .seconds(max(0, min($0, 3600))) })
    }

    /// What a status other than success means. Only the endpoint knows repositories; a storage's host or
    /// a proxy between here and there may forbid, too.
    func error(_ answer: FetchedAnswer, _ reference: HubReference, file: String?, at url: URL)
        -> HubError
    {
        let repository = reference.repository
        let answered = answer.response.url ?? url
        let other = HubError.status(place: place(answered), code: answer.status)
        guard isEndpoint(answered) else { return other }
        switch (answer.status, answer.header("X-Error-Code") ?? "") {
        case (_, "GatedRepo"): return .gated(repository: repository, hasToken: hasToken)
        case (_, "RevisionNotFound"):
            return .noRevision(repository: repository, revision: reference.revision)
        case (_, "EntryNotFound"): return .noFile(repository: repository, file: file ?? "")
        // The Hub hides private repositories behind 401 and an error code.
        case (_, "RepoNotFound"):
            return .noRepository(reference: reference.text, hasToken: hasToken)
        case (401, _): return .unauthorized(repository: repository, hasToken: hasToken)
        case (404, _):
            return file.map { .noFile(repository: repository, file: $0) }
                ?? .noRepository(reference: reference.text, hasToken: hasToken)
        default: return other
        }
    }
}
