import Foundation
import SkeinBasics
import SkeinCluster
import SkeinNetwork

/// How fast this machine moves bytes over loopback without looking at them: the physical limit of a
/// wire benchmark.
enum LoopbackRate {
    /// Bytes per second through one TCP connection between two threads of this process.
    ///
    /// - Parameter bytes: how many are sent, in pieces of 256 KiB, as connections read them.
    /// - Returns: bytes per second.
    /// - Throws: `SocketError`.
    static func measure(bytes: Int) throws -> Double {
        func failure(_ operation: String) -> SocketError {
            .systemRefused(operation: operation, code: errno)
        }
        let listener = socket(AF_INET, SocketAddress.stream, 0)
        defer { close(listener) }
        let anyPort = try NetworkAddress(parsing: "127.0.0.1:0").resolved(for: .listening)
        guard anyPort.first?.withSystemAddress({ bind(listener, $0, $1) }) == 0,
            listen(listener, 1) == 0,
            let address = SocketAddress.asked({ getsockname(listener, $0, $1) })
        else { throw failure("listen on loopback") }
        let sender = socket(AF_INET, SocketAddress.stream, 0)
        guard address.withSystemAddress({ connect(sender, $0, $1) }) == 0 else {
            defer { close(sender) }
            throw failure("connect over loopback")
        }
        let receiver = accept(listener, nil, nil)
        defer { close(receiver) }
        guard SystemThread.start("skein-sender", { write(bytes, to: sender) }) else {
            defer { close(sender) }
            throw SocketError.threadRefused
        }

        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var left = bytes
        var began: ContinuousClock.Instant?
        while left > 0 {
            let count = recv(receiver, &buffer, buffer.count, 0)
            guard count > 0 else { throw failure("read over loopback") }
            began = began ?? .now
            left -= count
        }
        let seconds = began.map { (.now - $0) / .seconds(1) } ?? 0
        return Double(bytes) / max(seconds, 1e-9)
    }

    /// Writes until all is written or the reader is gone, then closes the socket.
    private static func write(_ bytes: Int, to socket: Int32) {
        defer { close(socket) }
        #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        let buffer = [UInt8](repeating: 0, count: 256 << 10)
        var left = bytes
        while left > 0 {
            let count = send(socket, buffer, min(left, buffer.count), flags)
            guard count > 0 else { return }
            left -= count
        }
    }
}
