import Foundation
import Routing
import Testing

/// A provider behind HTTP, with servers that behave and such that do not.
struct ServerProviderTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    private static func event(_ text: String) -> String {
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\(text)\"}}]}\n\n"
    }

    /// More than any server here takes, so that a defect is an error and not a wait.
    private static var patience: Patience {
        var patience = Patience()
        (patience.beginning, patience.silence) = (.seconds(300), .seconds(300))
        return patience
    }

    private static let done = "data: [DONE]\n\n"

    /// Asks a server that answers so.
    private func answer(
        _ bytes: String, tokens: Int = 16, key: String? = nil
    ) async throws -> (pieces: [String], error: (any Error)?, request: String) {
        let server = try FakeServer([.init(bytes: bytes)])
        defer { server.stop() }
        let provider = try ServerProvider(
            name: "server", base: url(server), model: "eel", key: key)
        var pieces: [String] = []
        do {
            for try await piece in provider.answer(
                to: [Message(.system, "Be brief."), Message(.user, "Well?")], tokens: tokens)
            {
                pieces.append(piece)
            }
            return (pieces, nil, try #require(server.received.first))
        } catch {
            return (pieces, error, try #require(server.received.first))
        }
    }

    private func url(_ server: FakeServer) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(server.port)/v1"))
    }

    @Test func piecesComeInTheirOrder() async throws {
        let (pieces, error, request) = try await answer(
            Self.head + ": hello\n\n"
                + "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\r\n\r\n"
                + Self.event("To ") + Self.event("the sea. \\u00e9")
                + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
                + "data: {\"choices\":[],\"usage\":{\"total_tokens\":9}}\n\n" + Self.done)
        #expect(error == nil)
        #expect(pieces == ["To ", "the sea. é"])
        let parts = request.components(separatedBy: "\r\n\r\n")
        #expect(parts[0].hasPrefix("POST /v1/chat/completions HTTP/1.1\r\n"))
        #expect(!parts[0].contains("Authorization"))
        let body = try #require(
            try JSONSerialization.jsonObject(with: Data(parts[1].utf8)) as? [String: Any])
        #expect(body["model"] as? String == "eel")
        #expect(body["max_tokens"] as? Int == 16)
        #expect(body["stream"] as? Bool == true)
        let messages: [[String: String]] = [
            ["role": "system", "content": "Be brief."], ["role": "user", "content": "Well?"],
        ]
        #expect(body["messages"] as? [[String: String]] == messages)
    }

    @Test func whoIsAskedIsKnownByAddressAndModel() throws {
        func identity(_ address: String, _ model: String = "eel") throws -> String {
            try ServerProvider(
                name: "server", base: try #require(URL(string: address)), model: model, key: nil
            ).identity
        }
        let known = try identity("http://127.0.0.1:8080/v1")
        for (address, model) in [
            ("https://127.0.0.1:8080/v1", "eel"), ("http://127.0.0.1:8081/v1", "eel"),
            ("http://127.0.0.2:8080/v1", "eel"), ("http://127.0.0.1:8080/v2", "eel"),
            ("http://127.0.0.1:8080/v1", "cod"),
        ] {
            #expect(try identity(address, model) != known, "\(address) \(model)")
        }
        // It is kept in a file, where a key must not be.
        #expect(try identity("http://127.0.0.1:8080/v1?key=s3cret") == known)
    }

    @Test func aKeyIsSent() async throws {
        let (_, _, request) = try await answer(Self.head + Self.done, key: "s3cret")
        #expect(request.contains("Authorization: Bearer s3cret\r\n"))
    }

    @Test func whatComesBeforeTheConnectionEndsIsPassedOn() async throws {
        let finished = try await answer(
            Self.head + Self.event("To")
                + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n")
        #expect(finished.error == nil && finished.pieces == ["To"])
        for end in [
            "", "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}]}\n\n",
            "data: {\"choices\":[{\"delta\":", "data: [DONE]",
        ] {
            let (pieces, error, _) = try await answer(Self.head + Self.event("To ") + end)
            #expect(pieces == ["To "])
            #expect(error as? ProviderFailure == .cutOff, "\(end)")
        }
    }

    @Test(arguments: [
        (
            "HTTP/1.1 503 Busy\r\nContent-Length: 46\r\n\r\n{\"error\":{\"message\":\"come back\",\"type\":\"x\"}}  ",
            ProviderFailure.rejected(status: 503, "come back")
        ),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nnope\n",
            .rejected(status: 404, "nope ")
        ),
        ("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", .rejected(status: 500, "(nothing)")),
        (
            "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            .rejected(status: 401, "(nothing)")
        ),
        // Not followed: neither the conversation nor a key is for somebody else.
        (
            "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
            .rejected(status: 307, "(nothing)")
        ),
    ])
    func aServerSaysNo(_ bytes: String, _ failure: ProviderFailure) async throws {
        let (pieces, error, _) = try await answer(bytes)
        #expect(pieces.isEmpty)
        #expect(error as? ProviderFailure == failure)
    }

    @Test(arguments: [
        "<html>Welcome</html>", "data: <html>\n\n", "data: [1]\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":7}}]}\n\n",
        "data: {\"error\":{\"message\":\"out of memory\"}}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n",
    ])
    func anAnswerThatIsNone(_ body: String) async throws {
        let (pieces, error, _) = try await answer(Self.head + body)
        #expect(pieces.isEmpty)
        switch error as? ProviderFailure {
        case .cutOff: #expect(body.hasPrefix("<"))
        case .malformed:
            #expect(body.contains("<html>\n") || body.contains("[1]") || body.contains("7"))
        case .unavailable(let words): #expect(words == "out of memory")
        case .refused: #expect(body.contains("content_filter"))
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test func anAnswerWithoutAnEndIsLeft() async throws {
        let piece = String(repeating: "x", count: 1000)
        let (pieces, error, _) = try await answer(
            Self.head + String(repeating: Self.event(piece), count: 1000), tokens: 16)
        #expect(error as? ProviderFailure == .endless(bytes: 16 * 256))
        #expect(pieces.count <= 4)
    }

    @Test func aLineWithoutAnEndIsLeft() async throws {
        let (pieces, error, _) = try await answer(
            Self.head + "data: " + String(repeating: "x", count: 3 << 20))
        #expect(pieces.isEmpty)
        #expect(error as? ProviderFailure == .malformed("a line of more than 1048576 bytes"))
    }

    @Test func anAnswerIsCompleteWhateverTheConnectionDoes() async throws {
        let server = try FakeServer([
            .init(bytes: Self.head + Self.event("To sea.") + Self.done, closes: false)
        ])
        defer { server.stop() }
        let provider = try ServerProvider(name: "server", base: url(server), model: "eel")
        var text = ""
        let answer = provider.answer(to: [Message(.user, "Well?")], tokens: 8)
        for try await piece in Self.patience.watching(answer) {
            text += piece
        }
        #expect(text == "To sea.")
        try await until { server.clientsGone == 1 }
    }

    @Test(arguments: [
        ": words\n", "\n", "data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n",
    ])
    func aFloodWithoutTextIsLeft(_ drop: String) async throws {
        let (pieces, error, _) = try await answer(
            Self.head + String(repeating: drop, count: (3 << 20) / drop.utf8.count))
        #expect(pieces.isEmpty)
        guard case .endless = error as? ProviderFailure else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func nobodyListens() async throws {
        // The port is taken, and nobody answers at it.
        let server = try FakeServer([], listens: false)
        defer { server.stop() }
        let provider = try ServerProvider(name: "server", base: url(server), model: "eel")
        var failure: (any Error)?
        do {
            for try await _ in provider.answer(to: [Message(.user, "Well?")], tokens: 8) {}
        } catch {
            failure = error
        }
        guard case .unavailable = failure as? ProviderFailure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func whoStopsReadingClosesTheConnection() async throws {
        let server = try FakeServer([
            .init(bytes: Self.head + Self.event("To "), closes: false)
        ])
        defer { server.stop() }
        let provider = try ServerProvider(name: "server", base: url(server), model: "eel")
        let answer = provider.answer(to: [Message(.user, "Well?")], tokens: 8)
        for try await piece in Self.patience.watching(answer) {
            #expect(piece == "To ")
            break
        }
        try await until { server.clientsGone == 1 }
    }

    @Test func aStalledServerGivesWayToAnotherOne() async throws {
        let server = try FakeServer([
            .init(bytes: Self.head + Self.event("To "), closes: false)
        ])
        defer { server.stop() }
        var patience = Patience()
        patience.beginning = .seconds(600)
        patience.silence = .milliseconds(100)
        let router = try ChatRouter(
            providers: [
                try ServerProvider(name: "server", base: url(server), model: "eel"),
                FakeProvider("other", [.answer(["Home."])]),
            ], patience: patience)
        // The other one may take longer than that, too, if the machine is busy: then both are asked again.
        try await until { await outcome(of: router.ask("Well?")).error == nil }
        #expect(await router.conversation.turns.map(\.answer) == ["Home."])
        #expect(
            await router.routes.first?.attempts.first?.failure == "nothing came for 100 ms")
        try await until { server.clientsGone >= 1 }
    }

    @Test func addresses() throws {
        for text in ["ftp://127.0.0.1/v1", "/v1", "localhost:8080", "http://127.0.0.1:99999/v1"] {
            let base = try #require(URL(string: text))
            #expect(throws: ServerProvider.Flaw.address(base.absoluteString)) {
                try ServerProvider(name: "x", base: base, model: "m")
            }
        }
        for text in ["http://user@127.0.0.1/v1", "http://user:pass@example.org/v1"] {
            let base = try #require(URL(string: text))
            #expect(throws: ServerProvider.Flaw.credentials(base.host ?? "")) {
                try ServerProvider(name: "x", base: base, model: "m")
            }
        }
        let open = try #require(URL(string: "http://example.org/v1"))
        #expect(throws: ServerProvider.Flaw.openKey("example.org")) {
            try ServerProvider(name: "x", base: open, model: "m", key: "s3cret")
        }
        #expect(try !ServerProvider(name: "x", base: open, model: "m").isLocal)
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            let base = try #require(URL(string: "http://\(host):8080/v1"))
            #expect(try ServerProvider(name: "x", base: base, model: "m", key: "k").isLocal)
        }
    }
}
