/// Where something listens, as people type it: `HOST:PORT`.
package struct Endpoint: Sendable, Equatable {
    /// A coordinator's: SKEI on the keys of a telephone; below the range that systems give to outgoing
    /// connections.
    package static let defaultPort = 7534

    /// A name or an address; an IPv6 address without its brackets.
    package var host: String
    /// 0 asks the system for a free one.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host`, `host:port`, `[::1]` or `[::1]:port`; nil for anything else, also for a number: a
    /// port alone would be the address 0.0.x.y.
    ///
    /// - Parameters:
    ///   - text: what was typed.
    ///   - defaultPort: where it has none.
    package init?(_ text: String, defaultPort: Int = Self.defaultPort) {
        var host: Substring
        var rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard host.contains(":") else { return nil }
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<colon]
            rest = text[colon...]
        }
        guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(Self.isHostByte),
            host.first != "-", !host.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        self.host = String(host)
        if rest.isEmpty {
            port = defaultPort
            return
        }
        rest = rest.dropFirst()
        guard text[..<rest.startIndex].last == ":", !rest.isEmpty,
            rest.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(rest), port <= 65535
        else { return nil }
        self.port = port
    }

    /// `HOST:PORT`, which the initializer reads back.
    package var text: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

    /// Whether only this machine can reach it. A name other than localhost is not looked up.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && isNumeric)
    }

    /// Whether it stands for every address of this machine, so that it cannot be dialled.
    package var isWildcard: Bool { ["0.0.0.0", "::", "*"].contains(host) }

    private var isNumeric: Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Letters, digits and the other characters of names and addresses.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
            UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
