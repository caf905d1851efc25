/// What HTTP says in a number (RFC 9110, section 15); only those that are used.
package enum HTTPStatus: Int, Sendable {
    case ok = 200
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case contentTooLarge = 413
    case uriTooLong = 414
    case misdirected = 421
    case headersTooLarge = 431
    case serviceUnavailable = 503
    case versionNotSupported = 505

    package var reason: String {
        switch self {
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .misdirected: "Misdirected Request"
        case .headersTooLarge: "Request Header Fields Too Large"
        case .serviceUnavailable: "Service Unavailable"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }
}

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

    /// Headers of every answer: browsers must not guess types, keep copies, tell other sites where a
    /// link was followed, or let other sites embed what is here.
    static let common: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
    ]

    /// The head as it is sent; `length` nil: the body ends with the connection.
    static func head(
        _ status: HTTPStatus, contentType: String, headers: [(name: String, value: String)],
        length: Int?, keepsAlive: Bool
    ) -> [UInt8] {
        var text =
            "HTTP/1.1 \(status.rawValue) \(status.reason)\r\nContent-Type: \(contentType)\r\n"
        if let length { text += "Content-Length: \(length)\r\n" }
        text += "Connection: \(keepsAlive ? "keep-alive" : "close")\r\n"
        for (name, value) in common + headers { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// The answer as it is sent; one to HEAD has no body.
    func bytes(keepsAlive: Bool, isHead: Bool = false) -> [UInt8] {
        Self.head(
            status, contentType: contentType, headers: headers, length: body.count,
            keepsAlive: keepsAlive) + (isHead ? [] : body)
    }
}

/// What answers requests. It lives on its server's thread.
package protocol HTTPSite: AnyObject {
    /// Answers at once.
    func answer(_ request: HTTPRequest) -> HTTPAnswer

    /// The server is about to stop: the last events.
    func finish()
}

/// What a site gives for a request.
package enum HTTPAnswer {
    case response(HTTPResponse)
    /// Server-sent events until either side ends; called with the stream once its head is sent.
    case events((EventStream) -> Void)
}
