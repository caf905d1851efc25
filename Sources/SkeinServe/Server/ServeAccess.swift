import Foundation
import SkeinBasics
import SkeinInference
import SkeinNetwork

/// Who may ask. Pure.
struct ServeAccess: Sendable {
    /// Without any, every client that can reach the address may ask.
    let keys: APIKeys
    /// The host that the user gave.
    let host: String?
    /// Other names by which the server is known (`--allowed-host`).
    var allowed: [String] = []
    /// The other site whose pages may ask (`--cors-origin`); `*`: any.
    let origin: String?

    /// What needs no key: whether the server is there, and the page, which holds nothing.
    private static let open: Set<String> = ["/", "/health"]

    /// Why a request is refused; nil if it is not.
    func refusal(of request: HTTPRequest) -> APIError? {
        if keys.isEmpty, let name = request.header("host"), !isOwn(name) {
            // A page of another site whose name was pointed here would be read as that site's own.
            return APIError(
                .misdirected,
                "this is not \(APIError.printable(name)): use the address that skein printed, or "
                    + "start it with --allowed-host NAME or --api-key-file")
        }
        if Self.open.contains(request.path) { return nil }
        if let problem = crossSite(request) { return problem }
        if keys.isEmpty { return nil }
        guard knows(request) else {
            return APIError(
                .unauthorized,
                "the API key is missing or wrong: send Authorization: Bearer KEY",
                code: "invalid_api_key")
        }
        return nil
    }

    /// Whose request it is, by its key.
    func owner(of request: HTTPRequest) -> RequestOwner {
        guard !keys.isEmpty, let given = request.bearer ?? request.header("x-api-key") else {
            return .everybody
        }
        return .key(given)
    }

    /// Whether the request has one of the keys.
    func knows(_ request: HTTPRequest) -> Bool {
        guard !keys.isEmpty, let given = request.bearer ?? request.header("x-api-key") else {
            return false
        }
        return keys.contains(given)
    }

    /// Pages of other sites may not ask unless the user said so: a browser would send them on.
    private func crossSite(_ request: HTTPRequest) -> APIError? {
        let from = request.header("origin")
        if let from, allows(from) { return nil }
        let isForeign =
            request.header("sec-fetch-site") == "cross-site"
            || from.map { !isSame($0, as: request.header("host")) } ?? false
        guard isForeign else { return nil }
        return APIError(
            .forbidden,
            "pages of other sites may not ask here: start skein serve with --cors-origin ORIGIN",
            code: "cross_origin")
    }

    private func isSame(_ origin: String, as host: String?) -> Bool {
        guard let host else { return false }
        return ["http://", "https://"].contains { $0 + host.lowercased() == origin.lowercased() }
    }

    private func allows(_ from: String) -> Bool { origin == "*" || origin == from }

    /// What tells a browser that a page of another site may read an answer.
    func headers(for request: HTTPRequest) -> [(name: String, value: String)] {
        guard let from = request.header("origin"), allows(from) else { return [] }
        return [
            ("Access-Control-Allow-Origin", from), ("Vary", "Origin"),
            ("Access-Control-Expose-Headers", Self.exposed),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
        ]
    }

    /// Headers of answers that a page of another site may read beside those that it always may.
    private static let exposed = "Retry-After, X-Request-Id, X-Skein-Dropped"

    /// Headers that a page may send: those that its browser asks for, such as openai-js's
    /// `x-stainless-*`, if they are names. The key is what protects the server, not their list.
    private func allowedHeaders(_ request: HTTPRequest) -> String {
        let usual = "Authorization, Content-Type, X-Api-Key, X-Request-Id"
        guard let asked = request.header("access-control-request-headers"),
            asked.utf8.count <= Limits.preflightBytes
        else { return usual }
        let isName: (UInt8) -> Bool = { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        let names = asked.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
            .filter { !$0.isEmpty && $0.utf8.allSatisfy(isName) }
        return names.isEmpty ? usual : names.joined(separator: ", ")
    }

    /// The answer to a browser that asks whether a page may ask.
    func preflight(_ request: HTTPRequest) -> HTTPResponse {
        guard let from = request.header("origin"), allows(from) else {
            return APIError(
                .forbidden, "pages of other sites may not ask here",
                code: "cross_origin"
            ).response
        }
        return HTTPResponse(
            .noContent,
            headers: headers(for: request) + [
                ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
                ("Access-Control-Allow-Headers", allowedHeaders(request)),
                ("Access-Control-Max-Age", "600"),
            ])
    }

    private func isOwn(_ header: String) -> Bool {
        OwnHost.isOwn(header, named: host)
            || allowed.contains { OwnHost.isOwn(header, named: $0) }
    }

    /// What a request is called in the log and in its answer: what its client calls it, if that can be
    /// written, or else `made`.
    static func name(of request: HTTPRequest?, else made: @autoclosure () -> String) -> String {
        guard let given = request?.header("x-request-id"),
            (1...Limits.requestNameBytes).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return made() }
        return given
    }
}

/// The keys that a server takes.
package struct APIKeys: Sendable, Equatable {
    private let keys: [[UInt8]]

    package static let none = APIKeys(keys: [])

    private init(keys: [[UInt8]]) { self.keys = keys }

    /// Reads a file with one key a line; empty lines and those that begin with # count for nothing.
    ///
    /// - Throws: `ServeError.badKey`.
    package init(text: [UInt8], path: String) throws(ServeError) {
        var keys: [[UInt8]] = []
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let key = Array(line.last == 0x0D ? line.dropLast() : line)
            if key.isEmpty || key.first == UInt8(ascii: "#") { continue }
            guard key.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw .badKey(path: path, line: index + 1)
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw .badKey(path: path, line: nil) }
        self.keys = keys
    }

    /// What is to be said of a key file that others than its owner may read or change; nil:
    /// nothing, as for a pipe.
    package static func warning(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, FileKind(mode: status.st_mode) == .regular,
            status.st_mode & 0o066 != 0
        else { return nil }
        let mode = String(status.st_mode & 0o777, radix: 8)
        return "others can read or change the keys in \(path) (its mode is \(mode)): "
            + "chmod 600 \(path)"
    }

    package var isEmpty: Bool { keys.isEmpty }

    /// How many different ones there are.
    var count: Int { Set(keys).count }

    /// Whether it is one of the keys, in a time that depends on the lengths alone.
    func contains(_ given: String) -> Bool {
        let bytes = Array(given.utf8)
        return keys.reduce(false) { found, key in
            ConstantTime.areEqual(key, bytes) || found
        }
    }
}
