import Foundation
import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What the server does while the threads that prepare requests, or the one that writes, are busy.
@Suite struct HeldThreadsTests {
    /// Keeps a thread busy until it is opened; opens itself at the end.
    private final class Gate: Sendable {
        private let isOpen = Condition(false)

        init(_ threads: PreparationThreads, _ kind: PreparationThreads.Kind = .preparing) {
            let isOpen = isOpen
            threads.run(kind) { isOpen.wait { $0 ? () : nil } }
        }

        deinit { open() }

        func open() { isOpen.change { $0 = true } }
    }

    /// Has a request answered up to the point where its JSON is to be written, with no thread free to
    /// prepare anything.
    private func hold(
        _ server: ServeCase, _ fields: String, tokens: Int
    ) throws -> (client: HTTPClient, gates: [Gate]) {
        let first = Gate(server.server.threads)
        let second = Gate(server.server.threads)
        let client = try server.client()
        try server.send("POST", "/v1/completions", "{\(fields)}", to: client)
        try server.wait(for: ["requests_open": 1])
        // Stands behind the request, which is prepared by the only free thread.
        let third = Gate(server.server.threads)
        second.open()
        try server.wait(for: ["answer_tokens_total": tokens])
        return (client, [first, third])
    }

    private let large =
        #""prompt":"the in","max_tokens":120,"temperature":1,"seed":3,"ignore_eos":true,"logprobs":20"#

    private func expectLarge(_ response: HTTPClient.Response?) throws {
        let response = try #require(response)
        #expect(response.status == 200)
        let answer = ServeCase.Answer(status: 200, headers: [:], text: response.text)
        let logprobs = answer.choices.first?["logprobs"] as? [String: Any]
        #expect((logprobs?["tokens"] as? [String])?.count == 120)
        #expect(response.body.count > Limits.writtenBytes)
    }

    @Test("a large answer that is made does not wait for requests that are being prepared")
    func writtenBeside() throws {
        try ServeCase.run { server in
            let (client, gates) = try hold(server, large, tokens: 120)
            try expectLarge(client.response())
            try server.wait(for: ["requests_open": 0])
            #expect(gates.count == 2)
        }
    }

