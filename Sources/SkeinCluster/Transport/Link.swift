import SkeinNetwork

/// Bytes to and from one peer, in order; a `Connection` makes messages of them.
///
/// `SocketLink` is a socket. The tests' simulation has links that are slow, are cut or go dead when
/// a seed says so. A link belongs to its loop's thread.
package protocol Link: AnyObject {
    /// The peer's address, for people.
    var peerName: String { get }

    /// Where the peer is, to tell hosts apart; see `SocketAddress.network`.
    var peerNetwork: [UInt8] { get }

    /// Shared room for one read; what is left there afterwards is not kept.
    var scratch: UnsafeMutableRawBufferPointer { get }

    /// Calls `handler` whenever the link is broken, or ready for what it waits for (at first,
    /// reading), until `close()`.
    func start(_ handler: @escaping (Readiness) -> Void)

    /// Changes what the link waits for; even with an empty set it reports that it is broken.
    func wait(for interest: Readiness)

    /// Reads as much as there is and fits.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer

    /// Writes as much of the pieces as the system takes.
    func write(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Transfer

    /// Bytes written that the peer's system has not acknowledged; 0 where this is unknown.
    var unacknowledgedBytes: Int { get }

    /// Tells the peer that nothing more follows; what is under way still arrives.
    func endWriting()

    /// Ends the link at once; a second call does nothing.
    func close()
}

/// A socket and the loop that watches it.
final class SocketLink: Link {
    let socket: Socket
    private let loop: EventLoop
    private var watch: Watch?

    init(_ socket: Socket, loop: EventLoop) {
        self.socket = socket
        self.loop = loop
    }

    var peerName: String { socket.peer.description }

    var peerNetwork: [UInt8] { socket.peer.network }

    var scratch: UnsafeMutableRawBufferPointer { loop.scratch }

    func start(_ handler: @escaping (Readiness) -> Void) {
        watch = loop.watch(socket.descriptor, for: .read, handler: handler)
    }

    func wait(for interest: Readiness) {
        if let watch { loop.change(watch, to: interest) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer { socket.read(into: buffer) }

    func write(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Transfer {
        socket.write(pieces)
    }

    var unacknowledgedBytes: Int { socket.unacknowledgedBytes }

    func endWriting() { socket.endWriting() }

    func close() {
        if let watch { loop.end(watch) }
        watch = nil
        socket.close()
    }
}
