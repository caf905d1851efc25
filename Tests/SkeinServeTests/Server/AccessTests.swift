import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinNetwork
@testable import SkeinServe

/// Keys, origins and hosts.
@Suite struct AccessTests {
    private func request(
        _ path: String = "/v1/models", _ headers: [(String, String)] = []
    ) -> HTTPRequest {
        HTTPRequest(
            method: "GET", path: path, query: nil,
            headers: headers.map { (name: $0.0, value: $0.1) }, keepsAlive: true)
    }

    private func status(_ access: ServeAccess, _ request: HTTPRequest) -> Int {
        access.refusal(of: request)?.status.rawValue ?? 200
    }

    @Test("with keys, each of them opens and nothing else does")
    func keys() throws {
        let keys = try APIKeys(text: Array("# of the team\n\nalpha\r\nbeta\n".utf8), path: "k")
        let access = ServeAccess(keys: keys, host: nil, origin: nil)
        for key in ["alpha", "beta"] {
            #expect(status(access, request("/", [])) == 200)
            #expect(
                status(access, request("/v1/models", [("authorization", "Bearer \(key)")])) == 200)
            #expect(status(access, request("/v1/models", [("x-api-key", key)])) == 200)
        }
        for headers in [
            [], [("authorization", "Bearer ")], [("authorization", "Bearer alph")],
            [("authorization", "Bearer alphabeta")], [("authorization", "alpha")],
            [("authorization", "Bearer # of the team")],
            [("authorization", "Bearer alpha"), ("authorization", "Bearer alpha")],
        ] {
            #expect(status(access, request("/v1/models", headers)) == 401)
        }
        // With a key, the name does not matter.
        #expect(
            status(
                access,
                request("/v1/models", [("host", "evil.example"), ("authorization", "Bearer beta")]))
                == 200)
        #expect(throws: ServeError.badKey(path: "k", line: nil)) {
            try APIKeys(text: Array("# none\n".utf8), path: "k")
        }
        #expect(throws: ServeError.badKey(path: "k", line: 2)) {
            try APIKeys(text: Array("one\ntw o\n".utf8), path: "k")
        }
    }

    @Test("a key file that others can read or change is warned of, with the remedy")
    func keyFile() throws {
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/keys"
            try Data("secret".utf8).write(to: URL(fileURLWithPath: path))
            for (mode, isWarned) in [
                (0o600, false), (0o400, false), (0o700, false), (0o640, true), (0o604, true),
                (0o620, true), (0o644, true), (0o602, true), (0o611, false),
            ] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: path)
                let warning = APIKeys.warning(of: path)
                #expect((warning != nil) == isWarned, "\(String(mode, radix: 8))")
                if let warning { #expect(warning.hasSuffix("chmod 600 \(path)")) }
            }
            #expect(APIKeys.warning(of: "/dev/null") == nil)
            #expect(APIKeys.warning(of: directory + "/none") == nil)
        }
    }

    @Test("without keys, only names of this machine are answered")
    func hosts() {
        let access = ServeAccess(keys: .none, host: "models.lan", origin: nil)
        for (host, wanted) in [
            ("127.0.0.1:8080", 200), ("localhost:1", 200), ("[::1]:8080", 200),
            ("models.lan:8080", 200), ("a.localhost", 200), ("evil.example:8080", 421),
            ("127.0.0.1.evil.example", 421),
        ] {
            #expect(status(access, request("/v1/models", [("host", host)])) == wanted, "\(host)")
        }
    }

    @Test("pages of other sites may not ask, unless their origin was named")
    func origins() {
        for (origin, from, wanted) in [
            (nil, "https://evil.example", 403), (nil, "http://127.0.0.1:8080", 200),
            ("https://chat.example", "https://chat.example", 200),
            ("https://chat.example", "https://evil.example", 403),
            ("*", "https://evil.example", 200), (nil, "null", 403),
        ] as [(String?, String, Int)] {
            let access = ServeAccess(keys: .none, host: nil, origin: origin)
            let asks = request("/v1/models", [("host", "127.0.0.1:8080"), ("origin", from)])
            #expect(status(access, asks) == wanted, "\(from)")
            let isAllowed = origin != nil && wanted == 200
            #expect(
                access.headers(for: asks).contains { $0.name == "Access-Control-Allow-Origin" }
                    == isAllowed)
            #expect((access.preflight(asks).status.rawValue == 204) == isAllowed)
        }
        let access = ServeAccess(keys: .none, host: nil, origin: nil)
        #expect(
            status(
                access,
                request("/v1/models", [("host", "localhost"), ("sec-fetch-site", "cross-site")]))
                == 403)
    }

    @Test("over the wire: a wrong key is 401 in OpenAI's shape, also with a body")
    func wire() throws {
        try ServeCase.run {
            $0.keys = try APIKeys(text: Array("secret".utf8), path: "k")
        } with: { server in
            for path in ["/v1/completions", "/v1/chat/completions", "/tokenize", "/v1/nowhere"] {
                let answer = try server.ask("POST", path, #"{"prompt":"a"}"#)
                #expect(answer.status == 401)
                #expect(answer.error["code"] as? String == "invalid_api_key")
                #expect(answer.error["type"] as? String == "invalid_request_error")
                #expect(answer.headers["www-authenticate"] != nil)
            }
            let good = try server.ask(
                "POST", "/v1/completions", #"{"prompt":"a","max_tokens":1}"#,
                headers: ["Authorization: Bearer secret"])
            #expect(good.status == 200)
            #expect(try server.ask("GET", "/").status == 200)
            #expect(try server.ask("GET", "/metrics").status == 401)
        }
    }
}
