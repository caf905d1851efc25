import Foundation
import SkeinBasics
import SkeinInference
import SkeinNetwork
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinServe

/// Clients that take their answers slowly, or not at all, and what is said of them.
@Suite struct SlowReaderTests {
    /// 1024 answers that begin with a prompt of 3.5 KB each, which the engine tells at once.
    private static let long =
        #""prompt":[\#(Array(repeating: "\"" + prompt + "\"", count: 16).joined(separator: ","))],"#
        + #""echo":true,"n":64,"max_tokens":1,"ignore_eos":true,"stream":true"#
    private static let prompt = String(repeating: "the in ", count: 500)

    private func begin(_ fields: String, _ server: ServeCase) throws -> HTTPClient {
        let client = try server.client(receiveBytes: 4096)
        try server.send("POST", "/v1/completions", "{\(fields)}", to: client)
        return client
    }

    @Test("a stream of which more than a MiB is told at once comes whole to a client that reads")
    func burst() throws {
        try ServeCase.run {
            $0.context = 2048
            $0.parallel = 64
        } with: { server in
            let client = try begin(Self.long, server)
            // All is told before the client reads anything.
            try server.wait(for: ["answer_tokens_total": 1024, "answers_running": 0])
            var texts = Array(repeating: "", count: 1024)
            var (ends, isDone, bytes) = (0, false, 0)
            while let event = try client.event() {
                bytes += event.utf8.count
                if event == "data: [DONE]" {
                    isDone = true
                    continue
                }
                let chunk = ServeCase.Answer(
                    status: 200, headers: [:], text: String(event.dropFirst(6)))
                let choice = try #require(chunk.choices.first)
                texts[choice["index"] as? Int ?? 0] += choice["text"] as? String ?? ""
                if choice["finish_reason"] is String { ends += 1 }
            }
            #expect(isDone && ends == 1024 && bytes > 3 << 20)
            #expect(texts.allSatisfy { $0.hasPrefix(Self.prompt) })
            try server.wait(for: ["requests_open": 0, "requests_dropped_total": 0])
        }
    }

    /// Lines of a log.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var log: Log { Log(to: { [self] _, line in lines.withLock { $0.append(line) } }) }
        func wait(for words: String) throws {
            try Deadline.wait { self.lines.withLock { $0.contains { $0.contains(words) } } }
        }
    }

    @Test("who takes nothing is dropped, who leaves is gone, and the tokens of both are counted")
    func cut() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var sources = ServeSources()
            sources.times.write = .milliseconds(300)
            let lines = Lines()
            let server = try ServeCase(in: directory, sources: sources, log: lines.log) {
                $0.context = 100_000
                $0.logsRequests = true
            }
            let slow = try begin(
                #""prompt":"the","max_tokens":6000,"ignore_eos":true,"stream":true,"logprobs":20"#,
                server)
            try server.wait(for: ["requests_dropped_total": 1, "requests_open": 0])
            try lines.wait(for: " dropped in ")
            let first = try server.metric("skein_serve_answer_tokens_total")
            #expect(first > 0)
            var leaver: HTTPClient? = try begin(ServeCase.endless + #","stream":true"#, server)
            for _ in 0..<3 { _ = try leaver?.event() }
            leaver = nil
            try server.wait(for: ["requests_abandoned_total": 1, "requests_open": 0])
            try lines.wait(for: " gone in ")
            #expect(try server.metric("skein_serve_answer_tokens_total") >= first + 2)
            #expect(try server.metric("skein_serve_requests_dropped_total") == 1)
            withExtendedLifetime(slow) {}
        }
    }

    @Test("what is held for slow readers is bounded: who holds most is dropped, and others are not")
    func bounded() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var sources = ServeSources()
            sources.times.write = .seconds(600)
            sources.heldBytes = 256 << 10
            let server = try ServeCase(in: directory, sources: sources) { $0.context = 100_000 }
            let reader = try server.client()
            try server.send(
                "POST", "/v1/completions",
                #"{"prompt":"the","max_tokens":200,"ignore_eos":true,"stream":true}"#, to: reader)
            let slow = try begin(
                #""prompt":"the","max_tokens":6000,"ignore_eos":true,"stream":true,"logprobs":20"#,
                server)
            var last = ""
            while let event = try reader.event() { last = event }
            #expect(last == "data: [DONE]")
            try server.wait(for: ["requests_dropped_total": 1, "requests_open": 0])
            withExtendedLifetime(slow) {}
        }
    }
}
