import Foundation
import SkeinCoordination
import SkeinTestSupport
import Testing

@testable import SkeinCluster
@testable import SkeinNetwork

@Suite("connections", .ownThreads)
struct ConnectionTests {
    @Test("messages of all sizes come back unchanged")
    func echo() throws {
        let (server, client) = try Confined.pair()
        try server.call { $0.react = { $0.send($1) } }
        let frame = Limits.framePayloadBytes
        let sizes = [0, 1, 1000, frame - 200, frame - 1, frame, frame + 1, 3 * frame, 5_000_000]
        let messages = sizes.enumerated().map { Station.result($0, bytes: $1) }
        try client.send(messages)
        #expect(try client.reaches { $0.received.count == sizes.count })
        #expect(try client.call { $0.received } == messages)
        let (sent, received) = try client.call {
            ($0.connections[0].bytesSent, $0.connections[0].bytesReceived)
        }
        #expect(sent == received && sent > sizes.reduce(0) { $0 + UInt64($1) })
        #expect(try client.call { $0.connections[0].pendingBytes } == 0)
        server.loop.stop()
        client.loop.stop()
    }

    @Test("heartbeats arrive while 20 MB are under way")
    func interleaving() throws {
        let (server, client) = try Confined.pair()
        let bulk = Station.result(1, bytes: 20_000_000)
        try client.call { station in
            let connection = station.connections[0]
            connection.send(bulk)
            func beat() {
                // Only while the bulk is under way.
                let pending = connection.pendingBytes
                if connection.bytesSent > 1 << 20, pending > 1 << 20 {
                    connection.send(Station.heartbeat(pending))
                }
                if pending > 0 { station.loop.setAlarm(at: .now, beat) }
            }
            beat()
        }
        #expect(try server.reaches { $0.received.contains(bulk) })
        let before = try server.call { $0.received.prefix { $0 != bulk }.count }
        #expect(before > 0)
        server.loop.stop()
        client.loop.stop()
    }

    @Test("a sender that dies in the middle of a message ends the receiver's connection")
    func closeWhileSending() throws {
        let (server, client) = try Confined.pair()
        try client.call { $0.connections[0].send(Station.result(1, bytes: 20_000_000)) }
        #expect(try server.reaches { $0.connections[0].bytesReceived > 1 << 20 })
        try client.call { station in
            station.connections[0].close()
            station.connections[0].close()
            station.connections[0].send(Station.hello)
        }
        #expect(try server.reaches { !$0.reasons.isEmpty })
        let reason = try server.call { $0.reasons }
        #expect(reason == [.ended] || reason == [.failed(ECONNRESET)])
        #expect(try server.call { $0.received.isEmpty && !$0.connections[0].isOpen })
        #expect(try client.call { $0.reasons.isEmpty })
        server.loop.stop()
        client.loop.stop()
    }

    @Test("a receiver that dies ends the sender's connection, without a signal")
    func deathOfReceiver() throws {
        let (server, client) = try Confined.pair()
        try client.call { $0.react = { connection, _ in connection.close() } }
        try server.send(
            [Station.heartbeat(0)] + (1...4).map { Station.result($0, bytes: 8_000_000) })
        #expect(try server.reaches { !$0.reasons.isEmpty })
        let reason = try server.call { $0.reasons[0] }
        #expect([.ended, .failed(ECONNRESET), .failed(EPIPE)].contains(reason))
        server.loop.stop()
        client.loop.stop()
    }

    @Test("a peer that never reads is closed after its time")
    func neverReads() throws {
        let server = try Station.make("server")
        try server.call {
            $0.prepare = { connection in
                connection.pendingLimit = 8 << 20
                connection.pendingTime = .milliseconds(200)
            }
        }
        let peer = try RawPeer(port: try server.call { try $0.listen() })
        #expect(try server.reaches { !$0.connections.isEmpty })
        let messages = (0..<6).map { Station.result($0, bytes: 4 << 20) }
        let isOpen = try server.call { station in
            for message in messages { station.connections[0].send(message) }
            return station.connections[0].isOpen
        }
        #expect(isOpen)
        #expect(try server.reaches { !$0.reasons.isEmpty })
        guard case .notReading(let pending) = try server.call({ $0.reasons[0] }) else {
            Issue.record("another reason")
            return
        }
        #expect(pending > 8 << 20)
        withExtendedLifetime(peer) {}
        server.loop.stop()
    }

