/// The head of an HTTP/1.1 request, checked: what a handler may look at.
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
            && left.keepsAlive == right.keepsAlive
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }
}

/// Why a request is refused before anybody looks at what it wants.
package enum HTTPProblem: Error, Equatable {
    /// It is not HTTP, or breaks its rules; a few words say how.
    case malformed(String)
    case requestLineTooLong
    case headersTooLong
    /// HTTP/1.0 with a body, HTTP/2 without negotiation, or another version.
    case versionNotSupported
    /// It announces a body, and nothing here takes one.
    case bodyNotAllowed

    package var status: HTTPStatus {
        switch self {
        case .malformed: .badRequest
        case .requestLineTooLong: .uriTooLong
        case .headersTooLong: .headersTooLarge
        case .versionNotSupported: .versionNotSupported
        case .bodyNotAllowed: .contentTooLarge
        }
    }

    package var words: String {
        switch self {
        case .malformed(let detail): detail
        case .requestLineTooLong:
            "the first line is longer than \(Limits.requestLineBytes) bytes"
        case .headersTooLong:
            "the headers are longer than \(Limits.headBytes) bytes or more than \(Limits.headers)"
        case .versionNotSupported: "only HTTP/1.0 and HTTP/1.1 are spoken here"
        case .bodyNotAllowed: "a request with a body is not taken here"
        }
    }
}
