import Foundation
import SkeinBasics
import SkeinCluster
import SkeinNetwork

/// A run's page (`--status`), as its URL is printed: `http://HOST:PORT/#token=SECRET`.
struct StatusPageAddress: Sendable, Equatable {
    var endpoint: Endpoint
    var token: String?

    /// Whether a text is meant as a page's address.
    static func isMeant(by text: String) -> Bool {
        text.hasPrefix("http://") || text.hasPrefix("https://")
    }

    /// nil for what is none, such as an address with https, which a run does not speak.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme == "http", parts.user == nil,
            let host = parts.host?.trimmingCharacters(in: CharacterSet(charactersIn: "[]")),
            !host.isEmpty,
            let endpoint = Endpoint(
                Endpoint(host: host, port: parts.port ?? 80).text), endpoint.port > 0
        else { return nil }
        self.endpoint = endpoint
        let mark = "token="
        token = parts.fragment.flatMap {
            $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : nil
        }
    }
}

/// Asks a run's page for what it shows.
enum StatusPageQuery {
    /// Dials, asks for /status.json and hangs up; blocks.
    ///
    /// - Parameters:
    ///   - page: its address.
    ///   - token: of the page; nil when there is none.
    ///   - timeout: from dialling to the answer.
    /// - Returns: the JSON object.
    /// - Throws: `NodeError.noStatus`, `SocketError`.
    static func ask(
        _ page: StatusPageAddress, token: String?, timeout: Duration
    ) throws -> [UInt8] {
        if let token, !token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw failure(page, "its token has characters that none has")
        }
        do {
            let answer = try HTTPAsk.get(
                "/status.json", of: page.endpoint,
                headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [],
                limit: Limits.pageAnswerBytes, timeout: timeout)
            return try body(of: answer, from: page)
        } catch let problem as HTTPAsk.Problem {
            throw failure(page, detail(of: problem))
        }
    }

    private static func failure(_ page: StatusPageAddress, _ detail: String) -> NodeError {
        .noStatus(address: page.endpoint.text, detail: detail)
    }

    private static func detail(of problem: HTTPAsk.Problem) -> String {
        switch problem {
        case .late: "no answer in time"
        case .notTaken: "it takes no request"
        case .tooLong(let limit): "its answer is longer than \(limit) bytes"
        case .broken(let code): String(cString: strerror(code))
        case .foreign: "this is not the page of a run"
        }
    }

    /// The object in an answer.
    static func body(of answer: HTTPAsk.Answer, from page: StatusPageAddress) throws -> [UInt8] {
        switch answer.status {
        case "200": break
        case "401":
            throw failure(
                page,
                "the page wants its token: give --token-file with the one of --status-token-file, or "
                    + "the whole URL with #token=...")
        case "404": throw failure(page, detail(of: .foreign))
        default: throw failure(page, "it answers with status \(answer.status ?? "none")")
        }
        guard let body = answer.body else { throw failure(page, "the answer was cut off") }
        return body.last == UInt8(ascii: "\n") ? body.dropLast() : body
    }
}
