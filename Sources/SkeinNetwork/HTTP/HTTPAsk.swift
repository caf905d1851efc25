import Foundation
import SkeinBasics

/// One GET over plain HTTP: a connection that ends with its whole answer.
package enum HTTPAsk {
    /// An answer that ended.
    package struct Answer: Sendable, Equatable {
        /// The second word of its first line, as it stands there; nil without one.
        package let status: String?
        /// nil: it was cut off, or does not say how long it is.
        package let body: [UInt8]?

        /// nil for what is not HTTP.
        package init?(_ bytes: [UInt8]) {
            let border = Array("\r\n\r\n".utf8)
            guard bytes.starts(with: "HTTP/1.".utf8),
                let end = bytes.indices.first(where: { bytes[$0...].starts(with: border) })
            else { return nil }
            let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
            status = lines.first?.split(separator: " ").dropFirst().first.map(String.init)
            let header = "content-length:"
            let length = lines.first { $0.lowercased().hasPrefix(header) }.flatMap {
                Int($0.dropFirst(header.count).trimmingCharacters(in: .whitespaces))
            }
            let rest = bytes[(end + border.count)...]
            body = length == rest.count ? Array(rest) : nil
        }
    }

    /// Why there is no answer.
    package enum Problem: Error, Equatable {
        case late
        case notTaken
        case tooLong(limit: Int)
        case broken(code: Int32)
        case foreign
    }

    /// Dials, asks and hangs up; blocks.
    ///
    /// - Parameters:
    ///   - path: what is asked for.
    ///   - endpoint: whom to ask.
    ///   - headers: besides those that every request has.
    ///   - limit: bytes of the answer.
    ///   - timeout: from dialling to the answer's end.
    /// - Returns: the answer, of any status.
    /// - Throws: `Problem`, `SocketError`.
    package static func get(
        _ path: String, of endpoint: Endpoint, headers: [(name: String, value: String)] = [],
        limit: Int, timeout: Duration
    ) throws -> Answer {
        var head = "GET \(path) HTTP/1.1\r\nHost: \(endpoint.text)\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        let request = Array((head + "Connection: close\r\n\r\n").utf8)
        let bytes: [UInt8]? = try Question.ask(
            NetworkAddress(parsing: endpoint.text), patience: timeout, timeout: timeout
        ) { socket, loop, keep in
            // A few hundred bytes, which a new connection takes at once.
            let sent = request.withUnsafeBytes { socket.write($0) }
            guard sent == .bytes(request.count) else {
                keep(.failure(Problem.notTaken))
                return { socket.close() }
            }
            var received: [UInt8] = []
            var watch: Watch?
            func hangUp() {
                if let watch { loop.end(watch) }
                watch = nil
                socket.close()
            }
            func finish(_ result: Result<[UInt8], any Error>) {
                hangUp()
                keep(result)
            }
            watch = loop.watch(socket.descriptor, for: .read) { _ in
                while watch != nil {
                    switch socket.read(into: loop.scratch) {
                    case .bytes(let count):
                        received += loop.scratch.prefix(count)
                        if received.count > limit {
                            finish(.failure(Problem.tooLong(limit: limit)))
                        }
                    case .wouldBlock: return
                    case .ended: finish(.success(received))
                    case .failed(let code): finish(.failure(Problem.broken(code: code)))
                    }
                }
            }
            return hangUp
        }
        guard let bytes else { throw Problem.late }
        guard let answer = Answer(bytes) else { throw Problem.foreign }
        return answer
    }
}
