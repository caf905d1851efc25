/// A whole answer.
package struct HTTPResponse: Sendable {
    package var status: HTTPStatus
    package var contentType: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(
        _ status: HTTPStatus = .ok, contentType: String = "text/plain; charset=utf-8",
        headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// An answer of one line.
    package init(_ status: HTTPStatus, line: String) {
        self.init(status, body: Array((line + "\n").utf8))
    }

    /// Headers of every answer that does not give them another value: browsers must not guess
    /// types, keep copies, tell other sites where a link was followed, or let other sites embed
    /// what is here.
    static let common: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
    ]

    /// How a client finds the end of an answer (RFC 9112, section 6.3).
    enum Framing: Equatable {
        case length(Int)
        case chunked
        /// With the end of the connection.
        case untilClosed
    }

    /// The head as it is sent.
    static func head(
        _ status: HTTPStatus, contentType: String, headers: [(name: String, value: String)],
        framing: Framing, keepsAlive: Bool, date: String
    ) -> [UInt8] {
        var text = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\n"
        // An answer without content has no type and no length (RFC 9110, section 8.6).
        if status != .noContent {
            text += "Content-Type: \(contentType)\r\n"
            switch framing {
            case .length(let length): text += "Content-Length: \(length)\r\n"
            case .chunked: text += "Transfer-Encoding: chunked\r\n"
            case .untilClosed: break
            }
        }
        text += "Date: \(date)\r\n"
        text += "Connection: \(keepsAlive ? "keep-alive" : "close")\r\n"
        let names = Set(headers.map { $0.name.lowercased() })
        for (name, value) in common where !names.contains(name.lowercased()) {
            text += "\(name): \(value)\r\n"
        }
        for (name, value) in headers { text += "\(name): \(oneLine(value))\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// The answer as it is sent; one to HEAD has no body.
    func bytes(keepsAlive: Bool, date: String, isHead: Bool = false) -> [UInt8] {
        Self.head(
            status, contentType: contentType, headers: headers, framing: .length(body.count),
            keepsAlive: keepsAlive, date: date) + (isHead || status == .noContent ? [] : body)
    }

    /// A value that cannot end its header, wherever it came from.
    private static func oneLine(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return value }
        return String(
            value.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }
}
