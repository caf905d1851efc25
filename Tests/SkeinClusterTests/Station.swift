import Foundation
import SkeinCoordination
import SkeinTestSupport
import Testing

@testable import SkeinCluster
@testable import SkeinNetwork

/// One end of a few connections, on a loop of its own.
final class Station {
    let loop: EventLoop
    var listener: Listener?
    var dial: Dial?
    var dialFailure: SocketError?
    var connections: [Connection] = []
    var received: [Message] = []
    var reasons: [CloseReason] = []
    var violations: [WireError] = []
    /// What connections do with a message besides noting it.
    var react: (Connection, Message) -> Void = { _, _ in }
    /// Called with each new connection.
    var prepare: (Connection) -> Void = { _ in }

    init(_ loop: EventLoop) { self.loop = loop }

    /// Both directions have the same key in most tests, which test the transport.
    static let key = FrameKey(bytes: [UInt8](repeating: 7, count: 32))
    static let bounds = MessageBounds(
        allowed: Set(MessageType.allCases), gradientPayloadBytes: 64 << 20,
        parameterPayloadBytes: 64 << 20)

    static func make(_ name: String) throws -> Confined<Station> {
        let loop = try EventLoop(name: name)
        return try Confined(to: loop) { Station(loop) }
    }

    /// Listens on a port that the system picks.
    func listen() throws -> UInt16 {
        let address = try NetworkAddress(parsing: "127.0.0.1:0")
        let listener = try Listener(
            on: address.resolved(for: .listening), name: address, loop: loop
        ) { [unowned self] in adopt($0) }
        self.listener = listener
        return listener.address.port
    }

    func dial(_ port: UInt16) throws {
        let address = try NetworkAddress(parsing: "127.0.0.1:\(port)")
        dial = Dial(
            try address.resolved(for: .dialling), name: address, patience: .seconds(20),
            loop: loop
        ) { [unowned self] result in
            switch result {
            case .success(let socket): adopt(socket)
            case .failure(let error): dialFailure = error
            }
        }
    }

    private func adopt(_ socket: Socket) {
        let connection = Connection(socket, bounds: Self.bounds, loop: loop)
        connection.onMessage = { [unowned self, unowned connection] in
            received.append($0.message)
            react(connection, $0.message)
        }
        connection.onClose = { [unowned self] in reasons.append($0) }
        connection.onViolation = { [unowned self] in violations.append($0) }
        connections.append(connection)
        prepare(connection)
    }

    static func authenticate(_ connection: Connection) {
        connection.authenticate(receiving: key, sending: key)
    }

    static func result(_ index: Int, bytes: Int) -> Message {
        // Bytes that differ from place to place, so that a mix-up shows.
        let payload = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ index) }
        return .result(
            WorkResult(
                key: WorkKey(round: 1, index: UInt32(index)), attempt: 1, kind: .gradient,
                tokens: 1, lossTokens: 1, correct: 0, lossSum: 1,
                digest: [UInt8](repeating: 1, count: 32),
                inputs: [UInt8](repeating: 2, count: 32), payload: payload))
    }

    static func heartbeat(_ number: Int) -> Message {
        .heartbeat(Heartbeat(residentBytes: UInt64(number)))
    }

    static let hello = Message.hello(
        Hello(
            minor: 0...0, role: .worker, name: "w", incarnation: [UInt8](repeating: 1, count: 16),
            nonce: [UInt8](repeating: 2, count: 32), software: "test"))
}

extension Confined<Station> {
    /// A server and a client that are connected, with keys if `authenticated`.
    static func pair(
        authenticated: Bool = true
    ) throws -> (server: Confined<Station>, client: Confined<Station>) {
        let (server, client) = (try Station.make("server"), try Station.make("client"))
        for station in [server, client] where authenticated {
            try station.call { $0.prepare = Station.authenticate }
        }
        let port = try server.call { try $0.listen() }
        try client.call { try $0.dial(port) }
        #expect(try server.reaches { !$0.connections.isEmpty })
        #expect(try client.reaches { !$0.connections.isEmpty })
        return (server, client)
    }

    /// Whether `state` holds within a minute.
    func reaches(_ state: @escaping @Sendable (Station) -> Bool) throws -> Bool {
        let limit = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < limit {
            if try call(state) { return true }
            usleep(2000)
        }
        return false
    }

    func send(_ messages: [Message]) throws {
        try call { station in for message in messages { station.connections[0].send(message) } }
    }
}

/// A blocking socket that is not part of Skein: the bad peer of a test.
final class RawPeer: @unchecked Sendable {
    // Each test uses its peers on one thread.
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = ClosingDescriptors.socket()
        let address = try NetworkAddress(parsing: "127.0.0.1:\(port)")
        let found = try #require(try address.resolved(for: .dialling).first)
        let status = found.withSystemAddress { connect(descriptor, $0, $1) }
        try #require(status == 0, "connect: \(errno)")
    }

    deinit { _ = close(descriptor) }

    /// Whether all of it went out.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Everything until the peer closes, and whether it closed in an orderly way.
    func readToEnd() -> (bytes: [UInt8], isOrderly: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return (bytes, count == 0) }
            bytes += buffer[..<count]
        }
    }

    /// Reads `count` bytes with a pause of microseconds between two reads; whether they came.
    func read(_ count: Int, atATime size: Int, pause: UInt32) -> Bool {
        var left = count
        var buffer = [UInt8](repeating: 0, count: size)
        while left > 0 {
            let read = recv(descriptor, &buffer, buffer.count, 0)
            guard read > 0 else { return false }
            left -= read
            usleep(pause)
        }
        return true
    }

    func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes this peer end with a reset, not in an orderly way.
    func resetWhenGone() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
