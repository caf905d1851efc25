import Foundation

/// One attempt to reach a peer: its addresses one after the other, until one answers.
///
/// It belongs to its loop's thread.
package final class Dial {
    private let loop: EventLoop
    private let name: NetworkAddress
    private let patience: Duration
    private var addresses: ArraySlice<SocketAddress>
    private var finish: ((Result<Socket, SocketError>) -> Void)?
    private var socket: Socket?
    private var watch: Watch?
    private var alarm: Alarm?

    /// Begins at once. `finish` is called once, later, with a connected socket or with the error of
    /// the last address; never after `cancel()`.
    ///
    /// `NetworkAddress.resolved(for: .dialling)` gives the addresses; `name` is what the user wrote
    /// for them, for errors. Each address may take `patience`.
    package init(
        _ addresses: [SocketAddress], name: NetworkAddress, patience: Duration, loop: EventLoop,
        finish: @escaping (Result<Socket, SocketError>) -> Void
    ) {
        loop.preconditionOnLoop()
        self.loop = loop
        self.name = name
        self.patience = patience
        self.addresses = addresses[...]
        self.finish = finish
        // Later, so that the caller has its `Dial` before `finish` is called.
        alarm = loop.setAlarm(at: .now) { self.tryNext(after: EADDRNOTAVAIL) }
    }

    /// Gives up without calling `finish`.
    package func cancel() {
        dropAttempt()
        finish = nil
    }

    private func dropAttempt() {
        if let watch { loop.end(watch) }
        if let alarm { loop.cancel(alarm) }
        (watch, alarm, socket) = (nil, nil, nil)
    }

    private func tryNext(after code: Int32) {
        dropAttempt()
        guard let address = addresses.popFirst() else {
            return end(.failure(.cannotConnect(address: name.description, code: code)))
        }
        let attempt: Socket
        do throws(SocketError) {
            attempt = try Socket(connectingTo: address)
        } catch {
            guard case .cannotConnect(_, let code) = error else { return end(.failure(error)) }
            return tryNext(after: code)
        }
        socket = attempt
        watch = loop.watch(attempt.descriptor, for: .write) { _ in self.decide(attempt) }
        alarm = loop.setAlarm(at: .now + patience) { self.tryNext(after: ETIMEDOUT) }
    }

    private func decide(_ attempt: Socket) {
        let code = attempt.takeError()
        guard code == 0 else { return tryNext(after: code) }
        // If no program listens on a port of the range that the system picks from, a socket can
        // connect to itself.
        if attempt.local?.description == attempt.peer.description {
            return tryNext(after: ECONNREFUSED)
        }
        dropAttempt()
        end(.success(attempt))
    }

    private func end(_ result: Result<Socket, SocketError>) {
        let finish = self.finish
        self.finish = nil
        finish?(result)
    }
}
