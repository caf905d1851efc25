import Foundation
import SkeinBasics
import SkeinCoordination
import SkeinTestSupport
import Testing

@testable import SkeinCluster
@testable import SkeinNetwork

@Suite("how connections begin and end", .ownThreads)
struct ConnectionEndTests {
    @Test("all frames after the proof have tags")
    func authentication() throws {
        let (server, client) = try Confined.pair(authenticated: false)
        let proof = Message.authentication(Authentication(proof: [UInt8](repeating: 3, count: 32)))
        try server.call {
            $0.react = { connection, message in
                guard message == proof else { return }
                Station.authenticate(connection)
                connection.send(Station.heartbeat(1))
            }
        }
        try client.call { station in
            station.connections[0].send(Station.hello)
            station.connections[0].send(proof)
            Station.authenticate(station.connections[0])
            station.connections[0].send(Station.heartbeat(2))
            station.connections[0].send(Station.result(1, bytes: 100_000))
        }
        #expect(try client.reaches { $0.received == [Station.heartbeat(1)] })
        #expect(try server.reaches { $0.received.count == 4 })
        #expect(try server.call { $0.violations.isEmpty })
        server.loop.stop()
        client.loop.stop()
    }

    @Test("a stranger cannot send more than a greeting")
    func stranger() throws {
        let (server, client) = try Confined.pair(authenticated: false)
        try client.send([Station.result(1, bytes: 5000)])
        #expect(try server.reaches { !$0.reasons.isEmpty })
        guard case .payloadTooLong(limit: 1024, _) = try server.call({ $0.violations[0] }) else {
            Issue.record("another violation")
            return
        }
        server.loop.stop()
        client.loop.stop()
    }

    @Test("garbage is a violation, and the last message reaches a peer that goes on sending")
    func lastWords() throws {
        let server = try Station.make("server")
        let rejection = Message.rejection(
            Rejection(code: .protocolViolation, reason: "that is not how we talk"))
        try server.call {
            $0.prepare = { connection in
                connection.onViolation = { [unowned connection] _ in
                    connection.send(rejection)
                    connection.closeAfterFlush()
                }
            }
        }
        let peer = try RawPeer(port: try server.call { try $0.listen() })
        for _ in 0..<64 { peer.send([UInt8](repeating: 0x41, count: 4096)) }
        var inbound = InboundQueue(bounds: Station.bounds)
        peer.endSending()
        let answer = peer.readToEnd()
        // A reset may take the answer away before it is read.
        #expect(answer.isOrderly)
        answer.bytes.withUnsafeBytes { inbound.append($0) }
        let last = try inbound.next()?.message
        #expect(last == rejection)
        #expect(try server.reaches { $0.reasons == [.flushed] })
        #expect(try server.call { $0.received.isEmpty })
        server.loop.stop()
    }

    @Test("a last message to a peer that does not close ends in time")
    func lastWordsUnread() throws {
        let server = try Station.make("server")
        let peer = try RawPeer(port: try server.call { try $0.listen() })
        #expect(try server.reaches { !$0.connections.isEmpty })
        try server.call { station in
            station.connections[0].send(Station.hello)
            station.connections[0].closeAfterFlush(within: .milliseconds(100))
            station.connections[0].send(Station.hello)
        }
        #expect(try server.reaches { $0.reasons == [.notFlushed] })
        withExtendedLifetime(peer) {}
        server.loop.stop()
    }

    @Test("a port in use is named, with the command that shows who uses it")
    func portInUse() throws {
        let (first, second) = (try Station.make("first"), try Station.make("second"))
        let port = try first.call { try $0.listen() }
        let address = try NetworkAddress(parsing: "127.0.0.1:\(port)")
        let addresses = try address.resolved(for: .listening)
        let error = #expect(throws: SocketError.self) {
            try second.call {
                $0.listener = try Listener(on: addresses, name: address, loop: $0.loop) { _ in }
            }
        }
        #expect(error == .portInUse(address: "127.0.0.1:\(port)"))
        #expect(error?.explanation.status == .inputOutput)
        #expect(error?.explanation.remedy.contains("ss -ltnp") == true)
        first.loop.stop()
        second.loop.stop()
    }

    @Test("a port is free again when its node has stopped")
    func portFreed() throws {
        let (first, second) = (try Station.make("first"), try Station.make("second"))
        let port = try first.call { try $0.listen() }
        first.loop.stop()
        try second.call { try $0.dial(port) }
        #expect(try second.reaches { $0.dialFailure != nil })
        #expect(
            try second.call { $0.dialFailure }
                == .cannotConnect(address: "127.0.0.1:\(port)", code: ECONNREFUSED))
        second.loop.stop()
    }

    @Test("every interface means IPv4 too, and peers are shown by their IPv4 addresses")
    func everyInterface() throws {
        let (server, client) = (try Station.make("server"), try Station.make("client"))
        let port = try server.call { station in
            let address = try NetworkAddress(parsing: ":0")
            let listener = try Listener(
                on: address.resolved(for: .listening), name: address, loop: station.loop
            ) { socket in
                station.connections.append(
                    Connection(socket, bounds: Station.bounds, loop: station.loop))
            }
            station.listener = listener
            return listener.address.port
        }
        try client.call { try $0.dial(port) }
        #expect(try server.reaches { !$0.connections.isEmpty })
        let peer = try #require(
            try server.call { ($0.connections[0].link as? SocketLink)?.socket.peer })
        #expect(peer.description.hasPrefix("127.0.0.1:"))
        #expect(peer.isLoopback)
        server.loop.stop()
        client.loop.stop()
    }

    @Test("every reason says something, without a full stop")
    func reasons() {
        let reasons: [CloseReason] = [
            .ended, .failed(ECONNRESET), .violation(.headerChecksum),
            .notReading(pendingBytes: 7), .flushed, .notFlushed,
        ]
        let texts = reasons.map(\.description)
        #expect(Set(texts).count == reasons.count)
        #expect(!texts.contains { $0.isEmpty || $0.hasSuffix(".") })
    }
}
