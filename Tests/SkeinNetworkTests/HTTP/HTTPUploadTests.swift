import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

@Suite("bodies on the wire", .ownThreads)
struct HTTPUploadTests {
    @Test("a body is given to the site whole, by its length and in chunks")
    func bodies() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(Ask.post("/", "hello"))
        #expect(try client.response()?.text == "got hello")
        try client.send(
            Ask.head("/", "Transfer-Encoding: Chunked") + "5\r\nhello\r\n"
                + "6;a=b\r\n world\r\n0\r\nX: y\r\n\r\n" + Ask.get("/next"))
        #expect(try client.response()?.text == "got hello world")
        #expect(try client.response()?.text == "got ")
        let large = String(repeating: "0123456789abcdef", count: 2 << 20)
        try client.send(Ask.post("/large", large))
        #expect(try client.response()?.body.count == large.utf8.count + 4)
        #expect(try server.call { $0.asked } == ["/", "/", "/next", "/large"])
    }

    @Test(
        "a body that is too long is answered while it is still sent",
        arguments: [
            Ask.head("/small", "Content-Length: 8000000"),
            Ask.head("/small", "Transfer-Encoding: chunked") + "7A1200\r\n",
            Ask.head("/none", "Content-Length: 8000000"),
        ])
    func tooLong(head: String) throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(head)
        // A client may send everything before it looks for an answer.
        try client.send(String(repeating: "x", count: 8_000_000))
        let answer = try #require(try client.response())
        #expect(answer.status == 413 && answer.text.hasPrefix("{\"error\":\""))
        #expect(answer.headers["content-type"] == "application/json")
        #expect(answer.headers["connection"] == "close")
        #expect(try client.isClosed())
        #expect(try server.call { $0.asked }.isEmpty)
    }

    @Test("who waits for a 100 gets one only if the body is taken")
    func expectation() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(Ask.head("/", "Expect: 100-continue\r\nContent-Length: 5"))
        #expect(try client.response()?.status == 100)
        try client.send("hello")
        #expect(try client.response()?.text == "got hello")
        // Who does not wait is not told.
        try client.send(Ask.post("/", "hello", "Expect: 100-continue\r\n"))
        #expect(try client.response()?.text == "got hello")
        try client.send(Ask.head("/", "Expect: 100-continue\r\nTransfer-Encoding: chunked"))
        #expect(try client.response()?.status == 100)
        try client.send("0\r\n\r\n")
        #expect(try client.response()?.text == "got ")
        try client.send(Ask.head("/small", "Expect: 100-continue\r\nContent-Length: 11"))
        #expect(try client.response()?.status == 413)
        let other = try server.client()
        try other.send(Ask.head("/", "Expect: 200-ok\r\nContent-Length: 1"))
        #expect(try other.response()?.status == 417)
    }

    @Test("a body that is compressed is refused before it is sent, and its client is told how")
    func encoded() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(
            Ask.head(
                "/", "Content-Encoding: gzip\r\nExpect: 100-continue\r\nContent-Length: 5"))
        let answer = try #require(try client.response())
        #expect(answer.status == 415 && answer.headers["accept-encoding"] == "identity")
        #expect(answer.text.contains("uncompressed") && answer.text.hasPrefix("{\"error\":"))
        #expect(try client.isClosed())
        #expect(try server.call { $0.asked }.isEmpty)
    }

    @Test("a refusal has the shape that the site gives it, and an empty answer has no length")
    func shapes() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(Ask.get("/nothing") + "GET /\r\n\r\n")
        let nothing = try #require(try client.response())
        #expect(nothing.status == 204 && nothing.headers["content-length"] == nil)
        let refused = try #require(try client.response())
        #expect(refused.status == 400)
        #expect(refused.text == "{\"error\":\"the request line is not METHOD PATH VERSION\"}")
        for (headers, status) in [
            ("Transfer-Encoding: gzip", 501), ("Content-Length: 1\r\nContent-Length: 2", 400),
        ] {
            let other = try server.client()
            try other.send(Ask.head("/", headers))
            #expect(try other.response()?.status == status)
        }
    }

    @Test(
        "a body that comes byte by byte is given up, and its client is told",
        arguments: ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
    func slow(headers: String) throws {
        var settings = HTTPServer.Settings.patient
        settings.times.request = .milliseconds(300)
        let server = try AnsweringServer(settings)
        let began = ContinuousClock.now
        let client = try server.client(sending: Ask.head("/", headers))
        // As chunks, each of a byte; by length, six bytes of anything.
        try client.send("1\r\nx\r\n", until: client.isSpokenTo)
        #expect(try client.response()?.status == 408)
        #expect(ContinuousClock.now - began >= settings.times.request)
        #expect(try server.call { $0.asked }.isEmpty)
    }

    @Test("a body that keeps coming has more time the longer it is")
    func steady() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.request = .milliseconds(300)
        settings.times.bodyBytesPerSecond = 2
        let server = try AnsweringServer(settings)
        // The first piece earns 500 seconds.
        let piece = String(repeating: "x", count: 1000)
        let client = try server.client(
            sending: Ask.head("/length", "Content-Length: 2000") + piece)
        usleep(600_000)
        try client.send(piece)
        #expect(try client.response()?.text == "2000\n")
        #expect(HTTPTimes().body(1 << 20) == .seconds(10 + 64))
    }

    @Test("all bodies together have a limit, and it is free again when they are complete or gone")
    func together() throws {
        var settings = HTTPServer.Settings.patient
        settings.bodyBytes = 100_000
        let server = try AnsweringServer(settings)
        func half(_ size: Int) throws -> HTTPClient {
            let client = try server.client()
            try client.send(
                Ask.head("/length", "Content-Length: \(2 * size)")
                    + String(repeating: "x", count: size))
            return client
        }
        func wait(for bytes: Int) throws {
            try server.wait { _ in (try? server.server.bodyBytes()) == bytes }
        }
        for _ in 0..<3 {
            var first: HTTPClient? = try half(90_000)
            let second = try half(5000)
            try wait(for: 95_000)
            // The one that has come whole by then is in no other's way.
            let one = try server.client()
            try one.send(Ask.post("/length", "x"))
            #expect(try one.response()?.text == "1\n")
            withExtendedLifetime(first) {}
            first = nil
            try wait(for: 5000)
            let third = try half(5000)
            try wait(for: 10_000)
            for client in [second, third] {
                try client.send(String(repeating: "x", count: 5000))
                #expect(try client.response()?.text == "10000\n")
            }
            try wait(for: 0)
        }
    }
}
