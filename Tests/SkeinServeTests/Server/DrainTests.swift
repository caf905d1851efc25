import SkeinBasics
import SkeinInference
import SkeinNetwork
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinServe

/// What becomes of requests when the server stops.
@Suite struct DrainTests {
    @Test("what is not answered when a drain's time is over is cut off, and hears why")
    func cutOff() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let lines = Mutex<[String]>([])
            let log = Log(to: { _, line in lines.withLock { $0.append(line) } })
            let server = try ServeCase(in: directory, log: log) {
                $0.parallel = 2
                $0.context = 100_000
                $0.logsRequests = true
            }
            let long = ServeCase.endless
            let streamed = try server.client()
            try server.send(
                "POST", "/v1/completions", "{\"stream\":true,\(long)}", to: streamed)
            _ = try streamed.event()
            let whole = try server.client()
            try server.send("POST", "/v1/completions", "{\(long)}", to: whole)
            let waiting = try server.client()
            try server.send("POST", "/v1/completions", "{\(long)}", to: waiting)
            try server.wait(for: ["answers_running": 2, "answers_waiting": 1])
            // However busy the machine is, the engine ends its step.
            #expect(!server.server.drain(grace: .zero, last: .seconds(600)))
            for client in [whole, waiting] {
                let response = try #require(try client.response())
                #expect(response.status == 503)
                #expect(response.text.contains(#""code":"shutting_down""#))
                #expect(response.text.contains(#""type":"server_error""#))
            }
            var last: [String] = []
            while let event = try streamed.event() { last = Array(last.suffix(1)) + [event] }
            #expect(last.first?.contains(#""code":"shutting_down""#) == true)
            #expect(last.last == "data: [DONE]")
            // Two were being answered, and one waited: what they had is in the log.
            let ends = lines.withLock { $0.filter { $0.contains(" 503 in ") } }
            #expect(ends.count == 3)
            #expect(ends.filter { !$0.contains(" 0 answer tokens") }.count == 2, "\(ends)")
        }
    }

    @Test("a drain lets answers end, and refuses others, also half a request")
    func drain() throws {
        try ServeCase.run {
            $0.corsOrigin = "https://chat.example"
        } with: { server in
            let half = try server.client()
            try server.send(
                "POST", "/v1/completions",
                headers: [
                    "Content-Length: 100", "Origin: https://chat.example", "X-Request-Id: half",
                ], to: half)
            try half.send("{")
            let client = try server.client()
            try server.send(
                "POST", "/v1/completions",
                #"{"stream":true,"prompt":"the","max_tokens":100,"ignore_eos":true}"#, to: client)
            _ = try client.event()
            #expect(server.server.drain(grace: .seconds(60)))
            var last = ""
            while let event = try client.event() { last = event }
            #expect(last == "data: [DONE]")
            let refused = try #require(try half.response())
            // What whole requests hear that come too late.
            let said = APIError.stopping.response
            #expect(refused.status == 503 && refused.headers["retry-after"] == "5")
            #expect(refused.body == said.body)
            // Its page can read it, too.
            #expect(
                refused.headers["access-control-allow-origin"] == "https://chat.example"
                    && refused.headers["x-request-id"] == "half")
            #expect(throws: (any Error).self) { _ = try server.client() }
        }
    }
}
