import Foundation

/// An address as the system's calls take it, IPv4 or IPv6.
package struct SocketAddress: Sendable, Equatable {
    /// A `sockaddr_in` or a `sockaddr_in6`, byte for byte.
    private var bytes: [UInt8]

    package init(_ address: UnsafePointer<sockaddr>, length: Int) {
        bytes = Array(UnsafeRawBufferPointer(start: address, count: length))
    }

    #if canImport(Glibc) || canImport(Musl)
        package static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        package static let stream = SOCK_STREAM
    #endif

    /// Calls `body` with the address as bind(2) and connect(2) want it.
    package func withSystemAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        // A copy, in storage that is aligned for every family.
        var storage = sockaddr_storage()
        return withUnsafeMutableBytes(of: &storage) { storage in
            storage.copyBytes(from: bytes.prefix(storage.count))
            return storage.withMemoryRebound(to: sockaddr.self) { pointer in
                guard let base = pointer.baseAddress else {
                    preconditionFailure("a storage has an address")
                }
                return body(base, socklen_t(bytes.count))
            }
        }
    }

    /// The address that `ask` (getsockname(2) and its like) fills in; nil when it fails.
    package static func asked(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard ask(address, &length) >= 0 else { return nil }
                return SocketAddress(address, length: Int(length))
            }
        }
    }

    package var family: Int32 {
        withSystemAddress { address, _ in Int32(address.pointee.sa_family) }
    }

    package var isVersion6: Bool { family == AF_INET6 }

    /// The port, in the host's byte order.
    package var port: UInt16 {
        // Both families keep it in bytes 2 and 3, most significant first.
        bytes.count >= 4 ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : 0
    }

    /// Whether only this machine can reach it: 127.0.0.0/8, also mapped into IPv6, or ::1.
    package var isLoopback: Bool {
        if let four = version4 { return four[0] == 127 }
        return host6.map { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 } ?? false
    }

    /// Where a host is, whichever of its addresses it uses: all of an IPv4 address, and of an IPv6
    /// address the first 64 bits, after which a host chooses for itself.
    package var network: [UInt8] { version4 ?? host6.map { Array($0.prefix(8)) } ?? [] }

    /// The four bytes of an IPv4 address, also of one mapped into IPv6.
    private var version4: [UInt8]? {
        if family == AF_INET, bytes.count >= 8 { return Array(bytes[4..<8]) }
        guard let host6, host6.prefix(10).allSatisfy({ $0 == 0 }), host6[10] == 0xFF,
            host6[11] == 0xFF
        else { return nil }
        return Array(host6[12...])
    }

    /// The sixteen bytes of an IPv6 address.
    private var host6: [UInt8]? {
        isVersion6 && bytes.count >= 24 ? Array(bytes[8..<24]) : nil
    }
}

extension SocketAddress: CustomStringConvertible {
    /// As in `10.0.0.7:40112` and `[fe80::7%eth0]:40112`.
    package var description: String {
        if let four = version4 {
            return four.map(String.init).joined(separator: ".") + ":\(port)"
        }
        var host = [CChar](repeating: 0, count: 1025)
        let status = withSystemAddress { address, length in
            getnameinfo(
                address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        }
        guard status == 0 else { return "an address of family \(family)" }
        let name = String(
            decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "[\(name)]:\(port)"
    }
}
