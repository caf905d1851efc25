/// Bytes to and from one peer, in order: what a `Connection` makes messages of.
///
/// `SocketLink` is a socket of the system. The simulation of the tests has links that are slow, are
/// cut or go dead when a seed says so. It belongs to its loop's thread.
protocol Link: AnyObject {
    /// The peer's address, for people.
    var peerName: String { get }

    /// Room that is lent for one read: what lies there afterwards nobody keeps.
    var scratch: UnsafeMutableRawBufferPointer { get }

    /// Calls `handler` whenever the link is ready for what it waits for, which is reading at first,
    /// or is broken; until `close()`.
    func start(_ handler: @escaping (Readiness) -> Void)

    /// Changes what the link waits for; with nothing at all it still reports that it is broken.
    func wait(for interest: Readiness)

    /// Reads as much as there is and fits.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer

    /// Writes as much as the system takes of bytes that lie in several places.
    func write(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Transfer

    /// Bytes that were written and that the peer's system has not acknowledged; 0 where that is not
    /// known.
    var unacknowledgedBytes: Int { get }

    /// Says that nothing more will be sent; what is under way still arrives.
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
