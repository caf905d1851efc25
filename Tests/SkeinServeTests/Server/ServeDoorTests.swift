import Foundation
import SkeinBasics
import SkeinInference
import SkeinModels
import SkeinNetwork
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What a server says before its model is there.
@Suite struct ServeDoorTests {
    private func ask(
        _ client: HTTPClient, _ method: String, _ path: String, _ headers: String = ""
    ) throws -> HTTPClient.Response {
        try client.send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
        return try #require(try client.response())
    }

    @Test("until the model is there all but /health is 503 with a time, and then it is served")
    func loading() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            var options = OpenAIServer.Options(listen: "127.0.0.1:0")
            options.keys = try APIKeys(text: Array("secret".utf8), path: "k")
            options.context = 64
            options.threads = 1
            let door = try ServeDoor(options)
            let port = try NetworkAddress(parsing: door.address).port
            let key = "Authorization: Bearer secret\r\n"
            let client = try HTTPClient(port: port)
            let health = try ask(client, "GET", "/health")
            #expect(health.status == 503 && health.text == "{\"status\":\"loading\"}\n")
            for path in ["/v1/models", "/metrics", "/v1/nowhere", "/v1/completions"] {
                let answer = try ask(client, "GET", path, key)
                #expect(answer.status == 503 && answer.text.contains(#""code":"loading""#))
                #expect(Int(answer.headers["retry-after"] ?? "") != nil)
                #expect(answer.headers["x-request-id"] != nil)
            }
            #expect(try ask(client, "GET", "/v1/models").status == 401)
            // A request with a body does not wait for the model, and is not read.
            let work = try HTTPClient(port: port)
            let refused = try ask(work, "POST", "/v1/completions", key + "Content-Length: 1000\r\n")
            #expect(refused.status == 503)
            #expect(try work.isClosed())
            // The port is known to be taken before there is a model.
            var second = options
            second.listen = door.address
            #expect(throws: SocketError.self) { try ServeDoor(second) }

            let server = try OpenAIServer(
                ModelDirectory.open(path), options, door: door, log: Log(to: { _, _ in }))
            #expect(server.address == door.address)
            // The connection is the same one.
            #expect(try ask(client, "GET", "/health").text == "{\"status\":\"ok\"}\n")
            #expect(try ask(client, "GET", "/v1/models", key).status == 200)
            #expect(server.drain(grace: .seconds(600)))
        }
    }

    @Test("a server whose model cannot be served gives its port back")
    func failure() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/tiny.gguf"
            try TinyModel().writeGGUF(to: path)
            var options = OpenAIServer.Options(listen: "127.0.0.1:0")
            options.name = "a@b"
            let door = try ServeDoor(options)
            let model = try ModelDirectory.open(path)
            #expect(throws: ServeError.badName(name: "\"a@b\"", from: .base)) {
                try OpenAIServer(model, options, door: door, log: Log(to: { _, _ in }))
            }
            let port = try NetworkAddress(parsing: door.address).port
            #expect(throws: (any Error).self) { try HTTPClient(port: port) }
        }
    }
}
