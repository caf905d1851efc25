/// An HTTP/1.1 request, checked: what a site may look at.
package struct HTTPRequest: Sendable, Equatable {
    package var method: String
    /// The path as it came, before any `?`; it begins with `/` and is not decoded.
    package var path: String
    /// What followed the `?`; nil without one.
    package var query: String?
    /// Names in lower case, in the order in which they came.
    package var headers: [(name: String, value: String)]
    /// Whether the client keeps the connection for another request.
    package var keepsAlive: Bool
    /// 0 or 1, of HTTP/1.0 or HTTP/1.1: only the latter knows chunks.
    var minorVersion = 1
    /// What came after the head; empty without a body.
    package var body: [UInt8] = []

    /// The value of a header that may come once; nil when it is missing or comes twice.
    package func header(_ name: String) -> String? {
        let found = headers.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// The token of `Authorization: Bearer TOKEN`.
    package var bearer: String? {
        guard let value = header("authorization"), value.utf8.count > 7,
            value.prefix(7).lowercased() == "bearer "
        else { return nil }
        return String(value.dropFirst(7))
    }

    package static func == (left: HTTPRequest, right: HTTPRequest) -> Bool {
        left.method == right.method && left.path == right.path && left.query == right.query
            && left.keepsAlive == right.keepsAlive && left.minorVersion == right.minorVersion
            && left.body == right.body
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }
}

/// Why a request is refused before it is known what it wants.
package enum HTTPProblem: Error, Equatable {
    /// It is not HTTP, or breaks its rules; a few words say how.
    case malformed(String)
    case requestLineTooLong
    case headersTooLong
    /// HTTP/2 without negotiation, or another version.
    case versionNotSupported
    /// It announces a body, and the site takes none.
    case bodyNotAllowed
    /// The site has an answer to it already.
    case refused
    /// Its body has more bytes than the site takes.
    case bodyTooLong(limit: Int)
    /// Its body has a transfer coding other than `chunked`.
    case codingNotSupported
    /// Its body has a content encoding, such as `gzip`: no site decodes one.
    case encodingNotSupported
    /// It expects something other than `100-continue`.
    case expectationFailed

    package var status: HTTPStatus {
        switch self {
        case .malformed, .refused: .badRequest
        case .requestLineTooLong: .uriTooLong
        case .headersTooLong: .headersTooLarge
        case .versionNotSupported: .versionNotSupported
        case .bodyNotAllowed, .bodyTooLong: .contentTooLarge
        case .codingNotSupported: .notImplemented
        case .encodingNotSupported: .unsupportedMediaType
        case .expectationFailed: .expectationFailed
        }
    }

    /// Headers that the answer has because of it.
    var headers: [(name: String, value: String)] {
        // RFC 9110, section 15.5.16.
        self == .encodingNotSupported ? [("Accept-Encoding", "identity")] : []
    }

    package var words: String {
        switch self {
        case .malformed(let detail): detail
        case .requestLineTooLong:
            "the first line is longer than \(Limits.requestLineBytes) bytes"
        case .headersTooLong:
            "the headers are longer than \(Limits.headBytes) bytes or more than \(Limits.headers)"
        case .versionNotSupported: "only HTTP/1.0 and HTTP/1.1 are spoken here"
        case .refused: "the request is refused"
        case .bodyNotAllowed: "a request with a body is not taken here"
        case .bodyTooLong(let limit): "the body is longer than \(limit) bytes"
        case .codingNotSupported: "the only Transfer-Encoding here is chunked"
        case .encodingNotSupported:
            "bodies are taken without a Content-Encoding only: send this one uncompressed"
        case .expectationFailed: "the only expectation that is met here is 100-continue"
        }
    }
}
