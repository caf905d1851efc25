import Testing

@testable import SkeinNetwork

@Suite("bodies of requests")
struct HTTPBodyTests {
    /// All requests of `text`, given in pieces of `size` bytes.
    static func requests(
        _ text: String, size: Int = 1 << 20, limit: Int = 1000
    ) throws(HTTPProblem) -> [HTTPRequest] {
        var parser = HTTPRequestParser()
        let bytes = Array(text.utf8)
        var found: [HTTPRequest] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            parser.take(bytes[start..<min(bytes.count, start + size)])
            while let request = try parser.next(bodyLimit: { _ in limit }) { found.append(request) }
        }
        return found
    }

    static func text(_ headers: String, _ rest: String, version: String = "1.1") -> String {
        "POST /a HTTP/\(version)\r\nHost: h\r\n\(headers)\r\n\r\n\(rest)"
    }

    static let next = "GET /next HTTP/1.1\r\nHost: h\r\n\r\n"
    static let chunked = "Transfer-Encoding: chunked"

    static let whole: [(String, String)] = [
        (text("Content-Length: 5", "hello"), "hello"),
        (text("Content-Length: \t 0005\t", "hello"), "hello"),
        (text("content-length: 5", "\r\n\r\n\n"), "\r\n\r\n\n"),
        (text("Content-Length: 0", ""), ""),
        (text("Content-Length: 5", "hello", version: "1.0"), "hello"),
        (text("Transfer-Encoding: \tCHUNKED ", "5\r\nhello\r\n0\r\n\r\n"), "hello"),
        (text(chunked, "0\r\n\r\n"), ""),
        (text(chunked, "00000000000000000005\r\nhello\r\n000\r\n\r\n"), "hello"),
        (
            text(chunked, "A\r\n0123456789\r\na\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n"),
            "0123456789\r\n\r\n\r\n\r\n\r\n"
        ),
        (text(chunked, "5;a\r\nhello\r\n1;b=\"c d\"\r\n!\r\n0;e\r\n\r\n"), "hello!"),
        (text(chunked, "5\r\nhello\r\n0\r\nX: y\r\nContent-Length: 9\r\n\r\n"), "hello"),
        (text("Transfer_Encoding: chunked", ""), ""),
        (text("Content-Encoding: Identity\r\nContent-Length: 2", "hi"), "hi"),
        (text("Content-Encoding: identity, identity\r\nContent-Length: 2", "hi"), "hi"),
        (text("Content-Encoding:\r\nContent-Length: 2", "hi"), "hi"),
        (text("Content-Encoding: gzip", ""), ""),
        (text("Expect: 100-Continue\r\nContent-Length: 2", "hi"), "hi"),
        (text("Expect: more\r\nContent-Length: 2", "hi", version: "1.0"), "hi"),
    ]

    @Test("a body ends where it says, and the next request begins there", arguments: whole)
    func read(text: String, body: String) throws {
        for size in [1, 2, 3, 7, 1 << 20] {
            let requests = try Self.requests(text + Self.next, size: size)
            try #require(requests.count == 2)
            #expect(String(decoding: requests[0].body, as: UTF8.self) == body)
            #expect(requests[1].path == "/next" && requests[1].body.isEmpty)
        }
    }

    static let lengths: [(String, HTTPProblem)] = [
        (
            "Content-Length: 5\r\nContent-Length: 6",
            .malformed("a request has one Content-Length header")
        ),
        (
            "Content-Length: 5\r\nContent-Length: 5",
            .malformed("a request has one Content-Length header")
        ),
        (
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            .malformed("a request has either a Content-Length or a Transfer-Encoding")
        ),
        (
            "Transfer-Encoding: chunked\r\nContent-Length: 0",
            .malformed("a request has either a Content-Length or a Transfer-Encoding")
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            .malformed("a request has one Transfer-Encoding header")
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            .malformed("a request has one Transfer-Encoding header")
        ),
        ("Transfer-Encoding: gzip, chunked", .codingNotSupported),
        ("Transfer-Encoding: chunked, identity", .codingNotSupported),
        ("Transfer-Encoding: chunked, chunked", .codingNotSupported),
        ("Transfer-Encoding: xchunked", .codingNotSupported),
        ("Transfer-Encoding: \"chunked\"", .codingNotSupported),
        ("Transfer-Encoding: chunked;q=1", .codingNotSupported),
        ("Transfer-Encoding:", .codingNotSupported),
        ("Transfer-Encoding : chunked", .malformed("a header is not NAME: VALUE")),
        ("Content-Length : 5", .malformed("a header is not NAME: VALUE")),
        ("Transfer-Encoding:\r\n chunked", .malformed("a header is not NAME: VALUE")),
        ("Content-Length: 5\r\n\t6", .malformed("a header is not NAME: VALUE")),
        (" Transfer-Encoding: chunked", .malformed("a header is not NAME: VALUE")),
        ("Transfer-Encoding\u{0}: chunked", .malformed("a header is not NAME: VALUE")),
        ("X: a\rTransfer-Encoding: chunked", .malformed("a header has a control character")),
        ("Transfer-Encoding: \u{B}chunked", .malformed("a header has a control character")),
        ("Content-Length: 5, 5", .malformed("the Content-Length is not a number")),
        ("Content-Length: +5", .malformed("the Content-Length is not a number")),
        ("Content-Length: -5", .malformed("the Content-Length is not a number")),
        ("Content-Length: 0x5", .malformed("the Content-Length is not a number")),
        ("Content-Length: 5 5", .malformed("the Content-Length is not a number")),
        ("Content-Length: 5.0", .malformed("the Content-Length is not a number")),
        ("Content-Length:", .malformed("the Content-Length is not a number")),
        ("Content-Length: \u{FF15}", .malformed("the Content-Length is not a number")),
        ("Content-Length: 1001", .bodyTooLong(limit: 1000)),
        ("Content-Length: 18446744073709551621", .bodyTooLong(limit: 1000)),
        ("Content-Encoding: gzip\r\nContent-Length: 5", .encodingNotSupported),
        ("Content-Encoding: identity, GZIP\r\nContent-Length: 5", .encodingNotSupported),
        ("Transfer-Encoding: chunked\r\nContent-Encoding:\tbr", .encodingNotSupported),
        (
            "Content-Encoding: identity\r\nContent-Encoding: zstd\r\nContent-Length: 5",
            .encodingNotSupported
        ),
        ("Expect: 200-ok\r\nContent-Length: 5", .expectationFailed),
        ("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 5", .expectationFailed),
        ("Expect: 100-continue, more", .expectationFailed),
    ]

    @Test("a body whose end two programs could find in two places is refused", arguments: lengths)
    func refuseLength(headers: String, problem: HTTPProblem) {
        for size in [1, 1 << 20] {
            #expect(throws: problem) {
                try Self.requests(Self.text(headers, "5\r\nhello\r\n0\r\n\r\n"), size: size)
            }
        }
        #expect(problem.status.rawValue >= 400 && !problem.words.isEmpty)
    }

    @Test("HTTP/1.0 has no chunks")
    func version() {
        #expect(throws: HTTPProblem.malformed("HTTP/1.0 has no Transfer-Encoding")) {
            try Self.requests(Self.text(Self.chunked, "0\r\n\r\n", version: "1.0"))
        }
    }

    private static let noSize = HTTPProblem.malformed("a chunk does not begin with its size")
    private static let noReturn = HTTPProblem.malformed("a line between chunks ends without CR")
    private static let longer = HTTPProblem.malformed("a chunk is longer than it says")

    static let chunks: [(String, HTTPProblem)] = [
        ("5 \r\nhello\r\n0\r\n\r\n", noSize), (" 5\r\nhello\r\n0\r\n\r\n", noSize),
        ("5 ;a\r\nhello\r\n0\r\n\r\n", noSize), ("\t5\r\nhello\r\n0\r\n\r\n", noSize),
        ("+5\r\nhello\r\n0\r\n\r\n", noSize), ("-5\r\nhello\r\n0\r\n\r\n", noSize),
        ("0x5\r\nhello\r\n0\r\n\r\n", noSize), ("\r\nhello\r\n0\r\n\r\n", noSize),
        ("5_\r\nhello\r\n0\r\n\r\n", noSize), (";a\r\nhello\r\n0\r\n\r\n", noSize),
        ("5;\u{0}\r\nhello\r\n0\r\n\r\n", noSize), ("\u{FF15}\r\nhello\r\n", noSize),
        ("5\nhello\r\n0\r\n\r\n", noReturn), ("5;a\nhello\r\n0\r\n\r\n", noReturn),
        ("5\r\nhello\n0\r\n\r\n", noReturn), ("5\r\nhello\r\n0\n\r\n", noReturn),
        ("5\r\nhello\r\n0\r\n\n", noReturn), ("5\r\nhello\r\n0\r\nX: y\n\r\n", noReturn),
        ("5\rhello\r\n0\r\n\r\n", .malformed("a carriage return stands alone")),
        ("5;a\rb\r\nhello\r\n0\r\n\r\n", .malformed("a carriage return stands alone")),
        ("5\r\nhello\rX0\r\n\r\n", .malformed("a carriage return stands alone")),
        ("4\r\nhello\r\n0\r\n\r\n", longer), ("5\r\nhello0\r\n\r\n", longer),
        ("3E9\r\n", .bodyTooLong(limit: 1000)),
        ("3E8\r\n" + String(repeating: "x", count: 1000) + "\r\n1\r\n", .bodyTooLong(limit: 1000)),
        ("7FFFFFFFFFFFFFFF\r\n", .bodyTooLong(limit: 1000)),
        ("FFFFFFFFFFFFFFFF\r\n", .bodyTooLong(limit: 1000)),
        ("10000000000000005\r\nhello", .bodyTooLong(limit: 1000)),
        ("0\r\nX y\r\n\r\n", .malformed("a header is not NAME: VALUE")),
        ("0\r\nX : y\r\n\r\n", .malformed("a header is not NAME: VALUE")),
        ("0\r\nX: y\r\n z\r\n\r\n", .malformed("a header is not NAME: VALUE")),
        ("0\r\nX: \u{1}\r\n\r\n", .malformed("a header has a control character")),
        ("0\r\nGET /b HTTP/1.1\r\n\r\n", .malformed("a header is not NAME: VALUE")),
        (
            "5;" + String(repeating: "a", count: 300) + "\r\nhello\r\n0\r\n\r\n",
            .malformed("a line between chunks is longer than 256 bytes")
        ),
        (
            String(repeating: "0", count: 300) + "\r\n\r\n",
            .malformed("a line between chunks is longer than 256 bytes")
        ),
        (
            String(repeating: "1;" + String(repeating: "a", count: 100) + "\r\nx\r\n", count: 20),
            .malformed("the chunks have more than 1024 bytes of extensions")
        ),
        (
            String(repeating: String(repeating: "0", count: 115) + "1\r\nx\r\n", count: 20),
            .malformed("the chunks have more than 1024 bytes of extensions")
        ),
        ("0\r\n" + String(repeating: "X: yyyyyyyyyyyyyyy\r\n", count: 300), .headersTooLong),
        (
            "0\r\nX: " + String(repeating: "y", count: 5000) + "\r\n\r\n",
            .malformed("a line between chunks is longer than 4096 bytes")
        ),
    ]

    @Test("chunks that break the rules are refused", arguments: chunks)
    func refuseChunk(rest: String, problem: HTTPProblem) {
        for size in [1, 1 << 20] {
            #expect(throws: problem) {
                try Self.requests(Self.text(Self.chunked, rest), size: size)
            }
        }
    }

    @Test("a site that takes no bodies is not asked to")
    func noBodies() {
        for rest in [Self.text("Content-Length: 1", "x"), Self.text(Self.chunked, "0\r\n\r\n")] {
            #expect(throws: HTTPProblem.bodyNotAllowed) { try Self.requests(rest, limit: 0) }
        }
    }

    @Test("a declared length takes no memory, and a body never more than its limit")
    func memory() throws {
        let limit = 1 << 40
        var parser = HTTPRequestParser()
        parser.take(Self.text("Content-Length: \(limit)", "").utf8)
        #expect(try parser.next { _ in limit } == nil)
        parser.take([UInt8](repeating: 1, count: 5000))
        #expect(try parser.next { _ in limit } == nil)
        #expect(parser.bodyBytes == 5000 && parser.heldBytes == 0)
        // The room for a body doubles as it fills, but not beyond the limit.
        let head = try #require(
            try Self.requests("POST / HTTP/1.1\r\nHost: h\r\n\r\n").first.map { request in
                var head = request
                head.headers.append(("content-length", "100000"))
                return head
            })
        let body = try #require(try HTTPBody(of: head) { _ in 1 << 20 })
        for _ in 0..<100 { #expect(try body.take([UInt8](repeating: 2, count: 1000)) == 1000) }
        #expect(body.isComplete && body.bytes.count == 100_000)
        #expect(body.bytes.capacity < 110_000)
    }

    @Test("who waits for a 100 is told once, and not after bytes of the body have come")
    func expectation() throws {
        let head = Self.text("Expect: 100-continue\r\nContent-Length: 2", "")
        var parser = HTTPRequestParser()
        parser.take(head.utf8)
        #expect(try parser.next { _ in 10 } == nil)
        let (first, second) = (parser.takeContinue(), parser.takeContinue())
        #expect(first && !second)
        for rest in ["h", "hi"] {
            parser = HTTPRequestParser()
            parser.take((head + rest).utf8)
            _ = try parser.next { _ in 10 }
            let tells = parser.takeContinue()
            #expect(!tells)
        }
    }
}
