/// Reads the head of a request: its first line and its headers (RFC 9112, sections 3 and 5).
enum HTTPHead {
    /// How the end of a request's body is found (RFC 9112, section 6.3).
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    /// The request of a whole head, which ends with an empty line.
    static func request(_ head: [UInt8]) throws(HTTPProblem) -> HTTPRequest {
        var lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
        // What follows the last line's end.
        lines.removeLast()
        let returns = lines.count { $0.last == 0x0D }
        let isMixed = returns > 0 && returns < lines.count
        lines = lines.dropLast().map { $0.last == 0x0D ? $0.dropLast() : $0 }
        guard let first = lines.first else { throw .malformed("there is no request line") }
        guard first.count <= Limits.requestLineBytes else { throw .requestLineTooLong }
        guard head.count <= Limits.headBytes, lines.count - 1 <= Limits.headers else {
            throw .headersTooLong
        }
        // A proxy may have taken the lone line feed, and what follows it, for part of a value.
        guard !isMixed else { throw .malformed("some lines end with CR LF and some with LF") }
        var request = try requestLine(first)
        for line in lines.dropFirst() { request.headers.append(try header(line)) }
        try check(&request)
        // What an absolute target names counts, and no Host beside it (RFC 9112, section 3.2.2).
        if let authority = try target(first).authority {
            request.headers.removeAll { $0.name == "host" }
            request.headers.append(("host", authority))
        }
        return request
    }

    /// The path and the query of a first line, and the host of one in the absolute form, which clients
    /// send to proxies.
    private static func target(
        _ line: ArraySlice<UInt8>
    ) throws(HTTPProblem) -> (path: ArraySlice<UInt8>, authority: String?) {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3 else {
            throw .malformed("the request line is not METHOD PATH VERSION")
        }
        let target = words[1]
        let start = String(decoding: target.prefix(8), as: UTF8.self).lowercased()
        guard let scheme = ["http://", "https://"].first(where: start.hasPrefix) else {
            guard target.first == 0x2F else { throw .malformed("the path does not begin with /") }
            return (target, nil)
        }
        let rest = target.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
        guard end > rest.startIndex else { throw .malformed("the target names no host") }
        let path = rest[end...]
        return (
            path.first == 0x2F ? path : ArraySlice([0x2F] + path),
            String(decoding: rest[..<end], as: UTF8.self)
        )
    }

    /// Bytes of the first line, without its end; nil: it has not ended.
    static func lineBytes(_ bytes: [UInt8]) -> Int? {
        guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
        return end > 0 && bytes[end - 1] == 0x0D ? end - 1 : end
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
        let target = try target(line).path
        let mark = target.firstIndex(of: UInt8(ascii: "?"))
        return HTTPRequest(
            method: String(decoding: words[0], as: UTF8.self),
            path: String(decoding: target[..<(mark ?? target.endIndex)], as: UTF8.self),
            query: mark.map { String(decoding: target[($0 + 1)...], as: UTF8.self) },
            headers: [], keepsAlive: version == "HTTP/1.1",
            minorVersion: version == "HTTP/1.1" ? 1 : 0)
    }

    /// `NAME: VALUE`, of a head or of a trailer.
    static func header(
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

    /// Looks at the headers that say for whom the request is and who keeps the connection.
    private static func check(_ request: inout HTTPRequest) throws(HTTPProblem) {
        let hosts = request.headers.count { $0.name == "host" }
        // HTTP/1.0 has none.
        guard hosts == 1 || (hosts == 0 && request.minorVersion == 0) else {
            throw .malformed("a request has one Host header")
        }
        let words = request.headers.filter { $0.name == "connection" }.flatMap { _, value in
            value.lowercased().split(separator: ",").map {
                $0.filter { $0 != " " && $0 != "\t" }
            }
        }
        if words.contains("keep-alive") { request.keepsAlive = true }
        if words.contains("close") { request.keepsAlive = false }
    }

    /// What follows the head. Anything that two programs could understand differently is refused:
    /// one of them would take a part of the body for the next request.
    static func framing(of request: HTTPRequest) throws(HTTPProblem) -> Framing {
        let lengths = request.headers.filter { $0.name == "content-length" }
        let codings = request.headers.filter { $0.name == "transfer-encoding" }
        guard let coding = codings.first else {
            guard let length = lengths.first else { return .none }
            guard lengths.count == 1 else {
                throw .malformed("a request has one Content-Length header")
            }
            let bytes = try number(length.value)
            return bytes == 0 ? .none : .length(bytes)
        }
        guard lengths.isEmpty else {
            throw .malformed("a request has either a Content-Length or a Transfer-Encoding")
        }
        guard codings.count == 1 else {
            throw .malformed("a request has one Transfer-Encoding header")
        }
        // A client or a proxy of HTTP/1.0 does not know chunks.
        guard request.minorVersion > 0 else {
            throw .malformed("HTTP/1.0 has no Transfer-Encoding")
        }
        guard coding.value.lowercased() == "chunked" else { throw .codingNotSupported }
        return .chunked
    }

    /// Whether the body has a content encoding other than `identity` (RFC 9110, section 8.4).
    static func isEncoded(_ request: HTTPRequest) -> Bool {
        request.headers.contains { name, value in
            name == "content-encoding"
                && value.lowercased().split { ", \t".contains($0) }.contains { $0 != "identity" }
        }
    }

    /// A Content-Length; one that no `Int` holds is the largest, which no limit allows.
    private static func number(_ text: String) throws(HTTPProblem) -> Int {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .malformed("the Content-Length is not a number")
        }
        return Int(text) ?? .max
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
