import Foundation
import SkeinBasics

/// Where the Hub and its cache are. The variables are those of Python's huggingface_hub.
package struct HubSettings: Sendable, Equatable {
    /// Scheme, host and port, without a slash at its end.
    package var endpoint: String
    /// The folder with `models--ORG--NAME`.
    package var cache: String
    /// Whether no server is asked.
    package var isOffline: Bool
    /// Where a token is read from, in this order: a variable, else a file.
    private var variableToken: String?
    private var tokenFile: String

    /// - Parameter environment: The process's variables.
    /// - Throws: `HubError.badEndpoint`.
    package init(environment: [String: String]) throws {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        func expanded(_ path: String) -> String {
            guard path == "~" || path.hasPrefix("~/") else { return path }
            return (value("HOME") ?? "/") + path.dropFirst()
        }
        let caches = value("XDG_CACHE_HOME") ?? "~/.cache"
        let home = expanded(value("HF_HOME") ?? FilePath.join(caches, "huggingface"))
        cache = expanded(value("HF_HUB_CACHE") ?? FilePath.join(home, "hub"))
        tokenFile = expanded(value("HF_TOKEN_PATH") ?? FilePath.join(home, "token"))
        variableToken = value("HF_TOKEN")
        let offline = value("HF_HUB_OFFLINE")?.uppercased()
        isOffline = ["1", "ON", "YES", "TRUE"].contains(offline)
        var endpoint = value("HF_ENDPOINT") ?? "https://huggingface.co"
        while endpoint.hasSuffix("/") { endpoint.removeLast() }
        guard let url = URL(string: endpoint), ["http", "https"].contains(url.scheme ?? ""),
            let host = url.host, !host.isEmpty, url.user == nil, url.query == nil
        else { throw HubError.badEndpoint }
        self.endpoint = endpoint
    }

    /// The user's token, or nil. It is never printed, and only sent to the endpoint's host.
    ///
    /// - Returns: The token without blanks around it.
    /// - Throws: `HubError.badToken` when it is no header's value.
    package func token() throws -> String? {
        var text = variableToken
        if text == nil, let file = FileHandle(forReadingAtPath: tokenFile) {
            defer { try? file.close() }
            let bytes = try file.read(upToCount: Limits.tokenBytes + 1) ?? Data()
            text = String(decoding: bytes, as: UTF8.self)
        }
        guard let token = text?.trimmingCharacters(in: .whitespacesAndNewlines), !token.isEmpty
        else { return nil }
        guard token.utf8.count <= Limits.tokenBytes,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw HubError.badToken }
        return token
    }
}
