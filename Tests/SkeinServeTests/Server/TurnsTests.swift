import Foundation
import SkeinBasics
import SkeinInference
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// Work that waits, and whose turn it is.
@Suite struct TurnsTests {
    @Test(
        "whose grammars are hard to make keeps no other request waiting, and others' for one of them"
    )
    func grammars() throws {
        try ServeCase.run {
            $0.keys = try APIKeys(text: Array("one\ntwo\n".utf8), path: "keys")
        } with: { server in
            let threads = server.server.threads
            // One key's work holds the thread for grammars three times in a row.
            let opened = Condition(0)
            defer { opened.change { $0 = 3 } }
            for turn in 1...3 {
                threads.run(.compiling, for: .key("one")) {
                    opened.wait { $0 >= turn ? () : nil }
                }
                // The first is taken before the other key has anything: the turns are then known.
                try Deadline.wait { threads.waiting(.compiling) == turn - 1 }
            }
            func ask(_ number: Int, key: String) throws -> HTTPClient {
                let client = try server.client()
                try server.send(
                    "POST", "/v1/completions",
                    #"{"prompt":"a","max_tokens":9,"guided_regex":"[ab]{\#(number)}"}"#,
                    headers: ["Authorization: Bearer \(key)"], to: client)
                return client
            }
            let many = try (1...5).map { try ask($0, key: "one") }
            let other = try ask(7, key: "two")
            try Deadline.wait { threads.waiting(.compiling) == 2 + 5 + 1 }
            // What needs no grammar is answered, also for the same key.
            for key in ["one", "two"] {
                let answer = try server.ask(
                    "POST", "/tokenize", #"{"prompt":"a b"}"#,
                    headers: ["Authorization: Bearer \(key)"])
                #expect(answer.status == 200)
            }
            // Behind the second the other key has its turn, though the third and five more came before.
            opened.change { $0 = 2 }
            #expect(try other.response()?.status == 200)
            // The third is taken at once, though perhaps not before this answer has arrived.
            try Deadline.wait { threads.waiting(.compiling) == 5 }
            opened.change { $0 = 3 }
            for client in many { #expect(try client.response()?.status == 200) }
        }
    }

    @Test("one key's answers keep room for another's, and its requests places")
    func answers() throws {
        try ServeCase.run {
            $0.keys = try APIKeys(text: Array("one\ntwo\n".utf8), path: "keys")
            $0.parallel = 4
            $0.queue = 4
            $0.context = 100_000
        } with: { server in
            func ask(_ fields: String, key: String) throws -> HTTPClient {
                let client = try server.client()
                try server.send(
                    "POST", "/v1/completions", "{\(fields)}",
                    headers: ["Authorization: Bearer \(key)"], to: client)
                return client
            }
            func wait(running: Int, waiting: Int) throws {
                try Deadline.wait {
                    let figures = server.server.figures
                    return figures.running == running && figures.waiting == waiting
                }
            }
            // Eight answers that never end: three are decoded.
            let flood = try ask(ServeCase.endless + #","n":8"#, key: "one")
            try wait(running: 3, waiting: 5)
            let more = try (0..<6).map { _ in try ask(ServeCase.endless, key: "one") }
            try wait(running: 3, waiting: 11)
            // A key may take seven of eight places.
            let refused = try #require(try ask(ServeCase.endless, key: "one").response())
            #expect(refused.status == 429 && refused.text.contains("requests of this key"))
            for _ in 0..<2 {
                let other = try ask(#""prompt":"a","max_tokens":2"#, key: "two")
                #expect(try other.response()?.status == 200)
            }
            try wait(running: 3, waiting: 11)
            withExtendedLifetime((flood, more)) {}
        }
    }

    @Test("keys that are all served have all there is together")
    func together() throws {
        try ServeCase.run {
            $0.keys = try APIKeys(text: Array("one\ntwo\n".utf8), path: "keys")
            $0.parallel = 4
            $0.context = 100_000
            // Room for two whole contexts, and for more answers.
            $0.cacheBytes = 200 << 20
        } with: { server in
            let clients = try ["one", "two"].map { key in
                let client = try server.client()
                try server.send(
                    "POST", "/v1/completions",
                    "{" + #""prompt":"the","max_tokens":9000,"ignore_eos":true,"n":8}"#,
                    headers: ["Authorization: Bearer \(key)"], to: client)
                return client
            }
            try Deadline.wait { server.server.figures.running == 4 }
            withExtendedLifetime(clients) {}
        }
    }

    @Test("work for requests that were given up counts as their key's")
    func unwanted() throws {
        try ServeCase.run {
            $0.keys = try APIKeys(text: Array("one\ntwo\n".utf8), path: "keys")
            $0.parallel = 4
            $0.queue = 4
        } with: { server in
            let threads = server.server.threads
            let isOpen = Condition(false)
            defer { isOpen.change { $0 = true } }
            threads.run(.compiling, for: .key("one")) { isOpen.wait { $0 ? () : nil } }
            try Deadline.wait { threads.waiting(.compiling) == 0 }
            func ask(_ number: Int) throws -> HTTPClient {
                let client = try server.client()
                try server.send(
                    "POST", "/v1/completions",
                    #"{"prompt":"a","max_tokens":9,"guided_regex":"[ab]{\#(number)}"}"#,
                    headers: ["Authorization: Bearer one"], to: client)
                return client
            }
            var clients = try (1...7).map(ask)
            try Deadline.wait { threads.waiting(.compiling) == 7 }
            clients = []
            func open() throws -> Int {
                let text = try server.ask(
                    "GET", "/metrics", headers: ["Authorization: Bearer two"]
                ).text
                return text.contains("skein_serve_requests_open 0\n") ? 0 : 1
            }
            try Deadline.wait { (try? open()) == 0 }
            let refused = try #require(try ask(8).response())
            #expect(refused.status == 429 && refused.text.contains("7 requests of this key"))
            let other = try server.ask(
                "POST", "/v1/completions", #"{"prompt":"a","max_tokens":1}"#,
                headers: ["Authorization: Bearer two"])
            #expect(other.status == 200)
            _ = clients
        }
    }

    @Test("a key by itself has all there is")
    func alone() throws {
        try ServeCase.run {
            $0.keys = try APIKeys(text: Array("one\n".utf8), path: "keys")
            $0.parallel = 4
            $0.context = 100_000
        } with: { server in
            let client = try server.client()
            try server.send(
                "POST", "/v1/completions", "{" + ServeCase.endless + #","n":8}"#,
                headers: ["Authorization: Bearer one"], to: client)
            try Deadline.wait { server.server.figures.running == 4 }
            withExtendedLifetime(client) {}
        }
    }
}
