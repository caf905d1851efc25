import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

@Suite("answers that come later", .ownThreads)
struct HTTPReplyTests {
    @Test("an answer comes when the site gives it, and the connection can be used again")
    func later() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        for number in 1...3 {
            try client.send(Ask.post("/later", "x"))
            try server.wait { $0.replies.count == number }
            try server.call { site in
                let reply = site.replies[number - 1]
                #expect(reply.isOpen)
                reply.respond(HTTPResponse(.ok, line: "\(number)"))
                // Only the first answer counts.
                #expect(!reply.isOpen)
                reply.respond(HTTPResponse(.ok, line: "again"))
                reply.beginEvents().send(nil, "again")
            }
            #expect(try client.response()?.text == "\(number)\n")
        }
        try client.send(Ask.post("/now", "x"))
        #expect(try client.response()?.text == "at once\n")
        #expect(try server.call { $0.gone } == 0)
    }

    @Test("an answer of events ends, and the connection can be used again")
    func events() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        for number in 0..<3 {
            try client.send(Ask.post("/later", "x"))
            try server.wait { $0.replies.count == number + 1 }
            try server.call { site in
                let stream = site.replies[number].beginEvents(headers: [("X-Request", "7")])
                stream.onEnd = { site.goneStreams += 1 }
                site.streams.append(stream)
                stream.send(nil, "{\"a\":1}")
                stream.send("named", "{}")
            }
            #expect(try client.event() == "data: {\"a\":1}")
            #expect(try client.event() == "event: named\ndata: {}")
            try server.call { site in
                site.streams[number].send(nil, "[DONE]")
                site.streams[number].end()
                site.streams[number].send(nil, "too late")
                #expect(!site.replies[number].isOpen)
            }
            #expect(try client.event() == "data: [DONE]")
            #expect(try client.event() == nil)
        }
        try client.send(Ask.get("/"))
        #expect(try client.response()?.text == "got ")
        #expect(try server.call { $0.gone + $0.goneStreams } == 0)
    }

    @Test("events for HTTP/1.0 end with the connection")
    func oldEvents() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(
            Ask.head("/later", "Connection: keep-alive\r\nContent-Length: 1", version: "1.0") + "x")
        try server.wait { $0.replies.count == 1 }
        try server.call { site in
            let stream = site.replies[0].beginEvents()
            stream.send(nil, "1")
            stream.end()
        }
        #expect(try client.event() == "data: 1")
        #expect(try client.event() == nil)
        #expect(try client.isClosed())
    }

    @Test("an answer of events to HEAD has a head only")
    func headEvents() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send("HEAD /later HTTP/1.1\r\nHost: h\r\n\r\n")
        try server.wait { $0.replies.count == 1 }
        try server.call { site in
            let stream = site.replies[0].beginEvents()
            stream.send(nil, "1")
            stream.end()
        }
        #expect(try client.response(isHead: true)?.headers["transfer-encoding"] == "chunked")
        try client.send(Ask.get("/"))
        #expect(try client.response()?.text == "got ")
    }

    @Test(
        "the site hears at once that a client is gone, while it waits and while it gets events",
        arguments: Leaving.allCases, [false, true])
    func gone(leaving: Leaving, isStreaming: Bool) throws {
        let server = try AnsweringServer()
        var client: HTTPClient? = try server.client()
        try server.askLater(#require(client))
        if isStreaming {
            try server.call { site in
                let stream = site.replies[0].beginEvents()
                stream.onEnd = { site.goneStreams += 1 }
                site.streams.append(stream)
                stream.send(nil, "1")
            }
            #expect(try client?.event() == "data: 1")
        }
        #expect(try server.call { $0.gone } == 0)
        leaving.leave(&client)
        try server.wait { $0.gone == 1 }
        try server.call { site in
            #expect(site.goneStreams == (isStreaming ? 1 : 0) && !site.replies[0].isOpen)
            site.replies[0].respond(HTTPResponse(.ok, line: "no client hears this"))
            for stream in site.streams + [site.replies[0].beginEvents()] {
                stream.send(nil, "nor this")
                #expect(!stream.isReady && stream.waitingBytes == 0)
                stream.end()
            }
            #expect(site.gone == 1)
        }
        #expect(try server.server.connectionCount() == 0)
    }

    @Test(
        "the site hears that a client is gone which left more requests than are held",
        arguments: Leaving.allCases, [false, true])
    func goneBehindRequests(leaving: Leaving, isStreaming: Bool) throws {
        let server = try AnsweringServer()
        var client: HTTPClient? = try server.client()
        try client?.send(Ask.post("/later", "x"))
        try client?.send(String(repeating: Ask.post("/", "x"), count: 1000))
        try server.waitForFullPipeline()
        if isStreaming {
            try server.call { site in
                site.streams.append(site.replies[0].beginEvents())
                site.streams[0].send(nil, "1")
            }
            #expect(try client?.event() == "data: 1")
        }
        #expect(try server.call { $0.gone } == 0)
        leaving.leave(&client)
        try server.wait { $0.gone == 1 }
        #expect(try server.server.connectionCount() == 0)
    }

    @Test("requests behind one that waits are held up to a limit, and answered in order")
    func pipeline() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        let count = 3000
        try client.send(Ask.post("/later", "x"))
        try client.send((0..<count).map { Ask.post("/", "\($0)") }.joined())
        try server.waitForFullPipeline()
        try server.call { site in
            let held = site.replies[0].connection?.parser.heldBytes ?? 0
            #expect(held < Limits.pipelineBytes + Limits.requestReadBytes)
            #expect(site.asked == ["/later"])
            site.replies[0].respond(HTTPResponse(.ok, line: "first"))
        }
        #expect(try client.response()?.text == "first\n")
        for number in 0..<count { #expect(try client.response()?.text == "got \(number)") }
    }

    @Test("a client that takes no events is dropped, and the site hears of it")
    func slowReader() throws {
        let server = try AnsweringServer()
        let client = try HTTPClient(port: server.port, receiveBytes: 4096)
        try server.askLater(client)
        let waited = try server.call { site in
            let stream = site.replies[0].beginEvents()
            var most = 0
            let event = String(repeating: "x", count: 10_000)
            for _ in 0..<10_000 where site.gone == 0 {
                stream.send(nil, event)
                most = max(most, stream.waitingBytes)
            }
            return most
        }
        #expect(waited > Limits.streamBytes / 2 && waited <= Limits.streamBytes + 10_100)
        #expect(try server.call { $0.gone } == 1)
        #expect(try server.call { $0.replies[0].wasDropped })
        withExtendedLifetime(client) {}
    }

    @Test("a client that takes none of the few events that wait is dropped when its time is over")
    func stalledReader() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.write = .milliseconds(300)
        let server = try AnsweringServer(settings)
        let client = try HTTPClient(port: server.port, receiveBytes: 4096)
        try server.askLater(client)
        try server.call { site in
            let stream = site.replies[0].beginEvents()
            while stream.waitingBytes < 100_000 {
                stream.send(nil, String(repeating: "x", count: 10_000))
            }
            #expect(site.gone == 0)
        }
        try server.wait { $0.gone == 1 }
        #expect(try server.call { $0.replies[0].wasDropped })
        withExtendedLifetime(client) {}
    }

    @Test("a site that waits for room sends a slow reader all, and hears that one left by itself")
    func room() throws {
        let server = try AnsweringServer()
        let client = try HTTPClient(port: server.port, receiveBytes: 4096)
        try server.askLater(client)
        let event = String(repeating: "x", count: 100_000)
        let count = 300
        try server.call { site in
            let stream = site.replies[0].beginEvents()
            site.streams.append(stream)
            var sent = 0
            func send() {
                while sent < count, stream.hasRoom {
                    stream.send([event, "\(sent)"])
                    sent += 1
                }
                #expect(stream.waitingBytes < Limits.streamRoomBytes + 2 * event.utf8.count)
                if sent == count { stream.end() }
            }
            stream.onRoom = send
            send()
            #expect(sent < count)
        }
        for number in 0..<count {
            #expect(try client.event()?.utf8.count == event.utf8.count + 6)
            #expect(try client.event() == "data: \(number)")
        }
        #expect(try client.event() == nil)
        var other: HTTPClient? = try server.client()
        try server.askLater(#require(other))
        Leaving.closes.leave(&other)
        try server.wait { $0.gone == 1 }
        #expect(try !server.call { $0.replies[1].wasDropped })
    }

    @Test("a stream without events says that it is alive, and is not dropped")
    func quiet() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.keepAlive = .milliseconds(50)
        let server = try AnsweringServer(settings)
        let client = try server.client()
        try server.askLater(client)
        try server.call { $0.streams.append($0.replies[0].beginEvents()) }
        for _ in 0..<3 { #expect(try client.eventOrComment() == ": still here") }
        try server.call { site in
            site.streams[0].send(nil, "1")
            site.streams[0].end()
        }
        #expect(try client.event() == "data: 1")
        #expect(try client.event() == nil)
        #expect(try server.call { $0.gone } == 0)
    }

    @Test("a wait for the site has no end of its own")
    func patience() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.request = .milliseconds(200)
        settings.times.idle = .milliseconds(200)
        settings.times.write = .milliseconds(200)
        settings.times.keepAlive = .milliseconds(200)
        let server = try AnsweringServer(settings)
        let client = try server.client(sending: Ask.post("/later", "x"))
        try server.wait { $0.replies.count == 1 }
        // Longer than anything else may take.
        usleep(600_000)
        try server.call { $0.replies[0].respond(HTTPResponse(.ok, line: "at last")) }
        #expect(try client.response()?.text == "at last\n")
    }

    @Test("a server that stops tells those that still answer")
    func stop() throws {
        let server = try AnsweringServer()
        let clients = try server.waitingClients(2)
        let told = Counter()
        try server.call { site in
            for reply in site.replies { reply.onEnd = { told.add() } }
            site.replies[1].beginEvents().onEnd = { told.add() }
        }
        server.server.stop()
        #expect(told.value == 3)
        for client in clients { #expect(try client.isClosed()) }
        server.server.post { told.add() }
        server.server.drain()
        #expect(told.value == 3)
        #expect(throws: (any Error).self) { try server.server.connectionCount() }
    }

    @Test("what is posted runs on the server's thread, in order")
    func post() throws {
        let server = try AnsweringServer()
        let told = Counter()
        for number in 0..<10_000 {
            server.server.post { if told.value == number { told.add() } }
        }
        try server.server.call {}
        #expect(told.value == 10_000)
    }
}
