import Foundation

/// Settings that every descriptor of a node has.
package enum Descriptor {
    /// No child process inherits it, and no call on it blocks.
    package static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
}

/// The result of a read or a write on a socket.
package enum Transfer: Equatable {
    case bytes(Int)
    /// Nothing at the moment.
    case wouldBlock
    /// The peer has closed its side: death, not silence.
    case ended
    /// The connection is broken (errno).
    case failed(Int32)
}

/// A TCP socket. It owns its descriptor and closes it once.
///
/// It never blocks, is not inherited, sends without delay and raises no SIGPIPE. Where the system
/// can, it gives the socket up when sent bytes stay unacknowledged for `Limits.unacknowledged`.
package final class Socket {
    /// How long sent bytes may stay unacknowledged.
    package static let patience = Limits.unacknowledged

    package let descriptor: Int32
    package let peer: SocketAddress
    package private(set) var isOpen = true

    /// Takes over a descriptor that is connected or connecting to `peer`.
    package init(owning descriptor: Int32, peer: SocketAddress) {
        self.descriptor = descriptor
        self.peer = peer
        Descriptor.prepare(descriptor)
        Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        Self.set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        #if os(Linux)
            let milliseconds = Limits.unacknowledged.components.seconds * 1000
            Self.set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(milliseconds))
            Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Limits.unsentBytes)
        #else
            Self.set(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
    }

    deinit { close() }

    /// Begins to connect to `address`; the socket becomes writable once that has succeeded or
    /// failed, and `takeError()` then says which.
    ///
    /// - Throws: `SocketError.cannotConnect`.
    package convenience init(connectingTo address: SocketAddress) throws(SocketError) {
        let descriptor = socket(address.family, SocketAddress.stream, 0)
        guard descriptor >= 0 else {
            throw .cannotConnect(address: address.description, code: errno)
        }
        self.init(owning: descriptor, peer: address)
        let status = address.withSystemAddress { connect(descriptor, $0, $1) }
        // After a signal, the connect goes on in the background.
        guard status == 0 || errno == EINPROGRESS || errno == EINTR else {
            throw .cannotConnect(address: address.description, code: errno)
        }
    }

    /// This side's address.
    package var local: SocketAddress? {
        SocketAddress.asked { getsockname(descriptor, $0, $1) }
    }

    /// The socket's error since the last call (errno), or 0.
    package func takeError() -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
            return errno
        }
        return code
    }

    /// Reads as much as there is and fits.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        precondition(isOpen && !buffer.isEmpty)
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }

    /// Writes as much of `bytes` as the system takes.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        precondition(isOpen && !bytes.isEmpty)
        while true {
            #if os(Linux)
                let flags = Int32(MSG_NOSIGNAL)
            #else
                let flags: Int32 = 0
            #endif
            let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }

    /// Writes as much of the pieces as the system takes.
    package func write(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Transfer {
        precondition(isOpen && !pieces.isEmpty)
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: pieces.count) { places in
            for (place, piece) in pieces.enumerated() {
                // The system only reads from it.
                let base = UnsafeMutableRawPointer(mutating: piece.baseAddress)
                places.initializeElement(
                    at: place, to: iovec(iov_base: base, iov_len: piece.count))
            }
            var message = msghdr()
            message.msg_iov = places.baseAddress
            message.msg_iovlen = .init(places.count)
            while true {
                #if os(Linux)
                    let flags = Int32(MSG_NOSIGNAL)
                #else
                    let flags: Int32 = 0
                #endif
                let count = sendmsg(descriptor, &message, flags)
                if count >= 0 { return .bytes(count) }
                if errno == EINTR { continue }
                return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
            }
        }
    }

    /// Bytes written that the peer's system has not acknowledged; 0 where this system does not
    /// tell.
    package var unacknowledgedBytes: Int {
        #if os(Linux)
            var count: Int32 = 0
            // SIOCOUTQ, which is TIOCOUTQ by another name.
            return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        #else
            return 0
        #endif
    }

    /// Tells the peer that nothing more follows; what is under way still arrives.
    package func endWriting() {
        precondition(isOpen)
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the descriptor; a second call does nothing.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        _ = Foundation.close(descriptor)
    }

    package static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        // No option is essential: the socket works without it.
        var value = value
        _ = setsockopt(
            descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
