import Foundation
import SkeinInference
import SkeinTestSupport
import Testing

@testable import SkeinNetwork
@testable import SkeinServe

/// What browsers, proxies and clients' libraries expect beside the answers.
@Suite struct WebClientsTests {
    private func request(_ method: String, _ headers: [(String, String)]) -> HTTPRequest {
        HTTPRequest(
            method: method, path: "/v1/chat/completions", query: nil,
            headers: headers.map { (name: $0.0, value: $0.1) }, keepsAlive: true)
    }

    private func value(_ name: String, in response: HTTPResponse) -> String? {
        response.headers.first { $0.name == name }?.value
    }

    @Test("a preflight from an allowed origin gets the header names that it asks for")
    func preflight() {
        let access = ServeAccess(keys: .none, host: nil, origin: "https://chat.example")
        let usual = "Authorization, Content-Type, X-Api-Key, X-Request-Id"
        for (asked, allowed) in [
            (
                "authorization,content-type,x-stainless-arch, x-stainless-retry-count",
                "authorization, content-type, x-stainless-arch, x-stainless-retry-count"
            ),
            ("x-ok, b\u{e4}d, x:y, ,", "x-ok"), ("", usual),
            (String(repeating: "x", count: 5000), usual),
        ] {
            let answer = access.preflight(
                request(
                    "OPTIONS",
                    [
                        ("origin", "https://chat.example"),
                        ("access-control-request-headers", asked),
                    ]))
            #expect(answer.status == .noContent)
            #expect(value("Access-Control-Allow-Headers", in: answer) == allowed)
        }
        let without = access.preflight(request("OPTIONS", [("origin", "https://chat.example")]))
        #expect(value("Access-Control-Allow-Headers", in: without) == usual)
        let headers = access.headers(for: request("POST", [("origin", "https://chat.example")]))
        let exposed = headers.first { $0.name == "Access-Control-Expose-Headers" }
        #expect(exposed?.value == "Retry-After, X-Request-Id, X-Skein-Dropped")
    }

    @Test("a host that was named is answered, and one that an absolute target names is checked")
    func hosts() throws {
        try ServeCase.run {
            $0.allowedHosts = ["models.example.org"]
        } with: { server in
            for (target, host, status) in [
                ("/v1/models", "models.example.org", 200),
                ("/v1/models", "Models.Example.org:443", 200), ("/v1/models", "evil.example", 421),
                ("http://evil.example/v1/models", "localhost", 421),
                ("HTTP://localhost:8080/v1/models", "evil.example", 200),
                ("http://127.0.0.1/v1/models", "127.0.0.1", 200),
                ("https://models.example.org", "evil.example", 200),
                ("https://evil.example?x=/", "localhost", 421),
                ("http://me@localhost/v1/models", "localhost", 421),
                ("http:///v1/models", "localhost", 400),
            ] {
                let client = try server.client()
                try client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect(try client.response()?.status == status, "\(target) \(host)")
            }
        }
    }

    @Test("answers have a date and a name, their client's own if it can be written")
    func names() throws {
        try ServeCase.run { server in
            let body = #"{"prompt":"a","max_tokens":1}"#
            var made: Set<String> = []
            for (method, path, body) in [
                ("GET", "/v1/models", ""), ("GET", "/v1/nowhere", ""),
                ("POST", "/v1/completions", body), ("POST", "/v1/completions", "{"),
            ] {
                for (given, isTaken) in [
                    ("my-request.1", true), (String(repeating: "x", count: 129), false),
                    ("two words", false), ("\u{e4}", false),
                ] {
                    let answer = try server.ask(
                        method, path, body, headers: ["X-Request-ID: \(given)"])
                    let name = answer.headers["x-request-id"] ?? ""
                    #expect((name == given) == isTaken)
                    if !isTaken { #expect(name.hasPrefix("req-") && made.insert(name).inserted) }
                    #expect(answer.headers["date"]?.hasSuffix(" GMT") == true)
                }
            }
            let refused = try server.client()
            try refused.send("GET /\r\n\r\n")
            #expect(try refused.response()?.headers["x-request-id"]?.hasPrefix("req-") == true)
        }
    }

    @Test("a page of an allowed site can read also what is refused before it is answered")
    func refused() throws {
        try ServeCase.run {
            $0.corsOrigin = "https://chat.example"
        } with: { server in
            for (lines, status) in [
                (["POST /v1/completions HTTP/1.1", "Content-Length: 1073741824"], 413),
                (
                    [
                        "POST /v1/completions HTTP/1.1", "Content-Length: 1",
                        "Content-Encoding: gzip",
                    ],
                    415
                ),
                (["POST /v1/completions HTTP/1.1", "Content-Length: 1", "Expect: more"], 417),
            ] {
                let more = [
                    "Host: localhost", "Origin: https://chat.example", "X-Request-Id: mine",
                ]
                let client = try server.client()
                try client.send((lines + more).joined(separator: "\r\n") + "\r\n\r\n")
                let answer = try #require(try client.response())
                #expect(answer.status == status)
                #expect(
                    answer.headers["access-control-allow-origin"] == "https://chat.example",
                    "\(status)")
                #expect(answer.headers["x-request-id"] == "mine", "\(status)")
            }
        }
    }

