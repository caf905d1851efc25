import Foundation

/// A port that peers dial.
///
/// It belongs to its loop's thread.
package final class Listener {
    /// The address that it listens on, with the port that the system picked.
    package let address: SocketAddress
    private let loop: EventLoop
    private let descriptor: Int32
    private let accept: (Socket) -> Void
    private var watch: Watch?
    private var pause: Alarm?

    /// Listens on the first of `addresses` that is available, and calls `accept` for every peer.
    ///
    /// `NetworkAddress.resolved(for: .listening)` gives the addresses; `name` is what the user
    /// wrote for them, for errors.
    ///
    /// - Throws: `SocketError.portInUse`, `.cannotListen`.
    package init(
        on addresses: [SocketAddress], name: NetworkAddress, loop: EventLoop,
        accept: @escaping (Socket) -> Void
    ) throws(SocketError) {
        loop.preconditionOnLoop()
        var failure = SocketError.cannotListen(address: name.description, code: EADDRNOTAVAIL)
        var opened: Int32?
        for address in addresses where opened == nil {
            do throws(SocketError) {
                opened = try Self.open(address)
            } catch {
                failure = error
                // The same port on another of the name's addresses is not the one that users dial.
                if case .portInUse = error { break }
            }
        }
        guard let opened else { throw failure }
        guard let address = SocketAddress.asked({ getsockname(opened, $0, $1) }) else {
            let code = errno
            close(opened)
            throw .cannotListen(address: name.description, code: code)
        }
        self.loop = loop
        self.address = address
        self.accept = accept
        descriptor = opened
        startWatching()
    }

    deinit {
        if let watch, watch.isActive { loop.end(watch) }
        Foundation.close(descriptor)
    }

    /// Stops listening; accepted sockets stay open.
    package func end() {
        if let watch { loop.end(watch) }
        if let pause { loop.cancel(pause) }
        watch = nil
        pause = nil
    }

    private static func open(_ address: SocketAddress) throws(SocketError) -> Int32 {
        let descriptor = socket(address.family, SocketAddress.stream, 0)
        func failure() -> SocketError {
            errno == EADDRINUSE
                ? .portInUse(address: address.description)
                : .cannotListen(address: address.description, code: errno)
        }
        guard descriptor >= 0 else { throw failure() }
        Descriptor.prepare(descriptor)
        // A restarted coordinator need not wait for its predecessor's connections to time out.
        Socket.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.isVersion6 {
            Socket.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0)
        }
        guard address.withSystemAddress({ bind(descriptor, $0, $1) }) == 0,
            listen(descriptor, Limits.listenBacklog) == 0
        else {
            let error = failure()
            Foundation.close(descriptor)
            throw error
        }
        return descriptor
    }

    private func startWatching() {
        watch = loop.watch(descriptor, for: .read) { [weak self] _ in self?.acceptSome() }
    }

    private func acceptSome() {
        for _ in 0..<Limits.acceptsPerTurn {
            var accepted: Int32 = -1
            let peer = SocketAddress.asked {
                accepted = Foundation.accept(descriptor, $0, $1)
                return accepted
            }
            if let peer {
                accept(Socket(owning: accepted, peer: peer))
                // The handler may have ended this listener.
                if watch == nil { return }
                continue
            }
            switch errno {
            case EAGAIN, EWOULDBLOCK: return
            case EINTR, ECONNABORTED: continue
            default: return rest()
            }
        }
    }

    /// No descriptor or memory is left: the peers wait in the backlog, and the loop must not spin.
    private func rest() {
        guard let watch else { return }
        loop.end(watch)
        self.watch = nil
        pause = loop.setAlarm(at: .now + Limits.acceptPause) { [weak self] in
            guard let self else { return }
            pause = nil
            startWatching()
        }
    }
}
