import Foundation
import SkeinBasics
import SkeinCluster
import SkeinNetwork

/// A run's page (`--status`), as its URL is printed: `http://HOST:PORT/#token=SECRET`.
struct StatusPageAddress: Sendable, Equatable {
    var endpoint: Endpoint
    var token: String?

    /// Whether a text is meant as a page's address.
    static func isMeant(by text: String) -> Bool {
        text.hasPrefix("http://") || text.hasPrefix("https://")
    }

    /// nil for what is none, such as an address with https, which a run does not speak.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme == "http", parts.user == nil,
            let host = parts.host?.trimmingCharacters(in: CharacterSet(charactersIn: "[]")),
            !host.isEmpty,
            let endpoint = Endpoint(
                Endpoint(host: host, port: parts.port ?? 80).text), endpoint.port > 0
        else { return nil }
        self.endpoint = endpoint
        let mark = "token="
        token = parts.fragment.flatMap {
            $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : nil
        }
    }
}

/// Asks a run's page for what it shows.
enum StatusPageQuery {
    /// Dials, asks for /status.json and hangs up; blocks.
    ///
    /// - Parameters:
    ///   - page: its address.
    ///   - token: of the page; nil when there is none.
    ///   - timeout: from dialling to the answer.
    /// - Returns: the JSON object.
    /// - Throws: `NodeError.noStatus`, `SocketError`.
    static func ask(
        _ page: StatusPageAddress, token: String?, timeout: Duration
    ) throws -> [UInt8] {
        let name = try NetworkAddress(parsing: page.endpoint.text)
        let addresses = try name.resolved(for: .dialling)
        var head = "GET /status.json HTTP/1.1\r\nHost: \(page.endpoint.text)\r\n"
        if let token {
            guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw NodeError.noStatus(
                    address: page.endpoint.text, detail: "its token has characters that none has")
            }
            head += "Authorization: Bearer \(token)\r\n"
        }
        let request = Array((head + "Connection: close\r\n\r\n").utf8)
        let loop = try EventLoop(name: "skein-network")
        defer { loop.stop() }
        let answer = Promise<Result<[UInt8], any Error>>()
        let asked = try Confined(to: loop) {
            PageRequest(request, name: name, patience: timeout, loop: loop, answer: answer)
        }
        asked.post { $0.begin(addresses) }
        guard let result = answer.value(within: timeout / .seconds(1)) else {
            throw NodeError.noStatus(address: page.endpoint.text, detail: "no answer in time")
        }
        try asked.call { $0.end() }
        return try body(of: result.get(), from: page)
    }

    /// The object in a whole answer.
    static func body(of answer: [UInt8], from page: StatusPageAddress) throws -> [UInt8] {
        func failure(_ detail: String) -> NodeError {
            .noStatus(address: page.endpoint.text, detail: detail)
        }
        let border = Array("\r\n\r\n".utf8)
        guard answer.starts(with: "HTTP/1.".utf8),
            let end = answer.indices.first(where: { answer[$0...].starts(with: border) })
        else { throw failure("this is no page of a run") }
        let lines = String(decoding: answer[..<end], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.map(String.init)
        let body = Array(answer[(end + border.count)...])
        switch status {
        case "200": break
        case "401":
            throw failure(
                "the page wants its token: give --token-file with the one of --status-token-file, or "
                    + "the whole URL with #token=...")
        case "404": throw failure("this is no page of a run")
        default: throw failure("it answers with status \(status ?? "none")")
        }
        let header = "content-length:"
        let length = lines.first { $0.lowercased().hasPrefix(header) }.flatMap {
            Int($0.dropFirst(header.count).trimmingCharacters(in: .whitespaces))
        }
        guard let length, length == body.count else { throw failure("the answer was cut off") }
        return body.last == UInt8(ascii: "\n") ? body.dropLast() : body
    }

    /// One connection; lives on the loop's thread.
    private final class PageRequest {
        private let request: [UInt8]
        private let name: NetworkAddress
        private let patience: Duration
        private let loop: EventLoop
        private let answer: Promise<Result<[UInt8], any Error>>
        private var dial: Dial?
        private var socket: Socket?
        private var watch: Watch?
        private var received: [UInt8] = []

        init(
            _ request: [UInt8], name: NetworkAddress, patience: Duration, loop: EventLoop,
            answer: Promise<Result<[UInt8], any Error>>
        ) {
            self.request = request
            self.name = name
            self.patience = patience
            self.loop = loop
            self.answer = answer
        }

        func begin(_ addresses: [SocketAddress]) {
            dial = Dial(addresses, name: name, patience: patience, loop: loop) { [weak self] in
                guard let self else { return }
                switch $0 {
                case .success(let socket): speak(on: socket)
                case .failure(let error): answer.keep(.failure(error))
                }
            }
        }

        func end() {
            dial?.cancel()
            if let watch { loop.end(watch) }
            watch = nil
            socket?.close()
        }

        private func speak(on socket: Socket) {
            self.socket = socket
            // A few hundred bytes, which a new connection takes at once.
            let sent = request.withUnsafeBytes { socket.write($0) }
            guard sent == .bytes(request.count) else { return fail("it takes no request") }
            watch = loop.watch(socket.descriptor, for: .read) { [weak self] _ in self?.read() }
        }

        private func read() {
            guard let socket, watch != nil else { return }
            while true {
                switch socket.read(into: loop.scratch) {
                case .bytes(let count):
                    received += loop.scratch.prefix(count)
                    guard received.count <= Limits.pageAnswerBytes else {
                        return fail("its answer is longer than \(Limits.pageAnswerBytes) bytes")
                    }
                case .wouldBlock: return
                case .ended: return finish(.success(received))
                case .failed(let code): return fail(String(cString: strerror(code)))
                }
            }
        }

        private func fail(_ detail: String) {
            finish(.failure(NodeError.noStatus(address: name.description, detail: detail)))
        }

        private func finish(_ result: Result<[UInt8], any Error>) {
            end()
            answer.keep(result)
        }
    }
}
