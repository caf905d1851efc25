import Foundation
import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinModels
import SkeinTensors
import SkeinTestSupport
import SkeinText
import Testing

@testable import SkeinServe

/// What clients get, against the same model used directly.
@Suite struct AnswersTests {
    /// What `Generator` says, alone.
    private func direct(
        _ server: ServeCase, _ prompt: String, _ sampler: Sampler, tokens: Int, isChat: Bool,
        compute: ComputeType = .fp32
    ) throws -> String {
        let tokenizer = try Tokenizer(model: server.model.raw)
        let team = ComputeTeam(threadCount: 1)
        let text =
            isChat
            ? try ChatTemplate(source: TinyVocabulary.chatTemplate, name: "chat").render(
                [ChatMessage(role: "user", content: prompt)], addGenerationPrompt: true,
                tokens: tokenizer.templateTokens
            ).text : prompt
        let ids = try isChat ? tokenizer.ids(of: text) : tokenizer.ids(ofWhole: text)
        let session = DecoderSession(
            weights: try GenerationWeights(model: server.model, compute: compute, team: team),
            adapter: nil, capacity: ids.count + tokens, team: team, compute: compute)
        let generator = Generator(
            session: session, sampler: sampler, stopTokens: tokenizer.endOfTurnIDs,
            tokenCount: tokenizer.vocabularySize)
        var said: [Int32] = []
        try generator.run(
            prompt: ids, maximumTokens: tokens, check: DecoderSession.uninterrupted
        ) {
            said.append($0)
            return true
        }
        return tokenizer.decode(said, skippingSpecialTokens: true)
    }

