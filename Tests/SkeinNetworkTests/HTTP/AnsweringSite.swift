import Foundation
import SkeinBasics
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinNetwork

/// A site for tests, driven from them by `HTTPServer.call`: what waits for an answer is in
/// `replies`.
final class AnsweringSite: HTTPSite {
    var replies: [HTTPReply] = []
    var streams: [EventStream] = []
    /// Paths of the requests that came to `answer`.
    var asked: [String] = []
    /// How many replies and streams told that their client is gone.
    var gone = 0
    var goneStreams = 0
    var hasFinished = false

    func admit(_ head: HTTPRequest) -> HTTPAdmission {
        switch head.path {
        case "/small": .body(limit: 10)
        case "/large": .body(limit: 64 << 20)
        case "/none": .body(limit: 0)
        case "/locked" where !knows(head): .answered(HTTPResponse(.unauthorized, line: "locked"))
        default: .body(limit: 1 << 20)
        }
    }

    func knows(_ head: HTTPRequest) -> Bool { head.bearer == "key" }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        asked.append(request.path)
        switch request.path {
        case "/later":
            return .later { reply in
                reply.onEnd = { self.gone += 1 }
                self.replies.append(reply)
            }
        case "/now":
            return .later { $0.respond(HTTPResponse(.ok, line: "at once")) }
        case "/follow":
            return .events { stream in
                stream.onEnd = { self.goneStreams += 1 }
                self.streams.append(stream)
                stream.send("hello", "1")
            }
        case "/length": return .response(HTTPResponse(.ok, line: "\(request.body.count)"))
        case "/page":
            return .response(HTTPResponse(body: [UInt8](repeating: 1, count: 4 << 20)))
        case "/nothing": return .response(HTTPResponse(.noContent, body: [1, 2]))
        default: return .response(HTTPResponse(.ok, body: Array("got ".utf8) + request.body))
        }
    }

    func finish() { hasFinished = true }

    func refusal(
        _ status: HTTPStatus, _ words: String, to head: HTTPRequest?
    ) -> HTTPResponse {
        HTTPResponse(
            status, contentType: "application/json", body: Array("{\"error\":\"\(words)\"}".utf8))
    }
}

extension HTTPServer.Settings {
    /// Gives up no client: a test that waits for a machine under load is not hung up on. Nor does
    /// it let the machine's other work go first.
    static var patient: Self {
        var settings = Self()
        settings.yieldsToOthers = false
        settings.times.request = .seconds(600)
        settings.times.idle = .seconds(600)
        settings.times.write = .seconds(600)
        settings.times.linger = .seconds(600)
        settings.times.lingerTotal = .seconds(600)
        return settings
    }
}

/// A server with such a site, for one test.
final class AnsweringServer: Sendable {
    let server: HTTPServer
    let port: UInt16
    private let site: Confined<AnsweringSite>

    init(_ settings: HTTPServer.Settings = .patient) throws {
        let name = try NetworkAddress(parsing: "127.0.0.1:0")
        nonisolated(unsafe) var made: Confined<AnsweringSite>?
        server = try HTTPServer(
            on: name.resolved(for: .listening), name: name, settings: settings
        ) { clock in
            let site = AnsweringSite()
            nonisolated(unsafe) let kept = site
            made = try Confined(to: clock) { kept }
            return site
        }
        site = try #require(made)
        port = try NetworkAddress(parsing: server.address).port
    }

    deinit { server.stop() }

    /// Runs `body` on the server's thread.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (AnsweringSite) throws -> Value
    ) throws -> Value {
        try site.call(body)
    }

    /// Waits until something is true of the site; at most two minutes.
    func wait(
        until condition: @escaping @Sendable (AnsweringSite) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try !call(condition) {
            try #require(ContinuousClock.now < deadline, sourceLocation: location)
            Pause.short()
        }
    }

    func client(from source: UInt8? = nil) throws -> HTTPClient {
        try HTTPClient(port: port, from: source)
    }

    /// A client whose first bytes are there when the server finds it: however short the time for
    /// them is, it is not over before.
    func client(sending text: String, receiveBytes: Int32? = nil) throws -> HTTPClient {
        nonisolated(unsafe) var client: HTTPClient?
        try call { [port] _ in
            let made = try HTTPClient(port: port, receiveBytes: receiveBytes)
            try made.send(text)
            client = made
        }
        return try #require(client)
    }

    /// Clients that wait for what the site answers to `/later`, in the order of its replies.
    func waitingClients(_ count: Int) throws -> [HTTPClient] {
        try (0..<count).map { _ in
            let client = try client()
            try askLater(client)
            return client
        }
    }

    /// Has a client ask for `/later`, and waits until the site has its reply.
    func askLater(_ client: HTTPClient) throws {
        let before = try call { $0.replies.count }
        try client.send(Ask.post("/later", "x"))
        try wait { $0.replies.count == before + 1 }
    }

    /// Waits until as much as may be is held of requests behind the first one that waits.
    func waitForFullPipeline() throws {
        try wait { site in
            guard let connection = site.replies.first?.connection else { return false }
            return connection.parser.heldBytes >= Limits.pipelineBytes
        }
    }

    /// How often the server's thread has woken up.
    func turns() throws -> Int {
        try (site.loop as? EventLoop).map { loop in try loop.call { loop.turns } } ?? 0
    }
}

enum Pause {
    static func short() { usleep(2000) }
}

/// A number that several threads may change.
final class Counter: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }

    func add() { number.withLock { $0 += 1 } }
}
