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
    private var sendsToken: Bool

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
        cache = expanded(
            value("HF_HUB_CACHE") ?? value("HUGGINGFACE_HUB_CACHE") ?? FilePath.join(home, "hub"))
        tokenFile = expanded(value("HF_TOKEN_PATH") ?? FilePath.join(home, "token"))
        variableToken = value("HF_TOKEN") ?? value("HUGGING_FACE_HUB_TOKEN")
        func isOn(_ name: String) -> Bool {
            ["1", "ON", "YES", "TRUE"].contains(value(name)?.uppercased())
        }
        sendsToken = !isOn("HF_HUB_DISABLE_IMPLICIT_TOKEN")
        isOffline = isOn("HF_HUB_OFFLINE")
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
    /// - Throws: `HubError.badToken` when it is no header's value, `.storage`.
    package func token() throws -> String? {
        guard sendsToken else { return nil }
        let text = try variableToken ?? fileToken()
        guard let token = text?.trimmingCharacters(in: .whitespacesAndNewlines), !token.isEmpty
        else { return nil }
        guard token.utf8.count <= Limits.tokenBytes,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw HubError.badToken(place: variableToken == nil ? tokenFile : "HF_TOKEN") }
        return token
    }

    /// The token file's text, or nil if there is none.
    private func fileToken() throws(HubError) -> String? {
        func failure() -> HubError { .storage(path: tokenFile, operation: "read", code: errno) }
        let descriptor = open(tokenFile, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure()
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Limits.tokenBytes + 1)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw failure() }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
