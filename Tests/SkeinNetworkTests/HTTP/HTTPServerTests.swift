import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinNetwork

/// A site for tests: `/` says hello, `/events` hands out its streams, `/large` is 1 MiB.
private final class Hello: HTTPSite {
    var streams: [EventStream] = []
    var ended = 0

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        switch request.path {
        case "/events":
            return .events { stream in
                self.streams.append(stream)
                stream.onEnd = { self.ended += 1 }
                stream.send("hello", "1")
            }
        case "/large":
            return .response(HTTPResponse(body: [UInt8](repeating: 0x61, count: 4 << 20)))
        default: return .response(HTTPResponse(.ok, line: "hello \(request.path)"))
        }
    }

    func finish() {
        for stream in streams { stream.send("end", "2") }
    }
}

@Suite("a small HTTP server", .ownThreads)
struct HTTPServerTests {
    private func server(_ settings: HTTPServer.Settings = .patient) throws -> (HTTPServer, UInt16) {
        let name = try NetworkAddress(parsing: "127.0.0.1:0")
        let server = try HTTPServer(
            on: name.resolved(for: .listening), name: name, settings: settings
        ) { _ in Hello() }
        let port = try NetworkAddress(parsing: server.address).port
        #expect(server.isLoopback)
        return (server, port)
    }

    private static func get(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(more)\r\n"
    }

    @Test("requests of one connection are answered one after the other, also sent at once")
    func pipeline() throws {
        let (server, port) = try server()
        defer { server.stop() }
        let client = try HTTPClient(port: port)
        try client.send(Self.get("/1"))
        #expect(try client.response()?.text == "hello /1\n")
        try client.send((2..<400).map { Self.get("/\($0)") }.joined())
        for number in 2..<400 {
            let answer = try #require(try client.response())
            #expect(answer.status == 200 && answer.text == "hello /\(number)\n")
        }
        try client.send(Self.get("/", "Connection: close\r\n"))
        #expect(try client.response()?.headers["connection"] == "close")
        #expect(try client.isClosed())
    }

    @Test("every answer forbids guessing of types, copies and frames")
    func headers() throws {
        let (server, port) = try server()
        defer { server.stop() }
        let client = try HTTPClient(port: port)
        try client.send(Self.get("/"))
        let headers = try #require(try client.response()?.headers)
        #expect(headers["x-content-type-options"] == "nosniff")
        #expect(headers["cache-control"] == "no-store" && headers["x-frame-options"] == "DENY")
    }

    @Test("HEAD is answered without a body, so that the next answer is found")
    func head() throws {
        let (server, port) = try server()
        defer { server.stop() }
        let client = try HTTPClient(port: port)
        try client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.response(isHead: true)?.status == 200)
        try client.send(Self.get("/y"))
        #expect(try client.response()?.text == "hello /y\n")
    }

    @Test(
        "garbage is answered and the connection ends",
        arguments: [
            ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", 400), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", 413),
            ("GET / HTTP/1.1\r\n\r\n", 400),
        ])
    func garbage(text: String, status: Int) throws {
        let (server, port) = try server()
        defer { server.stop() }
        let client = try HTTPClient(port: port)
        try client.send(text)
        #expect(try client.response()?.status == status)
        #expect(try client.isClosed())
    }

    @Test("a request line of 1 MB and headers without end get an answer, not memory")
    func endless() throws {
        let (server, port) = try server()
        defer { server.stop() }
        let line = try HTTPClient(port: port)
        line.sendWhatIsTaken("GET /" + String(repeating: "a", count: 1 << 20))
        #expect(try line.response()?.status == 414)
        let headers = try HTTPClient(port: port)
        headers.sendWhatIsTaken(
            "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: y\r\n", count: 200_000))
        #expect(try headers.response()?.status == 431)
    }

    @Test("a client that sends a byte now and then is told, and hung up on, within the time")
    func slowWriter() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.request = .milliseconds(300)
        let server = try AnsweringServer(settings)
        let began = ContinuousClock.now
        // A first line that does not end.
        let client = try server.client(sending: "G")
        try client.send("G", until: client.isSpokenTo)
        #expect(try client.response()?.status == 408)
        #expect(try client.isClosed())
        #expect(ContinuousClock.now - began >= settings.times.request)
    }

    @Test("one client more than the limit takes the place of the one that waited longest")
    func full() throws {
        var settings = HTTPServer.Settings.patient
        settings.connections = 4
        settings.times.linger = .milliseconds(100)
        settings.streams = 2
        let (server, port) = try server(settings)
        defer { server.stop() }
        let followers = try (0..<2).map { _ in try HTTPClient(port: port) }
        for follower in followers {
            try follower.send(Self.get("/events"))
            #expect(try follower.event() == "event: hello\ndata: 1")
        }
        // They say nothing; each new one takes the place of another, never of a follower.
        let silent = try (0..<50).map { _ in try HTTPClient(port: port) }
        let client = try HTTPClient(port: port)
        try client.send(Self.get("/"))
        #expect(try client.response()?.status == 200)
        #expect(try silent[0].isClosed())
        try client.send(Self.get("/events"))
        #expect(try client.response()?.status == 503)
        server.stop(grace: .seconds(20))
        for follower in followers { #expect(try follower.event() == "event: end\ndata: 2") }
    }

    @Test("10,000 connections, one after the other and all open, leave the server as it was")
    func flood() throws {
        let (server, port) = try server()
        defer { server.stop() }
        var held: [HTTPClient] = []
        for number in 0..<10_000 {
            let client = try HTTPClient(port: port)
            if number % 3 == 0 { client.sendWhatIsTaken("GET / HT") }
            held.append(client)
            // This process has a limit on open files, too.
            if held.count > 200 { held.removeFirst() }
        }
        let client = try HTTPClient(port: port)
        try client.send(Self.get("/"))
        #expect(try client.response()?.status == 200)
        #expect(try server.connectionCount() <= 128)
    }

    @Test("empty lines before a request do not prolong its time")
    func emptyLines() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.request = .milliseconds(300)
        let (server, port) = try server(settings)
        defer { server.stop() }
        let client = try HTTPClient(port: port)
        // Until it is hung up on.
        try client.send("\r\n", until: false)
        #expect(try client.response() == nil)
    }

    @Test("a client that takes nothing is dropped, and others do not wait for it")
    func slowReader() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.write = .milliseconds(300)
        let (server, port) = try server(settings)
        defer { server.stop() }
        let slow = try HTTPClient(port: port, receiveBytes: 4096)
        try slow.send(Self.get("/large"))
        let other = try HTTPClient(port: port)
        try other.send(Self.get("/"))
        #expect(try other.response()?.status == 200)
        let deadline = ContinuousClock.now + .seconds(120)
        while try server.connectionCount() > 1, ContinuousClock.now < deadline { usleep(100_000) }
        #expect(try server.connectionCount() == 1)
    }
}
