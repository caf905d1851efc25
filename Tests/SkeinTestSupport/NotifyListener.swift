import Foundation

/// What a service manager is to a service: a datagram socket that hears its messages.
package final class NotifyListener {
    /// The value of NOTIFY_SOCKET.
    package let address: String
    private let descriptor: Int32
    /// All lines so far.
    package private(set) var lines: [String] = []
    private let path: String?

    package struct Refused: Error {
        package var code: Int32
    }

    /// - Parameter address: a path, or @ and an abstract name.
    /// - Throws: `Refused`, with what the system says.
    package init(_ address: String) throws {
        self.address = address
        path = address.hasPrefix("/") ? address : nil
        #if canImport(Glibc) || canImport(Musl)
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { throw Refused(code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var bytes = Array(address.utf8)
        if address.hasPrefix("@") { bytes[0] = 0 } else { bytes.append(0) }
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: place.sun_path)
        withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(offset + bytes.count)
        let status = withUnsafePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw Refused(code: code)
        }
    }

    deinit {
        close(descriptor)
        if let path { unlink(path) }
    }

    /// Takes the messages that are there.
    package func hear() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            lines += String(decoding: buffer[..<count], as: UTF8.self)
                .split(separator: "\n").map(String.init)
        }
    }

    /// Blocks until a line matches.
    package func wait(seconds: Double = 300, for isRight: (String) -> Bool) throws {
        try Deadline.wait(seconds: seconds) {
            hear()
            return lines.contains(where: isRight)
        }
    }
}
