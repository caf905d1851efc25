import Foundation
import Testing

/// A relay on loopback between workers and a coordinator that delays the first bulk in each
/// direction, or all that passes.
final class SlowLine: Sendable {
    let address: String
    private let target: String
    private let descriptor: Int32
    private let delay: Double

    /// The first bulk takes `seconds` (0: as long as any other), and all that passes `delay` seconds.
    init(to target: String, seconds: Double, delay: Double = 0) throws {
        self.target = target
        self.delay = delay
        (descriptor, address) = try LoopbackPort.listen()
        Thread { [self] in
            while true {
                let worker = accept(descriptor, nil, nil)
                guard worker >= 0 else { break }
                _ = fcntl(worker, F_SETFD, FD_CLOEXEC)
                do {
                    let coordinator = try HostilePeer.dial(target)
                    Thread { self.relay(worker, coordinator, seconds) }.start()
                    Thread { self.relay(coordinator, worker, seconds) }.start()
                } catch {
                    shutdown(worker, Int32(SHUT_RDWR))
                }
            }
            close(descriptor)
        }.start()
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func relay(_ from: Int32, _ to: Int32, _ seconds: Double) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isSlow = seconds > 0
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { break }
            if delay > 0 { Thread.sleep(forTimeInterval: delay) }
            // Anything shorter is a heartbeat, or the handshake.
            let crawls = isSlow && count > 4096
            let slice = crawls ? count / Int(seconds * 10) : count
            for start in stride(from: 0, to: count, by: slice) {
                send(buffer[start..<min(start + slice, count)], to: to)
                if crawls { Thread.sleep(forTimeInterval: 0.1) }
            }
            if crawls { isSlow = false }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }
}

/// Ports of 127.0.0.1 that tests listen on.
enum LoopbackPort {
    /// A listening socket and its address: `port`, of a process that has ended, or one that the system
    /// picks.
    static func listen(port: UInt16 = 0) throws -> (descriptor: Int32, address: String) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Other tests start processes meanwhile.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        place.sin_port = port.bigEndian
        var isShared: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<Int32>.size))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && Foundation.listen(descriptor, 16) == 0
                    ? getsockname(descriptor, address, &length) : -1
            }
        }
        try #require(status == 0, "listen: \(String(cString: strerror(errno)))")
        return (descriptor, "127.0.0.1:\(UInt16(bigEndian: place.sin_port))")
    }
}
