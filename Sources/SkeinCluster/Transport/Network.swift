import Foundation
import SkeinBasics
import SkeinNetwork

/// Where links come from: a port that peers dial, and attempts to reach a peer.
///
/// `EventLoop` is the system's network. Everything but the closures of `lookUp` belongs to the
/// loop's thread.
package protocol Network: AnyObject {
    /// Listens on the first of `addresses` that is available, and calls `accept` for every peer.
    ///
    /// - Throws: `SocketError.portInUse`, `.cannotListen`.
    func listen(
        on addresses: [SocketAddress], name: NetworkAddress, accept: @escaping (any Link) -> Void
    ) throws(SocketError) -> any ListeningPort

    /// Tries one address after the other, each for `patience`. `finish` is called once, later,
    /// unless the attempt is cancelled first.
    func dial(
        _ addresses: [SocketAddress], name: NetworkAddress, patience: Duration,
        finish: @escaping (Result<any Link, SocketError>) -> Void
    ) -> any Attempt

    /// Asks a name server, which may take a minute, on a thread that may wait; `answer` is called
    /// on that thread, or at once with an error if the system refuses a thread.
    func lookUp(
        _ question: @escaping @Sendable () throws -> [SocketAddress],
        answer: @escaping @Sendable (Result<[SocketAddress], any Error>) -> Void)
}

/// A port that peers dial.
package protocol ListeningPort: AnyObject {
    /// The address that it listens on, with the port that the system picked.
    var address: SocketAddress { get }

    /// Stops listening; accepted links stay open.
    func end()
}

/// One attempt to reach a peer.
package protocol Attempt: AnyObject {
    /// Gives up without calling `finish`.
    func cancel()
}

extension Listener: ListeningPort {}

extension Dial: Attempt {}

extension EventLoop: Network {
    package func listen(
        on addresses: [SocketAddress], name: NetworkAddress, accept: @escaping (any Link) -> Void
    ) throws(SocketError) -> any ListeningPort {
        try Listener(on: addresses, name: name, loop: self) { [unowned self] socket in
            accept(SocketLink(socket, loop: self))
        }
    }

    package func dial(
        _ addresses: [SocketAddress], name: NetworkAddress, patience: Duration,
        finish: @escaping (Result<any Link, SocketError>) -> Void
    ) -> any Attempt {
        Dial(addresses, name: name, patience: patience, loop: self) { [unowned self] result in
            finish(result.map { SocketLink($0, loop: self) })
        }
    }

    package func lookUp(
        _ question: @escaping @Sendable () throws -> [SocketAddress],
        answer: @escaping @Sendable (Result<[SocketAddress], any Error>) -> Void
    ) {
        let isStarted = SystemThread.start("skein-lookup") { answer(Result(catching: question)) }
        if !isStarted { answer(.failure(SocketError.threadRefused)) }
    }
}
