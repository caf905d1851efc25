import Foundation

/// A host and a port as a user writes them: `HOST:PORT`, `[V6]:PORT`, or `:PORT`.
package struct NetworkAddress: Sendable, Equatable {
    /// A name or a numeric address; nil means every interface of this machine.
    package var host: String?
    /// 0 lets the system pick one; only for listening.
    package var port: UInt16

    /// - Throws: `SocketError.addressInvalid`.
    package init(parsing text: String) throws(SocketError) {
        func invalid(_ reason: String) -> SocketError {
            .addressInvalid(text: text, reason: reason)
        }
        guard let colon = text.lastIndex(of: ":") else {
            throw invalid("the port is missing")
        }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits)
        else {
            throw invalid("the port must be a number from 0 to 65535")
        }
        var host = text[..<colon]
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), host.contains(":") else {
                throw invalid("only an IPv6 address has brackets")
            }
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw invalid("an IPv6 address needs brackets")
        }
        guard host.utf8.count <= Limits.hostBytes,
            host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.forbidden.contains($0) })
        else {
            throw invalid("the host name is too long, or has a character that no host name has")
        }
        self.host = host.isEmpty ? nil : String(host)
        self.port = port
    }

    private static let forbidden = Array("[]/\\\"'".utf8)

    /// What a resolved address is for.
    package enum Purpose: Sendable {
        case listening, dialling
    }

    /// The addresses that the system knows, in the order in which to try them.
    ///
    /// May wait seconds for a name server: never call it on a loop's thread.
    ///
    /// - Parameters:
    ///   - purpose: what they are for.
    ///   - asksNobody: only a numeric host is resolved.
    /// - Returns: at least one.
    /// - Throws: `SocketError.nameNotResolved`, or `.addressInvalid` for dialling port 0.
    package func resolved(
        for purpose: Purpose, asksNobody: Bool = false
    ) throws(SocketError) -> [SocketAddress] {
        if purpose == .dialling, port == 0 {
            throw .addressInvalid(text: description, reason: "port 0 cannot be dialled")
        }
        var hints = addrinfo()
        hints.ai_socktype = SocketAddress.stream
        hints.ai_flags =
            AI_NUMERICSERV | (purpose == .listening ? AI_PASSIVE : 0)
            | (asksNobody ? AI_NUMERICHOST : 0)
        var first: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &first)
        guard status == 0 else {
            throw .nameNotResolved(
                host: host ?? description, detail: String(cString: gai_strerror(status)))
        }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var next = first
        while let entry = next {
            if let bytes = entry.pointee.ai_addr {
                addresses.append(SocketAddress(bytes, length: Int(entry.pointee.ai_addrlen)))
            }
            next = entry.pointee.ai_next
        }
        if host == nil, purpose == .listening {
            // An IPv6 socket serves IPv4, too, so it comes first.
            addresses.sort { $0.isVersion6 && !$1.isVersion6 }
        }
        return addresses
    }
}

extension NetworkAddress: CustomStringConvertible {
    /// As a user writes it.
    package var description: String {
        guard let host else { return ":\(port)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
