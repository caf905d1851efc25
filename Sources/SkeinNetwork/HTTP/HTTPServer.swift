import Foundation
import SkeinBasics

/// A small HTTP server on a loop and thread of its own: requests with bodies, answers that are made
/// at once or later, and server-sent events. It knows nothing of what it serves.
///
/// At most `Settings.connections` clients are held. One more, and of the host with most of them that
/// wait without a request the one that has waited longest is dropped for it: those that never speak
/// keep no client out.
package final class HTTPServer: Sendable {
    package struct Settings: Sendable {
        /// Clients at a time: each holds up to `Limits.headBytes`, and a body. Each takes one
        /// descriptor of the process, see `raiseDescriptorLimit`.
        package var connections = 128
        /// Clients that follow events (`HTTPAnswer.events`); the next one is answered with 503.
        package var streams = 32
        /// Bytes of all bodies that are being received, which take up to twice as much memory; one
        /// that comes beyond them is refused with 503.
        package var bodyBytes = 64 << 20
        /// Bytes of all answers and events that wait for clients which are slow to take them. Beyond
        /// them, of those that hold more than a little the one that has taken nothing for longest is
        /// dropped, unless it is the only one: one answer may be as long as it is.
        package var answerBytes = 64 << 20
        /// Seconds since 1970, for the `Date` of answers.
        package var date: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
        /// How long clients are waited for.
        package var times = HTTPTimes()
        /// The thread's name, for debuggers: at most 15 bytes.
        package var name = "skein-http"
        /// Whether the process's other threads go first.
        package var yieldsToOthers = true

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
        let loop = try EventLoop(name: settings.name)
        self.loop = loop
        do {
            let clients = try Confined(to: loop) {
                if settings.yieldsToOthers { Self.yieldToOthers() }
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

    /// Lets the process's other threads go first: a flood of requests gets what they leave, or one
    /// or two hundredths of a core that they want as well.
    private static func yieldToOthers() {
        #if os(Linux)
            // On Linux this is the calling thread's alone. Without the right to it, nothing
            // changes.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        #endif
    }

    /// Raises the number of files and sockets that this process may have open, never above what its
    /// parent allows it (`ulimit -Hn`), and never lowers it.
    ///
    /// - Returns: how many it may have open now.
    package static func raiseDescriptorLimit(to wanted: Int) -> Int {
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        if limit.rlim_cur < rlim_t(max(0, wanted)) {
            var raised = limit
            raised.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Clients that are connected now.
    package func connectionCount() throws -> Int { try listening.call { $0.count } }

    /// Bytes of bodies that are being received now.
    package func bodyBytes() throws -> Int { try listening.call { $0.bodyBytes } }

    /// Bytes that wait for clients now.
    package func answerBytes() throws -> Int { try listening.call { $0.waitingBytes } }

    /// Runs `body` on the server's thread and waits for its result.
    ///
    /// - Throws: `SocketError.stopped`.
    package func call<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws -> Value {
        try listening.call { _ in body() }
    }

    /// Runs `body` on the server's thread, after everything posted before, and does not wait for
    /// it; does nothing once the server has stopped.
    ///
    /// Only while thousands of posts wait does it wait for the thread to take them: hold no lock
    /// that the site may want.
    package func post(_ body: @escaping @Sendable () -> Void) {
        listening.post { _ in body() }
    }

    /// Stops listening, tells the site to finish, drops all clients that have no request under way,
    /// refuses requests that have not come whole with 503 and lets the others have their answers:
    /// `connectionCount` reaches 0 once they have left. Does not wait for that.
    package func drain() {
        listening.post { $0.drain() }
    }

    /// Drains, and ends the thread after at most `grace`; what was not answered or has not left by
    /// then is lost.
    package func stop(grace: Duration = .zero) {
        drain()
        let deadline = ContinuousClock.now + grace
        while ContinuousClock.now < deadline {
            do {
                if try connectionCount() == 0 { break }
            } catch {
                // The thread has ended, as wanted.
                break
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        loop.stop()
    }
}
