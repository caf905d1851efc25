import Foundation

/// The numeric addresses of this machine's network interfaces, for others to dial.
package enum InterfaceAddresses {
    /// Networks inside one machine, of containers and virtual machines: others rarely reach them.
    private static let inner = [
        "docker", "br-", "virbr", "veth", "cni", "flannel", "podman", "lxc",
    ]

    /// Those that others may reach, the likeliest first: IPv4 before IPv6, and inner networks last.
    /// Loopback and link-local addresses are left out.
    package static var dialable: [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [(order: Int, host: String)] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let bytes = entry.pointee.ifa_addr else { continue }
            let family = Int32(bytes.pointee.sa_family)
            let length =
                family == AF_INET
                ? MemoryLayout<sockaddr_in>.size
                : family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : 0
            guard length > 0 else { continue }
            let address = SocketAddress(bytes, length: length)
            let text = address.description.dropLast(2)
            // Only what NetworkAddress reads back; fe80:: is of one link.
            let host = text.hasPrefix("[") ? text.dropFirst().dropLast() : text
            if address.isLoopback || host.hasPrefix("169.254.") || host.hasPrefix("fe80:") {
                continue
            }
            let name = String(cString: entry.pointee.ifa_name)
            let isInner = inner.contains { name.hasPrefix($0) }
            found.append(((isInner ? 2 : 0) + (address.isVersion6 ? 1 : 0), String(host)))
        }
        // In the system's order within each kind.
        return (0...3).flatMap { order in found.filter { $0.order == order }.map(\.host) }
    }
}
