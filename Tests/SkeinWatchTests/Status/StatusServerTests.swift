import Foundation
import SkeinBasics
import SkeinNetwork
import SkeinTestSupport
import SkeinTraining
import Testing

@testable import SkeinCluster
@testable import SkeinCoordination
@testable import SkeinWatch

@Suite("a run over HTTP", .ownThreads)
struct StatusServerTests {
    private static let secret = "0123456789abcdef"

    private static func step(_ number: Int) -> StepMetrics {
        StepMetrics(
            step: number, epoch: 1, loss: 2.5, tokens: 7, lossTokens: 5, learningRate: 0.1,
            gradientNorm: 1, seconds: 2, tokensPerSecond: 3.5, workers: 1)
    }

    private func withServer(
        token: String? = nil, listen: String = "127.0.0.1:0", board: RunBoard = RunBoard(),
        _ body: (StatusServer, UInt16) throws -> Void
    ) throws {
        let server = try StatusServer(
            board: board,
            options: StatusOptions(listen: listen, token: token.map { Array($0.utf8) }))
        defer { server.stop() }
        try body(server, NetworkAddress(parsing: server.address).port)
    }

    private func answer(
        _ port: UInt16, _ path: String, method: String = "GET", host: String = "127.0.0.1:1",
        more: String = ""
    ) throws -> HTTPClient.Response {
        let client = try HTTPClient(port: port)
        try client.send("\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(more)\r\n")
        return try #require(try client.response(isHead: method == "HEAD"))
    }

    @Test("what is served without a token on this machine")
    func paths() throws {
        try withServer { _, port in
            let page = try answer(port, "/")
            #expect(page.status == 200 && page.text.hasPrefix("<!doctype html>"))
            let policy = try #require(page.headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-"))
            #expect(!policy.contains("unsafe") && !page.text.contains("http://www.example"))
            #expect(try answer(port, "/healthz").text == "ok\n")
            let ready = try answer(port, "/readyz")
            #expect(ready.status == 503 && ready.text == "starting\n")
            let metrics = try answer(port, "/metrics")
            #expect(metrics.headers["content-type"] == MetricsText.contentType)
            #expect(metrics.text.contains("skein_build_info{version=\""))
            let status = try answer(port, "/status.json?x=y")
            #expect(try RunSnapshot(json: status.body).phase == "starting")
            #expect(status.headers["content-type"] == "application/json")
        }
    }

    @Test(
        "paths that are not there are not looked for in files",
        arguments: [
            "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fetc%2fpasswd", "//", "/status",
            "/metrics/", "/%00", "/healthz%20",
        ])
    func otherPaths(path: String) throws {
        try withServer { _, port in
            let status = try answer(port, path).status
            #expect(status == 404)
        }
    }

    @Test("only GET is answered", arguments: ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
    func methods(method: String) throws {
        try withServer { _, port in
            let refused = try answer(port, "/status.json", method: method)
            #expect(refused.status == 405 && refused.headers["allow"] == "GET")
        }
    }

    @Test("a web socket is refused in words")
    func webSocket() throws {
        try withServer { _, port in
            let refused = try answer(
                port, "/events", more: "Upgrade: WebSocket\r\nConnection: Upgrade\r\n")
            #expect(refused.status == 400)
        }
    }

    @Test("without a token, a name of another site is refused: it was pointed here")
    func rebinding() throws {
        try withServer { _, port in
            for own in ["127.0.0.1:9", "localhost", "LOCALHOST:80", "[::1]:4", "a.localhost"] {
                #expect(try answer(port, "/status.json", host: own).status == 200, "\(own)")
            }
            for other in ["evil.example", "127.0.0.1.evil.example:80", "", "a b", "localhost.evil"]
            {
                #expect(try answer(port, "/status.json", host: other).status == 421, "\(other)")
                #expect(try answer(port, "/", host: other).status == 421, "\(other)")
            }
            let cross = try answer(port, "/status.json", more: "Sec-Fetch-Site: cross-site\r\n")
            #expect(cross.status == 403)
        }
    }

    @Test("with a token, only page and health are served without it")
    func token() throws {
        try withServer(token: Self.secret, listen: "0.0.0.0:0") { _, port in
            for path in ["/", "/healthz"] {
                #expect(try answer(port, path, host: "gpu-box.lan").status == 200)
            }
            // The rows are not read yet. Kubernetes asks under the pod's address.
            #expect(try answer(port, "/readyz", host: "10.244.1.7:7535").status == 503)
            for path in ["/metrics", "/status.json", "/events", "/other"] {
                let missing = try answer(port, path)
                #expect(missing.status == 401)
                #expect(missing.headers["www-authenticate"] == "Bearer realm=\"skein\"")
                for wrong in ["Bearer x", "Bearer \(Self.secret)0", "Basic abc", "Bearer"] {
                    #expect(
                        try answer(port, path, more: "Authorization: \(wrong)\r\n").status == 401)
                }
                let twice = "Authorization: Bearer \(Self.secret)\r\n"
                #expect(try answer(port, path, more: twice + twice).status == 401)
            }
            let right = "Authorization: bearer \(Self.secret)\r\n"
            #expect(try answer(port, "/metrics", more: right).status == 200)
            #expect(try answer(port, "/other", more: right).status == 404)
        }
    }

