import Foundation

/// A blocking HTTP client for tests, down to the bytes; waits at most a minute for any of them.
package final class HTTPClient {
    package struct Response {
        package var status: Int
        /// By lower-case name; values of one that came twice are joined by commas.
        package var headers: [String: String]
        package var body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    package struct Failure: Error {
        let what: String
    }

    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var hasEnded = false
    private var isStream = false
    private var isChunked = false

    /// Connects to a port of this machine; `source` is the last byte of the address 127.0.0.x that it
    /// comes from.
    package init(port: UInt16, receiveBytes: Int32? = nil, from source: UInt8? = nil) throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw Failure(what: "socket: \(errno)") }
        if var size = receiveBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
        }
        var time = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        if let source {
            address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(source)).bigEndian
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard bound == 0 else { throw Failure(what: "bind: \(errno)") }
        }
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // `deinit` closes the descriptor also then. Who closes it twice may close another's.
        guard status == 0 else { throw Failure(what: "connect: \(errno)") }
    }

    deinit { close(descriptor) }

    /// Sends all of it.
    package func send(_ text: String) throws {
        guard sendWhatIsTaken(text) else { throw Failure(what: "send: \(errno)") }
    }

    /// Sends until the server takes no more.
    ///
    /// - Returns: whether it took all.
    @discardableResult
    package func sendWhatIsTaken(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Whether the server has sent something that was not read, or has ended the connection.
    package var isSpokenTo: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !bytes.isEmpty || poll(&entry, 1, 0) > 0
    }

    /// Sends a piece every few milliseconds until `isDone` or the server has hung up.
    ///
    /// - Throws: a `Deadline` after a minute.
    package func send(_ piece: String, until isDone: @autoclosure () -> Bool) throws {
        try Deadline.wait(seconds: 60) { isDone() || !sendWhatIsTaken(piece) }
    }

    /// Ends this side: nothing more is sent.
    package func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends the connection with a reset when this is dropped, as a process that was killed with
    /// unread bytes does.
    package func resetsWhenDropped() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger,
            socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// The next whole answer; nil: the connection has ended before it.
    package func response(isHead: Bool = false) throws -> Response? {
        guard let (status, headers) = try head() else { return nil }
        let length = isHead ? 0 : Int(headers["content-length"] ?? "") ?? 0
        while bytes.count < length {
            guard try more() else { return nil }
        }
        defer { bytes.removeFirst(length) }
        return Response(status: status, headers: headers, body: Array(bytes[..<length]))
    }

    private func head() throws -> (status: Int, headers: [String: String])? {
        guard let text = try part() else { return nil }
        let lines = text.components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let words = line.split(separator: ":", maxSplits: 1)
            if words.count == 2 {
                let name = words[0].lowercased()
                let before = headers[name].map { $0 + ", " } ?? ""
                headers[name] = before + words[1].trimmingCharacters(in: .whitespaces)
            }
        }
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (status ?? 0, headers)
    }

    /// The next server-sent event, without its empty line; nil: the stream has ended, and after one
    /// in chunks another answer may follow.
    package func event() throws -> String? {
        while let text = try eventOrComment() {
            if !text.hasPrefix(":") { return text }
        }
        return nil
    }

    /// The same, but also a comment, with its colon: a server sends them to keep a connection.
    package func eventOrComment() throws -> String? {
        if !isStream {
            guard let (status, headers) = try head(), status == 200 else {
                throw Failure(what: "no stream")
            }
            isStream = true
            isChunked = headers["transfer-encoding"] == "chunked"
        }
        let text = isChunked ? try chunk() : try part()
        if text == nil, isChunked { isStream = false }
        return text
    }

    /// The event in the next chunk, for servers that send each in one; nil: the last chunk has
    /// come.
    private func chunk() throws -> String? {
        guard let line = try part("\r\n") else { throw Failure(what: "no last chunk") }
        guard let size = Int(line, radix: 16) else { throw Failure(what: "no size: \(line)") }
        while bytes.count < size + 2 {
            guard try more() else { throw Failure(what: "half a chunk") }
        }
        defer { bytes.removeFirst(size + 2) }
        guard bytes[size] == 0x0D, bytes[size + 1] == 0x0A else {
            throw Failure(what: "a chunk of another size")
        }
        return size == 0 ? nil : String(decoding: bytes[..<max(0, size - 2)], as: UTF8.self)
    }

    /// The bytes before the next empty line.
    private func part() throws -> String? { try part(isStream ? "\n\n" : "\r\n\r\n") }

    private func part(_ mark: String) throws -> String? {
        let end = Array(mark.utf8)
        // Bytes in which no part ends.
        var searched = 0
        while true {
            if let found = bytes[searched...].firstRange(of: end) {
                defer { bytes.removeSubrange(..<found.upperBound) }
                return String(decoding: bytes[..<found.lowerBound], as: UTF8.self)
            }
            searched = max(0, bytes.count - end.count)
            guard try more() else { return nil }
        }
    }

    /// Reads until `count` bytes are here that `response` and `event` have not taken yet.
    package func receive(_ count: Int) throws {
        while bytes.count < count {
            guard try more() else { throw Failure(what: "the end after \(bytes.count) bytes") }
        }
    }

    /// Whether the server has ended the connection; waits until it has.
    package func isClosed() throws -> Bool {
        while try more() {}
        return hasEnded
    }

    /// Reads some bytes; false at the end or after a reset.
    private func more() throws -> Bool {
        var room = [UInt8](repeating: 0, count: 64 << 10)
        let count = room.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count < 0, errno != ECONNRESET { throw Failure(what: "recv: \(errno)") }
        guard count > 0 else {
            hasEnded = true
            return false
        }
        bytes += room[..<count]
        return true
    }
}
