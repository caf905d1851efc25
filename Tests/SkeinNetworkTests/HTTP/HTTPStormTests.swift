import SkeinTestSupport
import Testing

@testable import SkeinNetwork

@Suite("anything in any order", .ownThreads)
struct HTTPStormTests {
    private struct Numbers {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    private static let texts = [
        Ask.post("/later", "x"), Ask.get("/later"), Ask.get("/now"), Ask.get("/"),
        Ask.post("/", "hello"), Ask.head("/later", "Transfer-Encoding: chunked") + "1\r\nx\r\n",
        "0\r\n\r\n", Ask.head("/", "Content-Length: 100000") + "half", Ask.get("/follow"), "GET /",
        Ask.head("/", "Expect: 100-continue\r\nContent-Length: 9"), "\r\n", "nonsense\r\n\r\n",
        Ask.head("/small", "Content-Length: 100"), Ask.get("/later", "Connection: close\r\n"),
        "HEAD /later HTTP/1.1\r\nHost: h\r\n\r\n", "GET /later HTTP/1.0\r\n\r\n",
    ]

    /// What a site may do at any time with an answer that it owes.
    ///
    /// - Returns: whether that completed it.
    private static func answer(_ reply: HTTPReply, _ site: AnsweringSite, _ choice: Int) -> Bool {
        let wasOpen = reply.isOpen
        switch choice {
        case 0: reply.respond(HTTPResponse(.ok, line: "done"))
        case 1: site.streams.append(reply.beginEvents())
        case 2: site.streams.last?.send(nil, "event")
        case 3: reply.connection?.stream?.send("name", String(repeating: "x", count: 5000))
        default: reply.connection?.stream?.end()
        }
        return wasOpen && !reply.isOpen
    }

    @Test("every answer is given or its client is gone, and nothing is left", arguments: 1...8)
    func storm(seed: Int) throws {
        var settings = HTTPServer.Settings.patient
        settings.connections = 12
        settings.streams = 4
        settings.bodyBytes = 200_000
        let server = try AnsweringServer(settings)
        var numbers = Numbers(state: UInt64(seed))
        var clients: [HTTPClient] = []
        var given = 0
        for _ in 0..<2000 {
            switch numbers.next(12) {
            case 0..<2 where clients.count < 16: clients.append(try server.client())
            case 2..<7 where !clients.isEmpty:
                let text = Self.texts[numbers.next(Self.texts.count)]
                clients[numbers.next(clients.count)].sendWhatIsTaken(text)
            case 7 where !clients.isEmpty:
                let client = clients.remove(at: numbers.next(clients.count))
                if numbers.next(2) == 0 { client.resetsWhenDropped() }
            case 8 where !clients.isEmpty: clients[numbers.next(clients.count)].endWriting()
            default:
                let (place, choice) = (numbers.next(1 << 20), numbers.next(5))
                given += try server.call { site in
                    let open = site.replies.filter(\.isOpen)
                    guard !open.isEmpty else { return 0 }
                    let gone = site.gone
                    let isGiven = Self.answer(open[place % open.count], site, choice)
                    // A client that is found to be gone while it is answered counts as gone.
                    return isGiven && site.gone == gone ? 1 : 0
                }
            }
        }
        clients = []
        try server.wait { _ in (try? server.server.connectionCount()) == 0 }
        #expect(try server.server.bodyBytes() == 0 && server.server.answerBytes() == 0)
        let (asked, gone) = try server.call { ($0.replies.count, $0.gone) }
        #expect(asked == gone + given && given > 0 && gone > 0, "seed \(seed)")
        #expect(try server.call { site in !site.replies.contains(where: \.isOpen) })
        // No place is left taken.
        let followers = try (0..<4).map { _ in try server.client() }
        for follower in followers {
            try follower.send(Ask.get("/follow"))
            #expect(try follower.event() == "event: hello\ndata: 1")
        }
        for _ in 0..<20 {
            let client = try server.client()
            try client.send(Ask.post("/", "x"))
            #expect(try client.response()?.text == "got x")
        }
    }
}