    @Test("what begins with /v1 is there without it, too")
    func withoutVersion() throws {
        try ServeCase.run { server in
            #expect(try server.ask("GET", "/models").json["object"] as? String == "list")
            #expect(try server.ask("GET", "/models/tiny").json["id"] as? String == "tiny")
            let messages = #""messages":[{"role":"user","content":"a"}],"max_tokens":1"#
            #expect(try server.ask("POST", "/chat/completions", "{\(messages)}").status == 200)
            let text = try server.ask("POST", "/completions", #"{"prompt":"a","max_tokens":1}"#)
            #expect(text.status == 200)
            #expect(try server.ask("GET", "/chat/completions").status == 405)
            #expect(try server.ask("GET", "/v1/v1/models").status == 404)
        }
    }

    @Test("an adapter's name is no path")
    func adapterNames() throws {
        try ServeCase.run {
            $0.adapterRoot = NSTemporaryDirectory()
        } with: { server in
            for name in ["../x", "a/../b", "/x", "x/", "a//b", ".", "./x", ""] {
                let answer = try server.ask(
                    "POST", "/v1/load_lora_adapter",
                    #"{"lora_name":"\#(name)","lora_path":"none"}"#)
                #expect(answer.status == 400, "\(name): \(answer.text)")
                #expect(answer.error["param"] as? String == "lora_name", "\(name): \(answer.text)")
            }
            for name in ["org/name", "a.b", "..x"] { #expect(ServedModels.isName(name)) }
        }
    }

    @Test("a stream that waits begins before its first token, and says what goes wrong in an event")
    func waiting() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var sources = ServeSources()
            sources.streamPatience = .zero
            let server = try ServeCase(in: directory, sources: sources) {
                $0.parallel = 1
                $0.context = 100_000
            }
            var first: HTTPClient? = try server.client()
            try server.send(
                "POST", "/v1/completions", "{\(ServeCase.endless)}", to: #require(first))
            try server.wait(for: ["answers_running": 1])
            let ask = #"{"prompt":"the","max_tokens":3,"ignore_eos":true,"stream":true}"#
            let clients = try (0..<2).map { _ in
                let client = try server.client()
                try server.send("POST", "/v1/completions", ask, to: client)
                #expect(try client.eventOrComment() == ": waiting")
                return client
            }
            try server.wait(for: ["answers_waiting": 2])
            first = nil
            for client in clients {
                var last = ""
                while let event = try client.event() { last = event }
                #expect(last == "data: [DONE]")
            }
            let holder = try server.client()
            try server.send("POST", "/v1/completions", "{\(ServeCase.endless)}", to: holder)
            try server.wait(for: ["answers_running": 1])
            let late = try server.client()
            try server.send("POST", "/v1/completions", ask, to: late)
            #expect(try late.eventOrComment() == ": waiting")
            #expect(!server.server.drain(grace: .zero))
            #expect(try late.event()?.contains(#""code":"shutting_down""#) == true)
            #expect(try late.event() == "data: [DONE]")
        }
    }

    @Test("the head of a stream tells proxies not to keep events back")
    func streamHead() throws {
        try ServeCase.run { server in
            let client = try server.client()
            try server.send(
                "POST", "/v1/completions", #"{"prompt":"a","max_tokens":1,"stream":true}"#,
                headers: ["X-Request-Id: mine"], to: client)
            let head = try #require(try client.response(isHead: true))
            #expect(head.headers["x-accel-buffering"] == "no")
            #expect(head.headers["x-request-id"] == "mine" && head.headers["date"] != nil)
        }
    }
}