    @Test("a connection waits for a slow reader as long as bytes move")
    func readsSlowly() throws {
        let server = try Station.make("server")
        try server.call {
            $0.prepare = { connection in
                connection.pendingLimit = 13 << 20
                connection.pendingTime = .seconds(1)
            }
        }
        let peer = try RawPeer(port: try server.call { try $0.listen() })
        #expect(try server.reaches { !$0.connections.isEmpty })
        try server.send((0..<6).map { Station.result($0, bytes: 8 << 20) })
        // 8 MiB a second: what waits is above the limit for three times as long as it may be
        // without moving, including the system's own buffers of 10 MiB.
        let began = ContinuousClock.now
        #expect(peer.read(40 << 20, atATime: 16 << 10, pause: 2000))
        #expect(ContinuousClock.now - began > .seconds(2))
        #expect(try server.call { $0.connections[0].isOpen && $0.reasons.isEmpty })
        server.loop.stop()
    }

    @Test("an excessive burst closes at once, but not inside of send")
    func burst() throws {
        let server = try Station.make("server")
        try server.call { $0.prepare = { $0.pendingLimit = 1 << 20 } }
        let peer = try RawPeer(port: try server.call { try $0.listen() })
        #expect(try server.reaches { !$0.connections.isEmpty })
        let message = Station.result(1, bytes: 3 << 20)
        let inSend = try server.call { station in
            for _ in 0..<10 { station.connections[0].send(message) }
            #expect(station.connections[0].pendingBytes < 4 << 20)
            return station.reasons.count
        }
        #expect(inSend == 0)
        #expect(try server.reaches { $0.reasons.count == 1 })
        withExtendedLifetime(peer) {}
        server.loop.stop()
    }

    @Test("500 silent connections do not disturb a busy one, and cost no time")
    func silentConnections() throws {
        ProcessFigures.raiseFileLimit()
        let (server, client) = try Confined.pair()
        try server.call { $0.react = { $0.send($1) } }
        let port = try #require(try server.call { $0.listener?.address.port })
        let silent = try (0..<500).map { _ in try RawPeer(port: port) }
        #expect(try server.reaches { $0.connections.count == 501 })
        let before = try server.call { $0.loop.turns }
        usleep(200_000)
        #expect(try server.call { $0.loop.turns } - before <= 3)
        let messages = (0..<50).map { Station.result($0, bytes: 10_000) }
        try client.send(messages)
        #expect(try client.reaches { $0.received.count == messages.count })
        #expect(try client.call { $0.received } == messages)
        #expect(try server.call { $0.reasons.isEmpty })
        withExtendedLifetime(silent) {}
        server.loop.stop()
        client.loop.stop()
    }

    @Test("a reset in the middle of a message closes the connection")
    func reset() throws {
        let server = try Station.make("server")
        let port = try server.call { try $0.listen() }
        try resetInTheMiddle(port, server)
        #expect(try server.reaches { !$0.reasons.isEmpty })
        #expect(try server.call { $0.reasons } == [.failed(ECONNRESET)])
        #expect(try server.call { $0.received.isEmpty })
        server.loop.stop()
    }

    private func resetInTheMiddle(_ port: UInt16, _ server: Confined<Station>) throws {
        let peer = try RawPeer(port: port)
        var queue = OutboundQueue()
        queue.add(Station.hello, term: 0)
        let frame = queue.nextFrame()?.bytes ?? []
        peer.send(Array(frame.dropLast(3)))
        #expect(try server.reaches { !$0.connections.isEmpty })
        peer.resetWhenGone()
    }

    @Test("a message that comes byte by byte arrives")
    func byteByByte() throws {
        let server = try Station.make("server")
        let peer = try RawPeer(port: try server.call { try $0.listen() })
        var queue = OutboundQueue()
        queue.add(Station.hello, term: 0)
        for byte in queue.nextFrame()?.bytes ?? [] {
            peer.send([byte])
            usleep(200)
        }
        #expect(try server.reaches { $0.received == [Station.hello] })
        server.loop.stop()
    }
}
