import SkeinTestSupport

/// The bytes of requests.
enum Ask {
    static func get(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: h\r\n\(more)\r\n"
    }

    static func post(_ path: String, _ body: String, _ more: String = "") -> String {
        head(path, "\(more)Content-Length: \(body.utf8.count)") + body
    }

    static func head(_ path: String, _ headers: String, version: String = "1.1") -> String {
        "POST \(path) HTTP/\(version)\r\nHost: h\r\n\(headers)\r\n\r\n"
    }
}

/// How a client leaves.
enum Leaving: CaseIterable, Sendable {
    case closes
    case endsItsSide
    case resets

    func leave(_ client: inout HTTPClient?) {
        switch self {
        case .closes: client = nil
        case .endsItsSide: client?.endWriting()
        case .resets:
            client?.resetsWhenDropped()
            client = nil
        }
    }
}
