import Foundation
import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinTestSupport
import Synchronization
import Testing

@testable import SkeinServe

/// A request's answer does not depend on who else is there.
@Suite struct CompanyTests {
    private static func requests(_ count: Int, seed: UInt64) -> [(path: String, body: String)] {
        let random = AddressedRandom(seed: seed, purpose: .benchmark)
        let words = ["the", "in", " and", " of", "you", " is", "for", "re", "on"]
        return (0..<count).map { number in
            let draw = random.block(UInt32(number))
            let text = (0..<Int(1 + draw.x % 60)).map {
                words[Int(random.block(UInt32(number), 1, UInt32($0)).x) % words.count]
            }.joined(separator: " ")
            let model = ["tiny", "a", "b"][Int(draw.y % 3)]
            var fields =
                #""model":"\#(model)","max_tokens":\#(24 + draw.z % 40),"seed":\#(number)"#
            switch draw.w % 5 {
            case 0: fields += #","temperature":0"#
            case 1:
                fields +=
                    #","response_format":{"type":"json_schema","json_schema":{"name":"x","schema":"#
                    + #"{"type":"object","properties":{"a":{"type":"integer"},"b":{"enum":["x","yy"]}},"#
                    + #""required":["a","b"],"additionalProperties":false}}}"#
            case 2: fields += #","n":2,"stop":["e"]"#
            case 3: fields += #","presence_penalty":0.4,"top_k":30"#
            default: break
            }
            return draw.x % 2 == 0
                ? ("/v1/completions", #"{"prompt":"\#(text)",\#(fields)}"#)
                : (
                    "/v1/chat/completions",
                    #"{"messages":[{"role":"user","content":"\#(text)"}],\#(fields)}"#
                )
        }
    }

    /// What the answer says, without what differs from request to request.
    private static func essence(_ answer: ServeCase.Answer) -> String {
        answer.choices.map { choice in
            let text =
                choice["text"] as? String
                ?? (choice["message"] as? [String: Any])?["content"] as? String ?? "?"
            return text + "|" + (choice["finish_reason"] as? String ?? "?")
        }.joined(separator: "\n") + "\(answer.status)"
    }

    private func options(_ options: inout OpenAIServer.Options, _ directory: String) {
        options.name = "tiny"
        options.adapters = [
            .init(name: "a", path: directory + "/a"), .init(name: "b", path: directory + "/b"),
        ]
    }

    @Test(
        "alone and in random company, with and without guesses and the cache: the same answers",
        arguments: [1, 2] as [UInt64])
    func company(seed: UInt64) throws {
        try TestPaths.withTemporaryDirectory { directory in
            let all = Self.requests(48, seed: seed)
            let model = try ServeCase(in: directory).model
            for (name, seed) in [("a", 1), ("b", 2)] as [(String, UInt64)] {
                _ = try ServeCase.writeAdapter(
                    directory + "/" + name, model: model, seed: seed, rank: name == "a" ? 2 : 5)
            }
            var alone: [String] = []
            do {
                let server = try ServeCase(in: directory) {
                    options(&$0, directory)
                    $0.guesses = false
                    $0.prefixBytes = 0
                    $0.threads = 1
                }
                for request in all {
                    alone.append(Self.essence(try server.ask("POST", request.path, request.body)))
                }
            }
            #expect(alone.allSatisfy { $0.hasSuffix("200") })
            #expect(Set(alone).count > all.count / 2)
            let server = try ServeCase(in: directory) {
                options(&$0, directory)
                $0.parallel = 5
            }
            let next = Mutex(0)
            let found = Mutex([Int: String]())
            // Six clients at a time; some leave in the middle of a stream.
            let isWrong = Atomic<Int>(0)
            nonisolated(unsafe) let shared = server
            BriefThreads.perform(6) { thread in
                while true {
                    let place = next.withLock { place in
                        defer { place += 1 }
                        return place
                    }
                    guard place < 2 * all.count else { return }
                    let request = all[place % all.count]
                    do {
                        if (place + thread) % 7 == 3 {
                            let client = try shared.client()
                            let body = #"{"stream":true,"# + request.body.dropFirst()
                            try shared.send("POST", request.path, body, to: client)
                            _ = try client.event()
                        } else {
                            let answer = try shared.ask("POST", request.path, request.body)
                            found.withLock { $0[place] = Self.essence(answer) }
                        }
                    } catch {
                        isWrong.add(1, ordering: .relaxed)
                    }
                }
            }
            #expect(isWrong.load(ordering: .relaxed) == 0)
            let answers = found.withLock { $0 }
            #expect(answers.count > all.count)
            for (place, answer) in answers {
                #expect(answer == alone[place % all.count], "seed \(seed), request \(place)")
            }
            // Those who left have left nothing.
            try server.wait(for: ["answers_running": 0, "requests_open": 0])
            #expect(try server.metric("skein_serve_cache_bytes") == 0)
        }
    }

    @Test("a second turn finds the first in the prefix cache, and says the same as a cold one")
    func turns() throws {
        try TestPaths.withTemporaryDirectory { directory in
            var said: [[String]] = []
            for prefixBytes in [0, 16 << 20] {
                let server = try ServeCase(in: directory) { $0.prefixBytes = prefixBytes }
                var messages: [String] = []
                var answers: [String] = []
                for turn in 0..<5 {
                    messages.append(
                        #"{"role":"user","content":"turn \#(turn) of the and in for you"}"#)
                    let before = try server.ask(
                        "POST", "/tokenize", #"{"messages":[\#(messages.joined(separator: ","))]}"#)
                    let answer = try server.chat(
                        #""messages":[\#(messages.joined(separator: ","))],"max_tokens":20,"#
                            + #""temperature":1,"seed":\#(turn)"#)
                    answers.append(answer.content)
                    let text = try String(
                        decoding: JSONSerialization.data(
                            withJSONObject: answer.content, options: .fragmentsAllowed),
                        as: UTF8.self)
                    messages.append(#"{"role":"assistant","content":\#(text)}"#)
                    let prompt = before.json["count"] as? Int ?? 0
                    #expect(answer.usage["prompt_tokens"] as? Int == prompt)
                    if prefixBytes == 0 {
                        #expect(answer.cachedTokens == 0)
                    } else if turn > 1 {
                        #expect(answer.cachedTokens >= 64)
                        #expect(answer.cachedTokens % 64 == 0)
                    }
                }
                said.append(answers)
            }
            #expect(said[0] == said[1])
        }
    }
}