    @Test("large answers are written one after another, and others do not wait for them")
    func writtenByOther() throws {
        try ServeCase.run { server in
            let gate = Gate(server.server.threads, .writing)
            var clients: [HTTPClient] = []
            for count in 1...2 {
                let client = try server.client()
                try server.send("POST", "/v1/completions", "{\(large)}", to: client)
                clients.append(client)
                try server.wait(for: ["answer_tokens_total": 120 * count])
            }
            // They are made, but not written.
            #expect(try server.metric("skein_serve_requests_open") == 2)
            #expect(try server.ask("GET", "/health").status == 200)
            let one = try server.complete(#""prompt":"a","max_tokens":1,"ignore_eos":true"#)
            #expect(one.status == 200)
            let second = Gate(server.server.threads, .writing)
            gate.open()
            for client in clients { try expectLarge(client.response()) }
            try server.wait(for: ["requests_open": 0])
            second.open()
        }
    }

    @Test("a small answer is written at once, whatever is being prepared or written")
    func small() throws {
        try ServeCase.run { server in
            let writing = Gate(server.server.threads, .writing)
            let (client, gates) = try hold(
                server, #""prompt":"the in","max_tokens":9,"ignore_eos":true"#, tokens: 9)
            #expect(try #require(try client.response()).status == 200)
            #expect(gates.count == 2)
            writing.open()
        }
    }

    /// Eight answers, and with `long` more than the network's thread writes of the prompt in them.
    private func echoed(long: Bool) -> String {
        let words = String(repeating: "the in ", count: long ? 1200 : 20)
        return
            #""prompt":"\#(words)","echo":true,"n":8,"max_tokens":5,"temperature":1,"seed":3,"ignore_eos":true"#
    }

    /// The text of each answer of a stream, chunk by chunk, and whether it ended as it should.
    private func texts(_ client: HTTPClient) throws -> (chunks: [Int: [String]], isWhole: Bool) {
        var chunks: [Int: [String]] = [:]
        while let event = try client.event() {
            let data = event.dropFirst("data: ".count)
            if data == "[DONE]" { return (chunks, true) }
            let answer = ServeCase.Answer(status: 200, headers: [:], text: String(data))
            for choice in answer.choices {
                chunks[choice["index"] as? Int ?? -1, default: []].append(
                    choice["text"] as? String ?? "?")
            }
        }
        return (chunks, false)
    }

    @Test("long prompts that a stream echoes are written by the thread for that, and come first")
    func echoes() throws {
        try ServeCase.run {
            $0.context = 20_000
        } with: { server in
            let whole = try server.complete(echoed(long: true))
            #expect(whole.texts.count == 8)
            #expect(whole.texts.reduce(0) { $0 + $1.utf8.count } > Limits.writtenBytes)
            let told = try server.metric("skein_serve_answer_tokens_total")
            let computed = server.computedTokens

            let gate = Gate(server.server.threads, .writing)
            let client = try server.client()
            try server.send(
                "POST", "/v1/completions", "{\"stream\":true,\(echoed(long: true))}", to: client)
            try Deadline.wait {
                let figures = server.server.figures
                return figures.computedTokens > computed && figures.running == 0
                    && figures.waiting == 0
            }
            // What the engine tells of this one comes behind all that it told of the other.
            let one = try server.complete(#""prompt":"a","max_tokens":1,"ignore_eos":true"#)
            #expect(one.status == 200)
            #expect(try server.metric("skein_serve_requests_open") == 1)
            // Its eight answers of five tokens are made, and not told.
            #expect(try server.metric("skein_serve_answer_tokens_total") == told + 8 * 5 + 1)
            // Short ones need not wait.
            let short = try server.client()
            try server.send(
                "POST", "/v1/completions", "{\"stream\":true,\(echoed(long: false))}", to: short)
            #expect(try texts(short).isWhole)
            gate.open()
            let (chunks, isWhole) = try texts(client)
            #expect(isWhole)
            for (index, text) in whole.texts.enumerated() {
                let found = chunks[index] ?? []
                #expect(found.joined() == text)
                #expect((found.first ?? "").utf8.count == 1200 * 7)
                #expect(found.count > 2)
            }
            try server.wait(for: ["requests_open": 0])
        }
    }

    @Test("a client that goes while its answer waits to be written leaves nothing behind")
    func goneWhileWritten() throws {
        try ServeCase.run {
            $0.parallel = 1
            $0.queue = 0
        } with: { server in
            let gate = Gate(server.server.threads, .writing)
            do {
                let client = try server.client()
                try server.send("POST", "/v1/completions", "{\(large)}", to: client)
                try server.wait(for: ["answer_tokens_total": 120])
            }
            try server.wait(for: ["requests_open": 0])
            #expect(try server.metric("skein_serve_requests_abandoned_total") == 1)
            // Its work still holds the only place.
            let refused = try server.complete(#""prompt":"a""#)
            #expect(refused.status == 429)
            let message = refused.error["message"] as? String ?? ""
            #expect(message.hasPrefix("0 requests"))
            #expect(message.contains("work goes on for 1 whose clients left"))
            gate.open()
            try Deadline.wait {
                (try? server.complete(#""prompt":"a","max_tokens":1"#))?.status == 200
            }
        }
    }

    @Test("requests whose bodies would take more than there is for them hear that")
    func bodies() throws {
        try ServeCase.run {
            // For the longest bodies.
            $0.context = 131_072
            $0.parallel = 1
        } with: { server in
            let gates = (0..<2).map { _ in Gate(server.server.threads) }
            let body = String(repeating: " ", count: Limits.bodyBytes)
            var clients: [HTTPClient] = []
            for count in 1...Limits.bodiesBytes / Limits.bodyBytes {
                let client = try server.client()
                try server.send("POST", "/v1/completions", body, to: client)
                clients.append(client)
                try server.wait(for: ["requests_open": count])
            }
            let refused = try server.complete(#""prompt":"a""#)
            #expect(refused.status == 429)
            let message = refused.error["message"] as? String ?? ""
            #expect(message.hasPrefix("the bodies of requests that wait to be read take 67.1 MB"))
            for gate in gates { gate.open() }
            for client in clients { #expect(try client.response()?.status == 400) }
            let one = try server.complete(#""prompt":"a","max_tokens":1,"ignore_eos":true"#)
            #expect(one.status == 200)
        }
    }

    @Test("nothing is computed for a client that goes while its request is prepared")
    func goneWhilePrepared() throws {
        try ServeCase.run { server in
            let first = Gate(server.server.threads)
            let second = Gate(server.server.threads)
            do {
                let client = try server.client()
                try server.send(
                    "POST", "/v1/completions", #"{"prompt":"the in","max_tokens":9}"#, to: client)
                try server.wait(for: ["requests_open": 1])
            }
            try server.wait(for: ["requests_open": 0])
            #expect(try server.metric("skein_serve_requests_abandoned_total") == 1)
            second.open()
            // Stands behind it, on the only free thread: it would have been submitted by then.
            let next = try server.complete(#""prompt":[40],"max_tokens":1"#)
            #expect(next.status == 200)
            #expect(server.computedTokens == 1)
            first.open()
        }
    }
}
