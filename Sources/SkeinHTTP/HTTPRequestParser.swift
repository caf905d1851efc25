/// Reads the heads of requests from bytes as they come (RFC 9112). Pure; holds at most
/// `Limits.headBytes`.
///
/// Strict where leniency lets two programs understand one request differently: a space before a
/// colon, a folded header, a bare carriage return, two different lengths and unknown transfer codings
/// are refused. Requests have no bodies: everything that announces one is refused.
package struct HTTPRequestParser: Sendable {
    private var bytes: [UInt8] = []
    /// Bytes of `bytes` in which no head ends.
    private var searched = 0

    package init() {}

    /// Whether a request has begun and is not complete.
    package var isInside: Bool { !bytes.isEmpty }

    /// Takes the next bytes of the connection.
    ///
    /// - Parameter more: at most a few kilobytes; call `next` after each piece.
    package mutating func take(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// The next request; nil: more bytes are needed.
    ///
    /// - Throws: `HTTPProblem`; nothing can be read from the connection after it.
    package mutating func next() throws(HTTPProblem) -> HTTPRequest? {
        // Empty lines before a request are allowed (RFC 9112, section 2.2).
        let empty = bytes.prefix { $0 == 0x0D || $0 == 0x0A }.count
        if empty > 0 {
            bytes.removeFirst(empty)
            searched = 0
        }
        guard let end = headEnd() else {
            let lineEnd = bytes.firstIndex(of: 0x0A)
            if lineEnd ?? bytes.count > Limits.requestLineBytes { throw .requestLineTooLong }
            if bytes.count > Limits.headBytes { throw .headersTooLong }
            return nil
        }
        let head = Array(bytes[..<end])
        bytes.removeFirst(end)
        searched = 0
        return try Self.request(head)
    }

    /// The index after the empty line that ends the head.
    private mutating func headEnd() -> Int? {
        var index = max(0, searched - 3)
        while index < bytes.count {
            defer { index += 1 }
            guard bytes[index] == 0x0A, index > 0 else { continue }
            if bytes[index - 1] == 0x0A { return index + 1 }
            if index > 1, bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A { return index + 1 }
        }
        searched = bytes.count
        return nil
    }

    private static func request(_ head: [UInt8]) throws(HTTPProblem) -> HTTPRequest {
        var lines = head.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.last == 0x0D ? line.dropLast() : line
        }
        // The empty line, and what follows its end.
        lines.removeLast(2)
        guard let first = lines.first else { throw .malformed("there is no request line") }
        guard first.count <= Limits.requestLineBytes else { throw .requestLineTooLong }
        guard head.count <= Limits.headBytes, lines.count - 1 <= Limits.headers else {
            throw .headersTooLong
        }
        var request = try requestLine(first)
        for line in lines.dropFirst() { request.headers.append(try header(line)) }
        try check(&request)
        return request
    }

    /// `GET /path?query HTTP/1.1`.
    private static func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPProblem) -> HTTPRequest {
        guard line.allSatisfy({ $0 > 0x1F && $0 < 0x7F }) else {
            throw .malformed("the request line is not printable ASCII")
        }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(isToken) else {
            throw .malformed("the request line is not METHOD PATH VERSION")
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version.hasPrefix("HTTP/") else {
            throw .malformed("the request line does not end with a version of HTTP")
        }
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw .versionNotSupported }
        var target = words[1]
        // The absolute form, which clients send to proxies: the path is what counts here.
        for scheme in ["http://", "https://"] where target.starts(with: Array(scheme.utf8)) {
            let rest = target.dropFirst(scheme.utf8.count)
            target = rest.firstIndex(of: 0x2F).map { rest[$0...] } ?? [0x2F]
        }
        guard target.first == 0x2F else { throw .malformed("the path does not begin with /") }
        let mark = target.firstIndex(of: UInt8(ascii: "?"))
        return HTTPRequest(
            method: String(decoding: words[0], as: UTF8.self),
            path: String(decoding: target[..<(mark ?? target.endIndex)], as: UTF8.self),
            query: mark.map { String(decoding: target[($0 + 1)...], as: UTF8.self) },
            headers: [], keepsAlive: version == "HTTP/1.1")
    }

    private static func header(
        _ line: ArraySlice<UInt8>
    ) throws(HTTPProblem) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
            line[..<colon].allSatisfy(isToken)
        else { throw .malformed("a header is not NAME: VALUE") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ $0 == 0x09 || ($0 > 0x1F && $0 != 0x7F) }) else {
            throw .malformed("a header has a control character")
        }
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let start = value.firstIndex { !isBlank($0) } ?? value.endIndex
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        return (
            String(decoding: line[..<colon], as: UTF8.self).lowercased(),
            String(decoding: value[start..<end], as: UTF8.self)
        )
    }

    /// Looks at the headers that decide where the request ends, and what follows it.
    private static func check(_ request: inout HTTPRequest) throws(HTTPProblem) {
        let hosts = request.headers.filter { $0.name == "host" }
        // HTTP/1.0 has none.
        guard hosts.count == 1 || (hosts.isEmpty && !request.keepsAlive) else {
            throw .malformed("a request has one Host header")
        }
        for (name, value) in request.headers {
            switch name {
            case "transfer-encoding": throw .bodyNotAllowed
            case "content-length":
                guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                    throw .malformed("the Content-Length is not a number")
                }
                guard value.utf8.allSatisfy({ $0 == 0x30 }) else { throw .bodyNotAllowed }
            case "connection":
                let words = value.lowercased().split(separator: ",").map {
                    $0.filter { $0 != " " }
                }
                if words.contains("close") { request.keepsAlive = false }
                if words.contains("keep-alive"), !words.contains("close") {
                    request.keepsAlive = true
                }
            default: break
            }
        }
    }

    /// RFC 9110, section 5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: tokenMarks.contains(byte)
        }
    }

    private static let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)
}
