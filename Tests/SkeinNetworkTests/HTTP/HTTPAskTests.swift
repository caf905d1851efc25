import SkeinBasics
import SkeinTestSupport
import Testing

@testable import SkeinNetwork

@Suite("one question over HTTP", .ownThreads)
struct HTTPAskTests {
    @Test("an answer has a status, and a body if it is whole")
    func answers() throws {
        for (text, status, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}\n", "200", "{}\n"),
            ("HTTP/1.0 401 No\r\ncontent-length:0\r\n\r\n", "401", ""),
            ("HTTP/1.1 200 OK\r\n\r\n{}", "200", nil),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "200", nil),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}", "200", nil),
            ("HTTP/1.1\r\n\r\n", nil, nil),
        ] as [(String, String?, String?)] {
            let answer = try #require(HTTPAsk.Answer(Array(text.utf8)), "\(text)")
            #expect(
                answer.status == status && answer.body == body.map { Array($0.utf8) }, "\(text)")
        }
        for text in ["", "SSH-2.0\r\n\r\n", "HTTP/1.1 200 OK\r\n"] {
            #expect(HTTPAsk.Answer(Array(text.utf8)) == nil, "\(text)")
        }
    }

    private func ask(
        _ path: String, _ port: UInt16, limit: Int = 1 << 20, timeout: Duration = .seconds(600)
    ) throws -> HTTPAsk.Answer {
        try HTTPAsk.get(
            path, of: Endpoint(host: "127.0.0.1", port: Int(port)), headers: [("X-Y", "z")],
            limit: limit, timeout: timeout)
    }

    @Test("a server is asked, within a time and up to a number of bytes")
    func server() throws {
        let server = try AnsweringServer()
        #expect(try ask("/x", server.port).body == Array("got ".utf8))
        let whole = try ask("/page", server.port, limit: 5 << 20)
        #expect(whole.status == "200" && whole.body?.count == 4 << 20)
        #expect(throws: HTTPAsk.Problem.tooLong(limit: 1000)) {
            try ask("/page", server.port, limit: 1000)
        }
        #expect(throws: HTTPAsk.Problem.late) {
            try ask("/later", server.port, timeout: .milliseconds(50))
        }
        #expect(throws: SocketError.self) { try ask("/x", 1) }
    }
}
