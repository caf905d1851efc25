import Foundation

/// The socket on which a service manager hears how a service is, by the protocol of sd_notify(3):
/// datagrams of lines `NAME=value` to an address of AF_UNIX. systemd's library is not needed.
package final class NotifySocket: Sendable {
    /// What sun_path holds, but for the zero byte behind a path.
    private static let addressBytes = 2...107

    /// What an address must be, in words.
    package static let accepted = "an absolute path, or @ and an abstract name, of up to 107 bytes"

    private let descriptor: Int32
    private let address: SocketAddress

    /// Whether this can be the value of NOTIFY_SOCKET. `vsock:`, for virtual machines, cannot.
    package static func accepts(_ address: String) -> Bool {
        addressBytes.contains(address.utf8.count) && !address.utf8.contains(0)
            && (address.hasPrefix("/") || address.hasPrefix("@"))
    }

    /// - Parameter address: what `accepts` accepts; nothing needs to be there yet.
    /// - Throws: `SocketError.systemRefused`.
    package init(_ address: String) throws(SocketError) {
        precondition(Self.accepts(address))
        self.address = Self.systemAddress(address)
        #if canImport(Glibc) || canImport(Musl)
            let kind = Int32(SOCK_DGRAM.rawValue)
        #else
            let kind = SOCK_DGRAM
        #endif
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else {
            throw .systemRefused(operation: "make a socket", code: errno)
        }
        Descriptor.prepare(descriptor)
    }

    deinit { _ = close(descriptor) }

    private static func systemAddress(_ text: String) -> SocketAddress {
        var bytes = Array(text.utf8)
        // An abstract name begins with a zero byte, and its length alone says where it ends.
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 } else { bytes.append(0) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let length = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SocketAddress($0, length: length + bytes.count)
            }
        }
    }

    /// Sends one datagram, without waiting. Each is addressed anew, so that the manager may have been
    /// restarted in between.
    ///
    /// - Returns: false when it was not taken: the manager is gone, or its queue is full.
    package func send(_ lines: [String]) -> Bool {
        let text = Array(lines.joined(separator: "\n").utf8)
        #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        return address.withSystemAddress { place, length in
            while true {
                let count = sendto(descriptor, text, text.count, flags, place, length)
                if count < 0, errno == EINTR { continue }
                return count == text.count
            }
        }
    }
}
