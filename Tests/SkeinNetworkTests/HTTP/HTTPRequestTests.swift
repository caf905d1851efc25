import Testing

@testable import SkeinNetwork

@Suite("heads of requests")
struct HTTPRequestTests {
    /// The first request of `text`, given in pieces of `size` bytes.
    private func first(_ text: String, size: Int = 1 << 20) throws -> HTTPRequest? {
        var parser = HTTPRequestParser()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            parser.take(bytes[start..<min(bytes.count, start + size)])
            if let request = try parser.next() { return request }
        }
        return nil
    }

    @Test("a request is read, whole and byte by byte", arguments: [1, 2, 7, 1 << 20])
    func read(size: Int) throws {
        let text =
            "GET /a/b?c=d&e HTTP/1.1\r\nHost: x:1\r\nAuthorization:  Bearer t o \r\nX:\r\n\r\nrest"
        let request = try #require(try first(text, size: size))
        #expect(request.method == "GET" && request.path == "/a/b" && request.query == "c=d&e")
        #expect(request.header("host") == "x:1" && request.header("x") == "")
        #expect(request.bearer == "t o" && request.keepsAlive)
    }

    @Test("lines may end with a line feed alone, and empty lines may come before a request")
    func lineFeeds() throws {
        let request = try #require(try first("\r\n\nGET / HTTP/1.1\nHost: h\n\n"))
        #expect(request.path == "/" && request.header("host") == "h")
    }

    @Test("several requests in one piece are read one after the other")
    func pipeline() throws {
        var parser = HTTPRequestParser()
        parser.take("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET".utf8)
        #expect(try parser.next()?.path == "/1")
        #expect(try parser.next()?.path == "/2")
        #expect(try parser.next() == nil && parser.isInside)
    }

    @Test("who keeps the connection")
    func keepAlive() throws {
        func keeps(_ version: String, _ header: String) throws -> Bool? {
            try first("GET / HTTP/\(version)\r\nHost: h\r\n\(header)\r\n\r\n")?.keepsAlive
        }
        #expect(try keeps("1.1", "X: y") == true)
        #expect(try keeps("1.1", "Connection: Close") == false)
        #expect(try keeps("1.0", "X: y") == false)
        #expect(try keeps("1.0", "Connection: keep-alive") == true)
        #expect(try keeps("1.1", "Connection: close\r\nConnection: keep-alive") == false)
        #expect(try keeps("1.0", "Connection: x, Keep-Alive , close") == false)
        #expect(try keeps("1.1", "Connection: x,\tclose") == false)
    }

    static let malformed: [(String, HTTPProblem)] = [
        ("\u{1}\u{2}\r\n\r\n", .malformed("the request line is not printable ASCII")),
        ("hello\r\n\r\n", .malformed("the request line is not METHOD PATH VERSION")),
        ("GET  / HTTP/1.1\r\n\r\n", .malformed("the request line is not METHOD PATH VERSION")),
        ("G(T / HTTP/1.1\r\n\r\n", .malformed("the request line is not METHOD PATH VERSION")),
        ("GET x HTTP/1.1\r\nHost: h\r\n\r\n", .malformed("the path does not begin with /")),
        (
            "GET / FTP/1.1\r\nHost: h\r\n\r\n",
            .malformed("the request line does not end with a version of HTTP")
        ),
        ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", .versionNotSupported),
        ("GET / HTTP/1.1\r\n\r\n", .malformed("a request has one Host header")),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            .malformed("a request has one Host header")
        ),
        ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", .malformed("a header is not NAME: VALUE")),
        ("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", .malformed("a header is not NAME: VALUE")),
        ("GET / HTTP/1.1\r\n: h\r\n\r\n", .malformed("a header is not NAME: VALUE")),
        (
            "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
            .malformed("a header has a control character")
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
            .malformed("some lines end with CR LF and some with LF")
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            .malformed("some lines end with CR LF and some with LF")
        ),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", .bodyNotAllowed),
        ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", .bodyNotAllowed),
        (
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            .malformed("the Content-Length is not a number")
        ),
        (
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            .bodyNotAllowed
        ),
    ]

    @Test("what breaks the rules is refused", arguments: malformed)
    func refuse(text: String, problem: HTTPProblem) {
        #expect(throws: problem) { try first(text) }
        #expect(throws: problem) { try first(text, size: 1) }
        #expect(problem.status.rawValue >= 400 && !problem.words.isEmpty)
    }

    @Test("a first line and headers without end are refused before they fill memory")
    func endless() {
        #expect(throws: HTTPProblem.requestLineTooLong) {
            try first("GET /" + String(repeating: "a", count: 1 << 20), size: 4096)
        }
        #expect(throws: HTTPProblem.requestLineTooLong) {
            let path = String(repeating: "a", count: 9000)
            return try first("GET /\(path) HTTP/1.1\r\nHost: h\r\n\r\n")
        }
        #expect(throws: HTTPProblem.headersTooLong) {
            let more = String(repeating: "X: yyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", count: 10_000)
            return try first("GET / HTTP/1.1\r\nHost: h\r\n" + more, size: 4096)
        }
        #expect(throws: HTTPProblem.headersTooLong) {
            let more = String(repeating: "X:y\r\n", count: 65)
            return try first("GET / HTTP/1.1\r\nHost: h\r\n" + more + "\r\n")
        }
    }

    @Test("a first line and headers of just the limit are read, and of one byte more are not")
    func edges() throws {
        func head(line: Int, total: Int) -> String {
            let first =
                "GET /" + String(repeating: "a", count: line - 14) + " HTTP/1.1\r\nHost: h\r\n"
            return first + "X: " + String(repeating: "b", count: total - first.utf8.count - 7)
                + "\r\n\r\n"
        }
        for size in [1, 100, 1 << 20] {
            #expect(try first(head(line: 8192, total: 16384), size: size) != nil)
            #expect(throws: HTTPProblem.requestLineTooLong) {
                try first(head(line: 8193, total: 16384), size: size)
            }
            #expect(throws: HTTPProblem.headersTooLong) {
                try first(head(line: 8192, total: 16385), size: size)
            }
        }
    }

    @Test("damaged requests are refused or read, and never more than the limits are kept")
    func mutations() throws {
        let whole = Array(
            "GET /a?b HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
        var state: UInt64 = 14
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var readable = 0
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...next(3) {
                switch next(4) {
                case 0: bytes[next(bytes.count)] = UInt8(next(256))
                case 1: bytes.remove(at: next(bytes.count))
                case 2: bytes.insert(UInt8(next(256)), at: next(bytes.count + 1))
                default:
                    let at = next(bytes.count)
                    bytes.insert(contentsOf: bytes[at...], at: at)
                }
            }
            var parser = HTTPRequestParser()
            parser.take(bytes)
            do {
                while let request = try parser.next() {
                    #expect(request.path.hasPrefix("/"))
                    readable += 1
                }
            } catch {
                continue
            }
        }
        #expect(readable > 100)
    }

    @Test("a moment is written as HTTP has it")
    func dates() {
        for (seconds, text) in [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
            (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
        ] { #expect(HTTPDate.text(seconds) == text) }
    }
}
