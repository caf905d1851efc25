import SkeinBasics

/// Whether a Host header names this server, and not another site whose name was pointed here (DNS
/// rebinding).
package enum OwnHost {
    /// A number, which no other site can have as its name, localhost, or what the user gave. The port
    /// may be that of a tunnel.
    ///
    /// - Parameters:
    ///   - header: the value of `Host`.
    ///   - name: the host that the user gave; nil: none.
    /// - Returns: false also for what is no host.
    package static func isOwn(_ header: String, named name: String?) -> Bool {
        guard let endpoint = Endpoint(header) else { return false }
        let host = endpoint.host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") || host == name?.lowercased() {
            return true
        }
        if host.contains(":") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// Compares secrets.
package enum ConstantTime {
    /// In a time that depends on the lengths alone.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
