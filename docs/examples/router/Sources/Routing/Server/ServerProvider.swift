import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server that speaks OpenAI's protocol: `skein serve`, vLLM, llama.cpp and others.
package struct ServerProvider: Provider {
    package let name: String
    package let isLocal: Bool
    package let window: Int
    private let endpoint: URL
    private let model: String
    private let key: String?

    /// - Parameters:
    ///   - name: what people call it by.
    ///   - base: what comes before `/chat/completions`, such as `http://127.0.0.1:8080/v1`.
    ///   - model: one of those that `/models` lists.
    ///   - key: sent as a bearer token, to this address alone.
    ///   - window: tokens of a prompt and its answer.
    /// - Throws: `Flaw`.
    package init(
        name: String, base: URL, model: String, key: String? = nil, window: Int = 4096
    ) throws {
        guard let host = base.host, ["http", "https"].contains(base.scheme?.lowercased()),
            1...65535 ~= base.port ?? 80
        else {
            throw Flaw.address(base.absoluteString)
        }
        guard base.user == nil, base.password == nil else { throw Flaw.credentials(host) }
        _ = Self.keepsLocalRequestsHere
        self.name = name
        self.model = model
        self.key = key
        self.window = window
        endpoint = base.appending(path: "chat/completions")
        isLocal = (Self.localHosts + ["[::1]"]).contains(host)
        guard key == nil || isLocal || base.scheme?.lowercased() == "https" else {
            throw Flaw.openKey(host)
        }
    }

    /// The environment may name a proxy on another machine. What is for this machine stays here; libcurl looks at the
    /// lower-case name first. Set once, before there is a request.
    private static let keepsLocalRequestsHere: Void = {
        let environment = ProcessInfo.processInfo.environment
        let known = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        setenv(
            "no_proxy", ([known].filter { !$0.isEmpty } + localHosts).joined(separator: ","), 1)
    }()
    private static let localHosts = ["localhost", "127.0.0.1", "::1"]

    /// Why there can be no such server.
    package enum Flaw: Error, Equatable, CustomStringConvertible {
        case address(String)
        case openKey(String)
        case credentials(String)

        package var description: String {
            switch self {
            case .address(let address):
                "\(address) is no address of a server; one is http://127.0.0.1:8080/v1"
            case .openKey(let host): "the key would go to \(host) unencrypted; use https"
            case .credentials(let host):
                "the address of \(host) has a name or a password in it; give a key instead"
            }
        }
    }

    // With the scheme: whoever changes answers on the way of http is not who answers over https. Without a
    // query, which may be a key.
    package var identity: String {
        "\(endpoint.scheme?.lowercased() ?? "")://\(endpoint.host ?? ""):\(endpoint.port ?? 0)\(endpoint.path) \(model)"
    }

    /// An estimate, rather too high: a token has three bytes or more in most text of ASCII, other characters may be a
    /// token for each byte, and a message has some more tokens.
    package func tokenCount(of messages: [Message]) -> Int {
        messages.reduce(8) { sum, message in
            let plain = message.text.utf8.reduce(0) { $0 + ($1 < 0x80 ? 1 : 0) }
            return sum + 8 + (plain + 2) / 3 + message.text.utf8.count - plain
        }
    }

    package func answer(
        to messages: [Message], tokens: Int
    ) -> AsyncThrowingStream<String, any Error> {
        AsyncThrowingStream { continuation in
            do {
                var request = URLRequest(url: endpoint)
                request.httpMethod = "POST"
                request.setValue("application/json", forHTTPHeaderField: "Content-Type")
                request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
                if let key {
                    request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
                }
                request.httpBody = try JSONEncoder().encode(
                    ChatCompletionRequest(model: model, messages: messages, maximumTokens: tokens))
                // No token of a vocabulary has 256 bytes on average.
                Exchanges.shared.start(request, limit: tokens * 256, continuation)
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }
}
