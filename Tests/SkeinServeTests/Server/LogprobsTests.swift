import Foundation
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// Log-probabilities of answers and prompts.
@Suite struct LogprobsTests {
    private func logprobs(_ answer: ServeCase.Answer) throws -> [String: Any] {
        try #require(answer.choices.first?["logprobs"] as? [String: Any])
    }

    @Test("a prompt's log-probabilities are those that its tokens have as answers")
    func prompt() throws {
        try ServeCase.run { server in
            let ids = [35, 100, 101, 42, 260, 261, 99, 35, 36, 37]
            let echoed = try server.complete(
                #""prompt":\#(ids),"max_tokens":1,"temperature":0,"echo":true,"logprobs":3"#)
            let all = try logprobs(echoed)
            let values = try #require(all["token_logprobs"] as? [Any])
            let top = try #require(all["top_logprobs"] as? [Any])
            #expect(values.count == ids.count + 1 && top.count == values.count)
            #expect(values[0] is NSNull && top[0] is NSNull)
            #expect((all["tokens"] as? [String])?.count == values.count)
            for place in 1..<ids.count {
                // A bias makes sure that the token comes; the log-probabilities do not know it.
                let next = try server.complete(
                    #""prompt":\#(Array(ids[..<place])),"max_tokens":1,"temperature":0,"logprobs":3,"#
                        + #""logit_bias":{"\#(ids[place])":100}"#)
                let one = try logprobs(next)
                let value = try #require((one["token_logprobs"] as? [Double])?.first)
                // The same bits: a prompt's last token and its others go through the same kernels.
                #expect(value == values[place] as? Double)
                #expect(
                    (one["top_logprobs"] as? [[String: Double]])?.first
                        == top[place] as? [String: Double])
            }
        }
    }

    @Test("prompts longer than a block tell all their tokens, the same with or without the cache")
    func long() throws {
        try ServeCase.run { server in
            let ids = (0..<300).map { 3 + ($0 * 37 + $0 * $0 % 11) % 300 }
            let fields =
                #""prompt":\#(ids),"max_tokens":2,"temperature":1,"seed":1,"echo":true,"logprobs":1"#
            let first = try server.complete(fields)
            let plain = try server.complete(
                #""prompt":\#(ids),"max_tokens":2,"temperature":1,"seed":1"#)
            let second = try server.complete(fields)
            let values = try #require(try logprobs(first)["token_logprobs"] as? [Any])
            #expect(values.count == 302)
            #expect(values.dropFirst().allSatisfy { ($0 as? Double).map { $0 <= 0 } ?? false })
            #expect(
                (try logprobs(second)["token_logprobs"] as? [Any])?.dropFirst().compactMap {
                    $0 as? Double
                } == values.dropFirst().compactMap { $0 as? Double })
            #expect(plain.choices.first?["finish_reason"] as? String == "length")
            #expect(first.texts[0].hasSuffix(plain.texts[0]))
            // It may have been stored by others, and is computed nevertheless.
            #expect(second.cachedTokens == 0)
        }
    }

    @Test("text_offset is where a token stands in the text, whole and in a stream")
    func offsets() throws {
        try ServeCase.run { server in
            // Each of the last three characters is cut into its bytes.
            let prompt = "the in\u{E9}\u{20AC}\u{1F600}"
            let fields =
                #""prompt":"\#(prompt)","max_tokens":6,"temperature":1,"seed":4,"ignore_eos":true,"echo":true,"#
                + #""logprobs":0"#
            let whole = try server.complete(fields)
            let offsets = try #require(try logprobs(whole)["text_offset"] as? [Int])
            let asked = try #require(whole.usage["prompt_tokens"] as? Int)
            #expect(offsets.count == asked + 6)
            #expect(offsets[0] == 0 && offsets == offsets.sorted())
            #expect(offsets[..<asked].suffix(9) == [6, 6, 7, 7, 7, 8, 8, 8, 8])
            #expect(offsets[asked] == prompt.unicodeScalars.count)
            let chunks = try #require(try server.stream("/v1/completions", fields))
            let streamed = chunks.flatMap { chunk -> [Int] in
                let choice = (chunk["choices"] as? [[String: Any]])?.first
                return (choice?["logprobs"] as? [String: Any])?["text_offset"] as? [Int] ?? []
            }
            #expect(streamed == offsets)
        }
    }

    @Test("a chat tells its tokens' log-probabilities, whole and in a stream")
    func chat() throws {
        try ServeCase.run { server in
            let fields =
                #""messages":[{"role":"user","content":"the in"}],"max_tokens":6,"temperature":1,"seed":4,"#
                + #""logprobs":true,"top_logprobs":2"#
            let whole = try server.chat(fields)
            let content = try #require(try logprobs(whole)["content"] as? [[String: Any]])
            #expect(content.count == whole.usage["completion_tokens"] as? Int)
            for entry in content {
                let top = try #require(entry["top_logprobs"] as? [[String: Any]])
                #expect(top.count == 2)
                #expect((entry["logprob"] as? Double ?? 1) <= 0)
                #expect(
                    (top[0]["logprob"] as? Double ?? -1) >= (top[1]["logprob"] as? Double ?? 0))
            }
            let chunks = try #require(try server.stream("/v1/chat/completions", fields))
            let streamed = chunks.flatMap { chunk -> [[String: Any]] in
                let choice = (chunk["choices"] as? [[String: Any]])?.first
                return (choice?["logprobs"] as? [String: Any])?["content"] as? [[String: Any]]
                    ?? []
            }
            #expect(
                streamed.compactMap { $0["logprob"] as? Double }
                    == content.compactMap { $0["logprob"] as? Double })
        }
    }

    @Test("a token where a form left no choice is the likeliest of its place")
    func forced() throws {
        try ServeCase.run { server in
            let fields =
                #""messages":[{"role":"user","content":"the in"}],"max_tokens":40,"seed":4,"#
                + #""logprobs":true,"top_logprobs":2,"response_format":{"type":"json_schema","#
                + #""json_schema":{"name":"x","schema":{"type":"object","properties":"#
                + #"{"name":{"type":"string","maxLength":4}},"required":["name"]}}}"#
            let content = try #require(
                try logprobs(try server.chat(fields))["content"] as? [[String: Any]])
            let forced = content.filter { $0["logprob"] as? Double == 0 }
            #expect(!forced.isEmpty)
            for entry in forced {
                let top = try #require(entry["top_logprobs"] as? [[String: Any]])
                #expect(top.map { $0["token"] as? String } == [entry["token"] as? String])
            }
        }
    }
}
