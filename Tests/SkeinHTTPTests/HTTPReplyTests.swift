import SkeinTestSupport
import Testing

@testable import SkeinHTTP

@Suite("answers that come later", .timeLimit(.minutes(10)))
struct HTTPReplyTests {
    static func post(_ path: String, _ body: String, _ more: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: h\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func get(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: h\r\n\(more)\r\n"
    }

    @Test("a body is given to the site whole, by its length and in chunks")
    func bodies() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        try client.send(Self.post("/", "hello"))
        #expect(try client.response()?.text == "got hello")
        try client.send(
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n"
                + "6;a=b\r\n world\r\n0\r\nX: y\r\n\r\n" + Self.get("/next"))
        #expect(try client.response()?.text == "got hello world")
        #expect(try client.response()?.text == "got ")
    }

    @Test("an answer comes when the site gives it, and the connection can be used again")
    func later() throws {
        let server = try AnsweringServer()
        let client = try server.client()
        for number in 1...3 {
            try client.send(Self.post("/later", "x"))
            try server.wait { $0.replies.count == number }
            try server.call { $0.replies[number - 1].respond(HTTPResponse(.ok, line: "\(number)")) }
            #expect(try client.response()?.text == "\(number)\n")
        }
        try client.send(Self.post("/now", "x"))
        #expect(try client.response()?.text == "at once\n")
        #expect(try server.call { $0.gone } == 0)
    }
}