    @Test("prompts are read in the server's --compute", arguments: [ComputeType.bf16, .int8])
    func computes(compute: ComputeType) throws {
        try ServeCase.run {
            $0.host.compute = compute
        } with: { server in
            let sampler = Sampler(temperature: 1, seed: 7)
            let chat = try server.chat(
                #""messages":[{"role":"user","content":"the in"}],"max_tokens":24,"temperature":1,"seed":7"#
            )
            #expect(
                chat.content
                    == (try direct(
                        server, "the in", sampler, tokens: 24, isChat: true, compute: compute)))
        }
    }

    @Test("an answer is what the model says alone, greedy and sampled, chat and completion")
    func same() throws {
        try ServeCase.run { server in
            for (fields, sampler) in [
                (#""temperature":0"#, Sampler()),
                (#""temperature":1,"seed":7"#, Sampler(temperature: 1, seed: 7)),
                (
                    #""temperature":0.7,"top_k":20,"top_p":0.9,"min_p":0.01,"seed":11"#,
                    Sampler(temperature: 0.7, topK: 20, topP: 0.9, minP: 0.01, seed: 11)
                ),
                (
                    #""temperature":1,"repetition_penalty":1e-40,"seed":5"#,
                    Sampler(
                        temperature: 1,
                        penalties: TokenPenalties(repetition: Float(1e-40 as Double)),
                        seed: 5)
                ),
                (
                    #""temperature":1,"presence_penalty":0.5,"frequency_penalty":0.25,"seed":3"#,
                    Sampler(
                        temperature: 1,
                        penalties: TokenPenalties(presence: 0.5, frequency: 0.25), seed: 3)
                ),
            ] {
                let chat = try server.chat(
                    #""messages":[{"role":"user","content":"the in"}],"max_tokens":24,\#(fields)"#)
                #expect(
                    chat.content
                        == (try direct(server, "the in", sampler, tokens: 24, isChat: true)))
                let plain = try server.complete(
                    #""prompt":"and of the","max_tokens":24,\#(fields)"#)
                #expect(
                    plain.texts == [
                        try direct(server, "and of the", sampler, tokens: 24, isChat: false)
                    ])
            }
        }
    }

    @Test("a stream's pieces are the whole answer, and its last chunks say how it ended")
    func streams() throws {
        try ServeCase.run { server in
            let fields =
                #""messages":[{"role":"user","content":"the in"}],"max_tokens":20,"temperature":1,"seed":5"#
            let whole = try server.chat(fields)
            let chunks = try #require(
                try server.stream(
                    "/v1/chat/completions", fields + #","stream_options":{"include_usage":true}"#))
            let deltas = chunks.compactMap {
                ($0["choices"] as? [[String: Any]])?.first?["delta"] as? [String: Any]
            }
            #expect(deltas.first?["role"] as? String == "assistant")
            #expect(deltas.compactMap { $0["content"] as? String }.joined() == whole.content)
            #expect(
                chunks.compactMap {
                    ($0["choices"] as? [[String: Any]])?.first?["finish_reason"] as? String
                } == [whole.finish])
            let usage = try #require(chunks.last?["usage"] as? [String: Any])
            #expect(usage["completion_tokens"] as? Int == whole.usage["completion_tokens"] as? Int)
            #expect((chunks.last?["choices"] as? [Any])?.isEmpty == true)
            #expect(Set(chunks.compactMap { $0["id"] as? String }).count == 1)
            let texts = try #require(
                try server.stream(
                    "/v1/completions", #""prompt":"the","max_tokens":9,"temperature":1,"seed":2"#))
            let plain = try server.complete(
                #""prompt":"the","max_tokens":9,"temperature":1,"seed":2"#)
            #expect(
                texts.compactMap {
                    ($0["choices"] as? [[String: Any]])?.first?["text"] as? String
                }.joined() == plain.texts[0])
        }
    }

    @Test("n answers have seeds of their own, and prompts of a list their places")
    func many() throws {
        try ServeCase.run { server in
            let both = try server.complete(
                #""prompt":["the in","of and"],"n":3,"max_tokens":12,"temperature":1,"seed":9"#)
            #expect(both.choices.compactMap { $0["index"] as? Int } == Array(0..<6))
            var alone: [String] = []
            for prompt in ["the in", "of and"] {
                for seed in 9..<12 {
                    alone += try server.complete(
                        #""prompt":"\#(prompt)","max_tokens":12,"temperature":1,"seed":\#(seed)"#
                    ).texts
                }
            }
            #expect(both.texts == alone)
            #expect(Set(alone).count > 3)
            // A prompt counts once.
            let one = try server.complete(#""prompt":"the in","max_tokens":1"#)
            let other = try server.complete(#""prompt":"of and","max_tokens":1"#)
            #expect(
                both.usage["prompt_tokens"] as? Int
                    == (one.usage["prompt_tokens"] as? Int ?? 0)
                    + (other.usage["prompt_tokens"] as? Int ?? 0))
        }
    }

    @Test("token ids are a prompt, and echo repeats it")
    func tokens() throws {
        try ServeCase.run { server in
            let ids = try #require(
                try server.ask("POST", "/tokenize", #"{"prompt":"the in"}"#).json["tokens"]
                    as? [Int])
            let back = try server.ask("POST", "/detokenize", #"{"tokens":\#(ids)}"#)
            #expect(back.json["prompt"] as? String == "the in")
            let plain = try server.complete(
                #""prompt":"the in","max_tokens":5,"temperature":1,"seed":1"#)
            let same = try server.complete(
                #""prompt":\#(ids),"max_tokens":5,"temperature":1,"seed":1"#)
            #expect(plain.texts == same.texts)
            let echoed = try server.complete(
                #""prompt":\#(ids),"max_tokens":5,"temperature":1,"seed":1,"echo":true"#)
            #expect(echoed.texts == ["the in" + plain.texts[0]])
            let nothing = try server.complete(#""prompt":"the in","max_tokens":0,"echo":true"#)
            #expect(nothing.texts == ["the in"])
            #expect(nothing.finish == "length")
        }
    }

    @Test("stop texts end an answer before them")
    func stops() throws {
        try ServeCase.run { server in
            let whole = try server.complete(#""prompt":"the","max_tokens":40,"temperature":0"#)
                .texts[0]
            let middle = Array(whole)[(whole.count / 2)...].prefix(3)
            let stop = String(middle)
            let end = try #require(whole.range(of: stop)?.lowerBound)
            let body = try JSONSerialization.data(withJSONObject: [
                "prompt": "the", "max_tokens": 40, "temperature": 0, "stop": ["\u{1}", stop],
            ])
            let cut = try server.ask(
                "POST", "/v1/completions", String(decoding: body, as: UTF8.self))
            #expect(cut.texts == [String(whole[..<end])])
            #expect(cut.finish == "stop")
            let chunks = try #require(
                try server.stream(
                    "/v1/completions",
                    String(String(decoding: body, as: UTF8.self).dropFirst().dropLast())))
            #expect(
                chunks.compactMap {
                    ($0["choices"] as? [[String: Any]])?.first?["text"] as? String
                }.joined() == cut.texts[0])
        }
    }

    @Test("a bias forbids a token, and another one forces it")
    func bias() throws {
        try ServeCase.run { server in
            let first = try server.complete(
                #""prompt":"the","max_tokens":1,"temperature":0,"logprobs":0"#)
            let token = try #require(
                try server.ask(
                    "POST", "/tokenize",
                    String(
                        decoding: JSONSerialization.data(
                            withJSONObject: [
                                "prompt": first.texts[0], "add_special_tokens": false,
                            ]), as: UTF8.self)
                ).json["tokens"] as? [Int])
            let other = try server.complete(
                #""prompt":"the","max_tokens":1,"temperature":0,"logit_bias":{"\#(token[0])":-100}"#
            )
            #expect(other.texts != first.texts)
            let forced = try server.complete(
                #""prompt":"the","max_tokens":3,"temperature":2,"logit_bias":{"35":100}"#)
            // Three special tokens, then the bytes from 0 on: it is the space.
            #expect(forced.texts == ["   "])
        }
    }
}