    @Test("an address that others can reach needs a token, and not the cluster's")
    func tokens() throws {
        #expect(throws: WatchError.self) {
            try StatusServer(board: RunBoard(), options: StatusOptions(listen: "0.0.0.0:0"))
        }
        try TestPaths.withTemporaryDirectory { directory in
            let path = directory + "/token"
            func file(_ text: String) throws -> [UInt8] {
                try AtomicFile.write(text, to: path)
                chmod(path, 0o600)
                return try TokenFile(reading: path).bytes
            }
            let good = try file(Self.secret)
            #expect(
                try StatusOptions.token(good, path: path, clusterToken: nil)
                    == Array(Self.secret.utf8))
            #expect(throws: WatchError.tokenIsClusters(path: path)) {
                try StatusOptions.token(
                    good, path: path, clusterToken: Array(Self.secret.utf8))
            }
            let spaced = try file("0123456789 abcdef")
            #expect(throws: WatchError.tokenNotPrintable(path: path)) {
                try StatusOptions.token(spaced, path: path, clusterToken: nil)
            }
        }
    }

    @Test("a follower gets the history, then what is new, then the end")
    func events() throws {
        let board = RunBoard()
        let server = try StatusServer(board: board, options: StatusOptions(listen: "127.0.0.1:0"))
        let client = try HTTPClient(port: NetworkAddress(parsing: server.address).port)
        try board.note(.step(Self.step(1), stepCount: 3))
        try client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let first = try #require(try client.event())
        #expect(first.hasPrefix("event: history\ndata: {\"whole\":true") && first.contains("[1]"))
        #expect(try #require(try client.event()).hasPrefix("event: snapshot\ndata: {"))
        try board.note(.step(Self.step(2), stepCount: 3))
        var seen: [String] = []
        while !(seen.last?.contains("\"step\":[2]") ?? false) {
            seen.append(try #require(try client.event()))
        }
        #expect(seen.last?.hasPrefix("event: history\ndata: {\"whole\":false") == true)
        board.ended()
        server.stop()
        while !(seen.last?.hasPrefix("event: end") ?? false) {
            seen.append(try #require(try client.event()))
        }
        #expect(seen.contains { $0.contains("\"phase\":\"finished\"") })
        #expect(try client.event() == nil)
    }

    @Test("those who come to the same view get each step once, as the first one does")
    func newcomers() throws {
        let board = RunBoard()
        let server = try StatusServer(board: board, options: StatusOptions(listen: "127.0.0.1:0"))
        defer { server.stop() }
        let port = try NetworkAddress(parsing: server.address).port
        var clients: [HTTPClient] = []
        for step in 1...4 {
            try board.note(.step(Self.step(step), stepCount: 9))
            let client = try HTTPClient(port: port)
            try client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            clients.append(client)
        }
        let mark = "\"steps\":{\"step\":["
        for client in clients {
            var steps: [Int] = []
            while steps.last != 4 {
                let event = try #require(try client.event())
                guard let start = event.range(of: mark) else { continue }
                let list = event[start.upperBound...].prefix { $0 != "]" }
                steps += list.split(separator: ",").compactMap { Int($0) }
            }
            #expect(steps == [1, 2, 3, 4])
        }
    }

    @Test("a history that is longer than what may wait reaches a slow client whole")
    func longHistory() throws {
        let board = RunBoard()
        let text = String(repeating: "long ", count: 20_000)
        for number in 1...RunHistory.mostSamples {
            try board.note(
                .sample(
                    SampleMetrics(step: number, epoch: 1, prompt: "p", text: text, tokens: 64)))
        }
        try board.note(.step(Self.step(1), stepCount: 9))
        let server = try StatusServer(board: board, options: StatusOptions(listen: "127.0.0.1:0"))
        defer { server.stop() }
        let port = try NetworkAddress(parsing: server.address).port
        let client = try HTTPClient(port: port, receiveBytes: 65536)
        try client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let history = try #require(try client.event())
        #expect(history.hasPrefix("event: history\n"))
        #expect(history.utf8.count > RunHistory.mostSamples * text.utf8.count)
        #expect(try client.event()?.hasPrefix("event: snapshot\n") == true)
    }

    @Test("what Prometheus reads of a cluster: every family once, labels escaped")
    func prometheus() throws {
        var run = RunSnapshot.Progress()
        run.term = 3
        run.output = "a\\b\"c\nd"
        run.loss = .nan
        let work = RunSnapshot.Work(
            threads: 2, leaseCount: 1, leases: [], tokensPerSecond: nil, accepted: 4, refused: 5)
        let snapshot = RunSnapshot(
            run: run, waiting: Waiting(reason: .starting, seconds: 1.5),
            workers: [
                .init(name: "w1", address: "x", state: .computing, lastHeardSeconds: 0, work: work),
                .init(name: "w2", address: "x", state: .preparing, lastHeardSeconds: 0.25),
            ],
            absent: [
                .init(
                    name: "w3", address: "x", isLost: true, reason: "reset", seconds: 1,
                    accepted: 0, refused: 0, losses: 1)
            ], process: .here)
        let text = PrometheusText.text(of: snapshot, version: "1")
        #expect(text.contains("skein_run_info{output=\"a\\\\b\\\"c\\nd\"} 1\n"))
        #expect(text.contains("skein_loss NaN\n") && text.contains("skein_waiting_seconds 1.5\n"))
        #expect(text.contains("skein_workers{state=\"lost\"} 1\n"))
        #expect(text.contains("skein_worker_accepted_results_total{worker=\"w1\"} 4\n"))
        #expect(!text.contains("skein_worker_tokens_per_second"))
        let families = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
        #expect(Set(families).count == families.count && families.count > 20)
    }
}
