import Foundation
import SkeinBasics
import SkeinSockets

/// A small HTTP server on a loop and thread of its own: GET requests, answers that are made at once,
/// and server-sent events. It knows nothing of what it serves.
///
/// At most `Settings.connections` clients are held. One more, and the oldest that follows no events
/// is dropped for it: those that never speak keep nobody out.
package final class HTTPServer: Sendable {
    package struct Settings: Sendable {
        /// Clients at a time: each holds up to `Limits.headBytes`.
        package var connections = 128
        /// Clients that follow events; the next one is answered with 503.
        package var streams = 32

        package init() {}
    }

    private let loop: EventLoop
    private let listening: Confined<Clients>
    /// The bound address, `HOST:PORT`.
    package let address: String
    /// Whether only this machine can reach it.
    package let isLoopback: Bool

    /// Binds a port and begins to answer.
    ///
    /// - Parameters:
    ///   - addresses: where to listen.
    ///   - name: what the user wrote for them, for errors.
    ///   - settings: how many clients are held.
    ///   - make: makes the site; called once, on the server's thread, where the site lives.
    /// - Throws: `SocketError`; what `make` throws.
    package init(
        on addresses: [SocketAddress], name: NetworkAddress, settings: Settings = Settings(),
        make: @escaping @Sendable (any Clock) throws -> any HTTPSite
    ) throws {
        let loop = try EventLoop(name: "skein-http")
        self.loop = loop
        do {
            let clients = try Confined(to: loop) {
                Self.yieldToOthers()
                let site = try make(loop)
                return try Clients(
                    on: addresses, name: name, settings: settings, loop: loop, site: site)
            }
            listening = clients
            (address, isLoopback) = try clients.call {
                ($0.address.description, $0.address.isLoopback)
            }
        } catch {
            loop.stop()
            throw error
        }
    }

    /// Lets the process's other threads go first: a flood of requests gets what they leave, or one or
    /// two hundredths of a core that they want as well.
    private static func yieldToOthers() {
        #if os(Linux)
            // On Linux this is the calling thread's alone. Without the right to it, nothing changes.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        #endif
    }

    /// Clients that are connected now.
    package func connectionCount() throws -> Int { try listening.call { $0.count } }

    /// Runs `body` on the server's thread and waits for its result.
    ///
    /// - Throws: `SocketError.stopped`.
    package func call<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws -> Value {
        try listening.call { _ in body() }
    }

    /// Stops listening, drops all clients and ends the thread; what was sent and has not left within
    /// `grace` is lost.
    package func stop(grace: Duration = .zero) {
        listening.post { $0.finish() }
        let deadline = ContinuousClock.now + grace
        while ContinuousClock.now < deadline {
            do {
                if try listening.call({ $0.count }) == 0 { break }
            } catch {
                break
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        loop.stop()
    }
}

/// The clients of a server. Lives on the loop's thread.
private final class Clients {
    private let loop: EventLoop
    private let settings: HTTPServer.Settings
    private let site: any HTTPSite
    private var listener: Listener?
    /// In the order in which they came.
    private var connections: [ObjectIdentifier: (number: Int, connection: HTTPConnection)] = [:]
    private var next = 0
    private(set) var address: SocketAddress

    init(
        on addresses: [SocketAddress], name: NetworkAddress, settings: HTTPServer.Settings,
        loop: EventLoop, site: any HTTPSite
    ) throws {
        self.loop = loop
        self.settings = settings
        self.site = site
        var accept: (Socket) -> Void = { _ in }
        let listener = try Listener(on: addresses, name: name, loop: loop) { accept($0) }
        address = listener.address
        self.listener = listener
        accept = { [weak self] in self?.accept($0) }
        keepStreamsAlive()
    }

    var count: Int { connections.count }

    /// No more clients come; those that follow events get what was sent, the others are dropped.
    func finish() {
        listener?.end()
        listener = nil
        site.finish()
        for (_, connection) in connections.values {
            if connection.isIdle { connection.close() } else { connection.endStream() }
        }
    }

    private func accept(_ socket: Socket) {
        if connections.count >= settings.connections {
            let oldest = connections.values.filter(\.connection.isIdle).min {
                $0.number < $1.number
            }
            guard let oldest else { return socket.close() }
            oldest.connection.close()
        }
        let connection = HTTPConnection(
            socket, loop: loop,
            answer: { [weak self] request in
                guard let self else {
                    return .response(HTTPResponse(.serviceUnavailable, line: "the server stops"))
                }
                return limited(site.answer(request))
            },
            onClose: { [weak self] in self?.connections[ObjectIdentifier($0)] = nil })
        connections[ObjectIdentifier(connection)] = (next, connection)
        next += 1
    }

    private func limited(_ answer: HTTPAnswer) -> HTTPAnswer {
        guard case .events = answer else { return answer }
        let streams = connections.values.count { !$0.connection.isIdle }
        guard streams >= settings.streams else { return answer }
        return .response(
            HTTPResponse(
                .serviceUnavailable,
                line: "\(streams) clients follow this already; close one of them"))
    }

    private func keepStreamsAlive() {
        for (_, connection) in connections.values { connection.stream?.keepAlive() }
        loop.setAlarm(at: .now + Limits.keepAlive) { [weak self] in self?.keepStreamsAlive() }
    }
}
