import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

@Suite("many clients, and the last ones", .ownThreads)
struct HTTPCapacityTests {
    @Test("thousands of idle connections cost little, and others are served beside them")
    func idle() throws {
        // Both ends are in this process, and other tests have some as well.
        let limit = HTTPServer.raiseDescriptorLimit(to: 8000)
        let count = min(2000, (limit - 1000) / 2)
        try #require(count > 0, "the limit on open files is \(limit)")
        var settings = HTTPServer.Settings.patient
        settings.connections = 3000
        let server = try AnsweringServer(settings)
        let idle = try (0..<count).map { _ in
            let client = try server.client()
            try client.send(Ask.get("/"))
            #expect(try client.response()?.status == 200)
            return client
        }
        let busy = try server.client()
        for _ in 0..<500 {
            try busy.send(Ask.post("/", "x"))
            #expect(try busy.response()?.text == "got x")
        }
        #expect(try server.server.connectionCount() == count + 1)
        // They are still there, and each can be used.
        for client in idle[..<100] { try client.send(Ask.get("/")) }
        for client in idle[..<100] { #expect(try client.response()?.status == 200) }
        server.server.drain()
        for client in idle { #expect(try client.isClosed()) }
    }

    @Test("when all are answered a new one is told so, and when one is idle it makes room")
    func full() throws {
        var settings = HTTPServer.Settings.patient
        settings.connections = 3
        let server = try AnsweringServer(settings)
        let clients = try server.waitingClients(3)
        try server.call { site in
            site.streams.append(site.replies[2].beginEvents())
            site.streams[0].send(nil, "1")
        }
        #expect(try clients[2].event() == "data: 1")
        // Many more than are told so at a time.
        let many = try (0..<200).map { _ in try server.client() }
        for client in many.suffix(30) {
            try client.send(Ask.post("/", "x"))
            let refused = try #require(try client.response())
            #expect(refused.status == 503 && refused.text.hasPrefix("{\"error\":"))
            #expect(refused.headers["retry-after"] == "1")
            #expect(try client.isClosed())
        }
        #expect(try server.server.connectionCount() <= 3 + Limits.refusedConnections)
        try server.call { $0.replies[0].respond(HTTPResponse(.ok, line: "1")) }
        #expect(try clients[0].response()?.text == "1\n")
        let next = try server.client()
        try next.send(Ask.get("/"))
        #expect(try next.response()?.text == "got ")
        #expect(try clients[0].isClosed())
        try server.call { site in
            #expect(site.gone == 0)
            site.replies[1].respond(HTTPResponse(.ok, line: "2"))
            site.streams[0].end()
        }
        #expect(try clients[1].response()?.text == "2\n")
        #expect(try clients[2].event() == nil)
    }

    @Test("the one that has waited longest is dropped, also if it has sent half of a head")
    func oldest() throws {
        var settings = HTTPServer.Settings.patient
        settings.connections = 3
        let server = try AnsweringServer(settings)
        let silent = try server.client()
        let half = try server.client()
        try half.send("GET / HT")
        let used = try server.client()
        for _ in 0..<2 {
            try used.send(Ask.get("/"))
            #expect(try used.response()?.status == 200)
        }
        let first = try server.client()
        #expect(try silent.isClosed())
        let second = try server.client()
        #expect(try half.isClosed())
        for client in [used, first, second] {
            try client.send(Ask.get("/"))
            #expect(try client.response()?.status == 200)
        }
    }

    @Test("a host with many connections that wait loses its own, not another's")
    func crowdOfOneHost() throws {
        var settings = HTTPServer.Settings.patient
        settings.connections = 4
        let server = try AnsweringServer(settings)
        let distant = try server.client()
        try distant.send("GET / HT")
        let crowd = try (0..<20).map { _ in try server.client(from: 2) }
        #expect(try crowd[16].isClosed())
        try distant.send(String(Ask.get("/").dropFirst("GET / HT".count)))
        #expect(try distant.response()?.status == 200)
    }

    @Test("what waits for slow readers is bounded: who has taken nothing for longest is dropped")
    func slowReaders() throws {
        let length = 16 << 20
        var settings = HTTPServer.Settings.patient
        settings.answerBytes = 5 * length / 2
        let server = try AnsweringServer(settings)
        nonisolated(unsafe) let clients = try server.waitingClients(3)
        // On the server's thread, so that it writes to no client meanwhile.
        let waiting = try server.call { site in
            let connections = try site.replies.map { try #require($0.connection) }
            func respond(_ number: Int) {
                let body = [UInt8](repeating: 1, count: length)
                site.replies[number].respond(HTTPResponse(body: body))
            }
            respond(0)
            respond(1)
            // The first one takes some.
            let first = connections[0]
            let before = first.waitingBytes
            try clients[0].receive(first.outbound.heldBytes - before)
            try Deadline.wait(seconds: 60) {
                first.write()
                return first.waitingBytes < before
            }
            #expect(first.clients.waitingBytes > 2 * length)
            respond(2)
            first.clients.makeRoom()
            #expect(first.clients.waitingBytes <= first.clients.settings.answerBytes)
            return connections.map { $0.waitingBytes > 0 }
        }
        #expect(waiting == [true, false, true])
        #expect(try clients[1].response() == nil)
        for number in [0, 2] {
            #expect(try clients[number].response()?.body.count == length)
        }
        #expect(try server.server.answerBytes() == 0)
    }

    @Test("who holds little is not dropped for those that hold much")
    func smallShare() throws {
        // The least is more than the system holds between the two, and less than a quarter of a share.
        let (least, length) = (8 << 20, 64 << 20)
        var settings = HTTPServer.Settings.patient
        settings.answerBytes = 5 * length / 2
        let server = try AnsweringServer(settings)
        let clients = try server.waitingClients(4)
        // The first one, which has waited for longest, holds the least.
        let (waiting, held) = try server.call { site in
            let connections = try site.replies.map { try #require($0.connection) }
            for (number, reply) in site.replies.enumerated() {
                let body = [UInt8](repeating: 1, count: number == 0 ? least : length)
                reply.respond(HTTPResponse(body: body))
            }
            let clients = connections[0].clients
            clients.makeRoom()
            return (connections.map { $0.waitingBytes > 0 }, clients.waitingBytes)
        }
        #expect(waiting == [true, false, true, true])
        #expect(held <= settings.answerBytes)
        #expect(try clients[0].response()?.body.count == least)
        #expect(try clients[3].response()?.body.count == length)
    }

    @Test("a server makes room by itself while slow readers come")
    func manySlowReaders() throws {
        let length = 16 << 20
        var settings = HTTPServer.Settings.patient
        settings.answerBytes = 5 * length / 2
        let server = try AnsweringServer(settings)
        let clients = try (0..<6).map { _ in try server.client() }
        for (number, client) in clients.enumerated() {
            try server.askLater(client)
            try server.call { site in
                let body = [UInt8](repeating: 1, count: length)
                site.replies[number].respond(HTTPResponse(body: body))
            }
        }
        try server.wait { _ in (try? server.server.connectionCount()) == 2 }
        #expect(try server.server.answerBytes() > 2 * length)
        withExtendedLifetime(clients) {}
    }

    @Test("one answer may be longer than all may be together")
    func longAnswer() throws {
        var settings = HTTPServer.Settings.patient
        settings.answerBytes = 1000
        let server = try AnsweringServer(settings)
        let client = try server.client()
        let large = String(repeating: "0123456789abcdef", count: 1 << 20)
        try client.send(Ask.post("/large", large))
        #expect(try client.response()?.body.count == large.utf8.count + 4)
    }

    @Test("a server that drains finishes what is under way and takes nothing new")
    func drain() throws {
        var settings = HTTPServer.Settings.patient
        settings.times.linger = .milliseconds(100)
        let server = try AnsweringServer(settings)
        let idle = try server.client()
        try idle.send(Ask.get("/"))
        #expect(try idle.response()?.status == 200)
        let follower = try server.client()
        try follower.send(Ask.get("/follow"))
        #expect(try follower.event() == "event: hello\ndata: 1")
        // One has sent half a body, the other half a head.
        let halves = try [Ask.head("/", "Content-Length: 2") + "a", "GET / HT"].map { text in
            let client = try server.client()
            try client.send(text)
            return client
        }
        let clients = try server.waitingClients(2)
        try server.call { site in
            site.streams.append(site.replies[1].beginEvents())
            site.streams[1].send(nil, "1")
        }
        #expect(try clients[1].event() == "data: 1")
        // Those who came later were served, so the halves have been read.
        #expect(try server.server.bodyBytes() == 1)
        server.server.drain()
        #expect(try idle.isClosed())
        #expect(try follower.event() == nil)
        try server.wait { $0.goneStreams == 1 && $0.hasFinished }
        #expect(throws: (any Error).self) { try server.client() }
        // Who sends on does not hold the server up, nor does it get another answer.
        for half in halves {
            let refused = try #require(try half.response())
            #expect(refused.status == 503 && refused.headers["connection"] == "close")
            #expect(refused.headers["retry-after"] == "1")
            #expect(try half.isClosed())
            try half.send("b", until: false)
        }
        #expect(try server.server.bodyBytes() == 0)
        try server.call { site in
            #expect(site.gone == 0)
            site.replies[0].respond(HTTPResponse(.ok, line: "done"))
            site.streams[1].send(nil, "2")
            site.streams[1].end()
        }
        let answer = try #require(try clients[0].response())
        #expect(answer.text == "done\n" && answer.headers["connection"] == "close")
        #expect(try clients[0].isClosed())
        #expect(try clients[1].event() == "data: 2")
        #expect(try clients[1].event() == nil)
        #expect(try clients[1].isClosed())
        // Those that ended their side only wait for the client's.
        try server.wait { _ in (try? server.server.connectionCount()) == 0 }
        withExtendedLifetime((follower, clients)) {}
    }

    @Test("without a descriptor left the server waits, and serves those that it has")
    func noDescriptors() async throws {
        // In a process of its own: every other test needs descriptors.
        await #expect(processExitsWith: .success) {
            let server = try AnsweringServer()
            let client = try server.client()
            let waiting = try (0..<3).map { _ in try server.client() }
            try server.wait { _ in (try? server.server.connectionCount()) == 4 }
            var taken: [Int32] = []
            while case let copy = dup(0), copy >= 0 { taken.append(copy) }
            // One for the client's end, none for the server's.
            close(taken.removeLast())
            let late = try server.client()
            try late.send(Ask.get("/"))
            let began = ProcessInfo.processInfo.systemUptime
            let turns = try server.turns()
            while ProcessInfo.processInfo.systemUptime - began < 2 {
                try client.send(Ask.get("/"))
                guard try client.response()?.status == 200 else { exit(2) }
                usleep(100_000)
            }
            // About 20 requests, 20 pauses and what `turns` takes itself; a spin is thousands.
            guard try server.turns() - turns < 500 else { exit(3) }
            guard try server.server.connectionCount() == 4 else { exit(4) }
            for copy in taken { close(copy) }
            guard try late.response()?.status == 200 else { exit(5) }
            withExtendedLifetime(waiting) {}
        }
    }

    @Test("only a server that is told to lets other threads go first", arguments: [true, false])
    func niceness(yields: Bool) throws {
        var settings = HTTPServer.Settings.patient
        settings.yieldsToOthers = yields
        let server = try AnsweringServer(settings)
        let value = try server.server.call {
            getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        }
        #expect((value == 19) == yields)
    }
}
