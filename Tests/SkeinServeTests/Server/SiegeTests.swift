import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// Clients without a key, and those who have one.
@Suite struct SiegeTests {
    @Test("70 clients without a key and with a MiB to send keep no client with a key out")
    func keyless() throws {
        try ServeCase.run {
            $0.keys = try APIKeys(text: Array("secret".utf8), path: "k")
            $0.connections = 32
        } with: { server in
            func besieger() throws -> HTTPClient {
                let client = try server.client()
                client.sendWhatIsTaken(
                    "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Length: 1048576\r\n\r\n"
                        + String(repeating: " ", count: 1_000_000))
                return client
            }
            var besiegers = try (0..<70).map { _ in try besieger() }
            let body = #"{"prompt":"a","max_tokens":1}"#
            for _ in 0..<20 {
                for place in besiegers.indices where !besiegers[place].sendWhatIsTaken(" ") {
                    besiegers[place] = try besieger()
                }
                let client = try server.client()
                try server.send(
                    "POST", "/v1/completions",
                    headers: ["Authorization: Bearer secret", "Content-Length: \(body.count)"],
                    to: client)
                try client.send(String(body.prefix(10)))
                try client.send(String(body.dropFirst(10)))
                #expect(try client.response()?.status == 200)
            }
            // Each hears why at once, whatever it still has to send.
            let last = try server.client()
            try server.send(
                "POST", "/v1/completions", headers: ["Content-Length: 1048576"], to: last)
            #expect(try last.response()?.status == 401)
            #expect(try last.isClosed())
        }
    }

    @Test("what a head shows to be wrong is answered before the body, also in place of a 100")
    func fromTheHead() throws {
        try ServeCase.run { server in
            for (method, path, headers, status) in [
                ("POST", "/v1/completions", ["Host: evil.example"], 421),
                ("POST", "/v1/completions", ["Origin: https://evil.example"], 403),
                ("POST", "/v1/nowhere", [], 404), ("PUT", "/v1/completions", [], 405),
                ("POST", "/v1/models", [], 405), ("GET", "/v1/models", [], 200),
                ("POST", "/v1/completions", ["Content-Encoding: gzip"], 415),
                ("POST", "/v1/completions", ["Content-Length: 1000000000"], 413),
            ] as [(String, String, [String], Int)] {
                var lines = ["\(method) \(path) HTTP/1.1", "Expect: 100-continue"] + headers
                for usual in ["Host: localhost", "Content-Length: 100"] {
                    let name = usual.prefix { $0 != ":" }
                    if !headers.contains(where: { $0.hasPrefix(name) }) { lines.append(usual) }
                }
                let client = try server.client()
                try client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
                #expect(try client.response()?.status == status, "\(lines)")
                #expect(try client.isClosed())
            }
        }
    }
}
