import Foundation
import Glibc
import Synchronization

/// A server on a free port of this machine that answers each request with the bytes of a script, and then closes the
/// connection or keeps it open without a word.
final class FakeServer: Sendable {
    struct Reply: Sendable {
        var bytes: String
        var closes = true
    }

    let port: UInt16
    private let listener: Int32
    private let replies: Mutex<[Reply]>
    private let requests = Mutex<[String]>([])
    private let gone = Mutex(0)

    /// - Parameters:
    ///   - replies: one for each connection; the last one also for all further ones.
    ///   - listens: whether connections are taken.
    /// - Throws: what the system says if there is no port.
    init(_ replies: [Reply], listens: Bool = true) throws {
        self.replies = Mutex(replies)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0
                    && (!listens || listen(listener, 8) == 0)
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard bound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        if listens { Thread.detachNewThread { [self] in serve() } }
    }

    /// All that came, headers and body.
    var received: [String] { requests.withLock { $0 } }
    /// How many clients have closed a connection that was kept open for them.
    var clientsGone: Int { gone.withLock { $0 } }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else {
                close(listener)
                return
            }
            let reply = replies.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            Thread.detachNewThread { [self] in answer(client, reply) }
        }
    }

    private func answer(_ client: Int32, _ reply: Reply) {
        defer { close(client) }
        requests.withLock { $0.append(Self.request(from: client)) }
        var rest = Array(reply.bytes.utf8)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // Whoever has seen enough has left.
            guard sent > 0 else { break }
            rest = rest.dropFirst(sent)
        }
        guard !reply.closes else { return }
        var byte: UInt8 = 0
        while recv(client, &byte, 1, 0) > 0 {}
        gone.withLock { $0 += 1 }
    }

    /// A request with as many bytes of body as it promises.
    private static func request(from client: Int32) -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return text }
            text += String(decoding: buffer[..<count], as: UTF8.self)
            let parts = text.components(separatedBy: "\r\n\r\n")
            guard parts.count > 1 else { continue }
            let length = parts[0].lowercased().components(separatedBy: "content-length: ").last?
                .prefix { $0.isNumber }
            if parts[1].utf8.count >= Int(length ?? "") ?? 0 { return text }
        }
    }
}
