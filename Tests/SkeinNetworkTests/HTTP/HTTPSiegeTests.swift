import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

/// What clients that hold all that they can take from others.
@Suite("a server under siege", .ownThreads)
struct HTTPSiegeTests {
    /// What 70 clients do that hold places and memory, and come back when they are sent away.
    enum Siege: CaseIterable {
        case refusedBodies, strangersBodies, heads, slowReaders, knownBodies

        /// What each sends when it comes.
        var beginning: String {
            switch self {
            case .refusedBodies: Ask.head("/locked", "Content-Length: 1048576") + half
            case .strangersBodies: Ask.head("/", "Content-Length: 1048576") + half
            case .heads: "GET / HTTP/1.1\r\nHost: h\r\nX-Slow: a"
            case .slowReaders: Ask.get("/page")
            case .knownBodies: Ask.head("/", "\(HTTPSiegeTests.key)Content-Length: 1048576") + half
            }
        }
        private var half: String { String(repeating: "x", count: 100_000) }
        /// What each sends now and then.
        var more: String { self == .slowReaders ? "" : "x" }
    }

    private static let key = "Authorization: Bearer key\r\n"

    @Test("70 clients that hold what they can keep no known client out", arguments: Siege.allCases)
    func siege(_ siege: Siege) throws {
        var settings = HTTPServer.Settings.patient
        settings.connections = 50
        settings.bodyBytes = 2 << 20
        settings.answerBytes = 16 << 20
        let server = try AnsweringServer(settings)
        // One that the server knows, and that waits between its requests.
        let idle = try server.client()
        try idle.send(Ask.get("/", Self.key))
        #expect(try idle.response()?.status == 200)
        func besieger() throws -> HTTPClient {
            let client = try HTTPClient(port: server.port, receiveBytes: 4096)
            client.sendWhatIsTaken(siege.beginning)
            return client
        }
        var besiegers = try (0..<70).map { _ in try besieger() }
        for round in 0..<20 {
            for place in besiegers.indices where !besiegers[place].sendWhatIsTaken(siege.more) {
                besiegers[place] = try besieger()
            }
            let client = try server.client()
            let body = String(repeating: "k", count: 1000 + round)
            try client.send(Ask.head("/locked", "\(Self.key)Content-Length: \(body.count)"))
            try client.send(String(body.prefix(500)))
            try client.send(String(body.dropFirst(500)))
            #expect(try client.response()?.text == "got " + body)
        }
        let most = settings.connections + Limits.refusedConnections
        #expect(try server.server.connectionCount() <= most)
        #expect(try server.server.bodyBytes() <= settings.bodyBytes)
        if siege == .refusedBodies { #expect(try server.server.bodyBytes() == 0) }
        // A known one that waits leaves for strangers no more than they leave for it.
        if siege != .knownBodies {
            try idle.send(Ask.get("/", Self.key))
            #expect(try idle.response()?.status == 200)
        }
        withExtendedLifetime(besiegers) {}
    }

    @Test(
        "what the head shows to be wrong is answered before its body, also in place of a 100",
        arguments: ["Content-Length: 1000000", "Transfer-Encoding: chunked"], [true, false])
    func fromTheHead(length: String, expects: Bool) throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(Ask.head("/locked", (expects ? "Expect: 100-continue\r\n" : "") + length))
        let answer = try #require(try client.response())
        #expect(answer.status == 401 && answer.headers["connection"] == "close")
        #expect(try client.isClosed())
        #expect(try server.server.bodyBytes() == 0)
        #expect(try server.call { $0.asked }.isEmpty)
        let head = try server.client()
        try head.send("HEAD /locked HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n")
        let bodiless = try #require(try head.response(isHead: true))
        #expect(bodiless.status == 401 && bodiless.headers["content-length"] == "7")
        #expect(try head.isClosed())
    }

    @Test("what still comes of a refused request is thrown away, but not without end")
    func lingering() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(Ask.head("/locked", "Content-Length: 1000000000"))
        #expect(try client.response()?.status == 401)
        let piece = String(repeating: "x", count: 1 << 20)
        for _ in 0..<16 { try client.send(piece) }
        #expect(try server.server.connectionCount() == 1)
        #expect(try server.server.bodyBytes() == 0)
        try client.send(piece, until: false)
        try server.wait { _ in (try? server.server.connectionCount()) == 0 }
    }

    @Test("of bodies that hold more than a little, the slowest makes room for one that comes later")
    func slowestBody() throws {
        var settings = HTTPServer.Settings.patient
        settings.bodyBytes = 100_000
        let server = try AnsweringServer(settings)
        func begin(_ size: Int, _ more: String = "") throws -> HTTPClient {
            let before = try server.server.bodyBytes()
            let client = try server.client()
            try client.send(
                Ask.head("/length", "\(more)Content-Length: 90000")
                    + String(repeating: "x", count: size))
            try server.wait { _ in (try? server.server.bodyBytes()) == before + size }
            return client
        }
        let known = try begin(40_000, Self.key)
        let large = try begin(40_000)
        let small = try begin(5000)
        // The one that comes is not refused, nor is one that holds little, nor one that is known.
        let next = try server.client()
        try next.send(Ask.head("/length", "Content-Length: 30000"))
        for _ in 0..<3 { try next.send(String(repeating: "x", count: 10_000)) }
        #expect(try next.response()?.text == "30000\n")
        let refused = try #require(try large.response())
        #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
        for (client, rest) in [(known, 50_000), (small, 85_000)] {
            try client.send(String(repeating: "x", count: rest))
            #expect(try client.response()?.text == "90000\n")
        }
        #expect(try server.server.bodyBytes() == 0)
    }
}

@Suite struct PlacesTests {
    private let now = ContinuousClock.now

    private func client(
        _ slot: Int, known: Set<Int> = [], pace: [Int: Double] = [:]
    ) -> Places.Client {
        Places.Client(
            network: [1], isKnown: known.contains(slot), pace: pace[slot] ?? 0, bodyBytes: 100,
            waitingBytes: 100)
    }

    @Test("who was answered leaves first, then strangers, then the slow, then those that are known")
    func order() {
        let known: Set<Int> = [5, 6, 7, 8]
        let pace = [3: 10.0, 4: 5, 6: 1, 7: 1]
        var places = Places()
        for (slot, occupation) in [
            (7, .body), (6, .body), (5, .waiting), (3, .body), (2, .waiting), (1, .waiting),
            (0, .lingering), (4, .busy), (8, .busy), (9, .busy),
        ] as [(Int, Places.Occupation)] {
            places.place(slot, occupation, isKnown: known.contains(slot))
        }
        for slot in [4, 8] { places.waits(slot, true, hasTaken: false) }
        var left: [Int] = []
        while let slot = places.dispensable({ client($0, known: known, pace: pace) }) {
            left.append(slot)
            places.leave(slot)
        }
        #expect(left == [0, 2, 1, 4, 3, 5, 7, 6])
    }

    @Test("half of a pace is forgotten each second, and a newcomer has some")
    func pace() {
        var pace = Pace(at: now)
        #expect(pace.bytes(at: now) == Double(Limits.paceCredit))
        #expect(pace.bytes(at: now + .seconds(2)) == Double(Limits.paceCredit) / 4)
        pace.add(1000, at: now + .seconds(20))
        #expect(pace.bytes(at: now + .seconds(20)) == 1001)
        #expect(pace.bytes(at: now) == 1001)
    }
}
