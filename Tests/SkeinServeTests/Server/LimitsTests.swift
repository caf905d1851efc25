import Foundation
import SkeinInference
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// What is refused, and how.
@Suite struct LimitsTests {
    @Test("bad requests get 400 and name the field; nothing is computed for them")
    func refused() throws {
        try ServeCase.run { server in
            let user = #""messages":[{"role":"user","content":"a"}]"#
            let tool =
                #"{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}"#
            let chats: [(fields: String, param: String?)] = [
                (#""messages":[]"#, "messages"), (#""x":1"#, "messages"),
                (#""messages":[1]"#, "messages[0]"),
                (#""messages":[{"role":"king","content":"a"}]"#, "messages[0].role"),
                (#""messages":[{"role":"user"}]"#, "messages[0].content"),
                (
                    #""messages":[{"role":"user","content":[{"type":"image_url"}]}]"#,
                    "messages[0].content[0]"
                ),
                (user + #","temperature":-1"#, "temperature"),
                (user + #","temperature":"hot""#, "temperature"),
                (user + #","temperature":1e999"#, "temperature"),
                (user + #","top_p":1.5"#, "top_p"), (user + #","n":0"#, "n"),
                (user + #","top_logprobs":2"#, "top_logprobs"),
                (user + #","top_logprobs":2,"logprobs":false"#, "top_logprobs"),
                (user + #","top_logprobs":21,"logprobs":true"#, "top_logprobs"),
                (user + #","n":65"#, "n"), (user + #","max_tokens":-2"#, "max_tokens"),
                (user + #","stop":"""#, "stop"),
                (
                    user
                        + #","stop":[\#(Array(repeating: #""a""#, count: 17).joined(separator: ","))]"#,
                    "stop"
                ),
                (user + #","logit_bias":{"a":1}"#, "logit_bias"),
                (user + #","logit_bias":{"1":101}"#, "logit_bias"),
                (user + #","logit_bias":{"+1":1}"#, "logit_bias"),
                (user + #","logit_bias":{"2147483647":1}"#, "logit_bias"),
                (user + #","stop_token_ids":[2147483647]"#, "stop_token_ids"),
                (
                    user + #","chat_template_kwargs":{"add_generation_prompt":false}"#,
                    "chat_template_kwargs"
                ),
                (user + #","seed":1.5"#, "seed"),
                (user + #","response_format":{"type":"xml"}"#, "response_format.type"),
                (
                    user + #","response_format":{"type":"json_schema"}"#,
                    "response_format.json_schema.schema"
                ),
                (
                    user
                        + #","response_format":{"type":"json_schema","json_schema":{"strict":true,"schema":{"not":{}}}}"#,
                    "response_format.json_schema.schema"
                ),
                (user + #","guided_regex":"(""#, "guided_regex"),
                (user + #","tools":[\#(tool),\#(tool)]"#, "tools[1].function.name"),
                (user + #","tool_choice":"required""#, "tool_choice"),
                (
                    user + #","tools":[\#(tool)],"tool_choice":"required","max_tokens":3"#,
                    "max_completion_tokens"
                ),
            ]
            for (fields, param) in chats {
                let answer = try server.chat(fields)
                #expect(answer.status == 400, "\(fields): \(answer.text)")
                #expect(answer.error["param"] as? String == param, "\(fields): \(answer.text)")
                #expect(answer.error["type"] as? String == "invalid_request_error")
                #expect((answer.error["message"] as? String ?? "").count > 10)
            }
            let completions: [(String, String?)] = [
                (#""prompt":[]"#, "prompt"), (#""prompt":"""#, "prompt"),
                (#""prompt":[[]]"#, "prompt"), (#""prompt":[1,"a"]"#, "prompt"),
                (#""prompt":[-1]"#, "prompt"), (#""prompt":[99999999]"#, "prompt"),
                (#""prompt":[99999999],"echo":true"#, "prompt"),
                (#""prompt":"a","best_of":2"#, "best_of"),
                (#""prompt":"a","suffix":"b""#, "suffix"),
                (#""prompt":"a","logprobs":21"#, "logprobs"),
                (#""prompt":"a","guided_choice":[]"#, "guided_choice"),
                (
                    #""prompt":"a","guided_json":{"type":"string","minLength":50},"max_tokens":8"#,
                    "guided_json"
                ),
            ]
            for (fields, param) in completions {
                let answer = try server.complete(fields)
                #expect(answer.status == 400, "\(fields): \(answer.text)")
                #expect(answer.error["param"] as? String == param, "\(fields): \(answer.text)")
            }
            #expect(server.computedTokens == 0)
        }
    }

    @Test("bodies that are no JSON, too deep or too long are refused")
    func bodies() throws {
        try ServeCase.run { server in
            let deep = String(repeating: "[", count: 10_000)
            for body in [
                "{", "", "[]", "\"a\"", "nul", #"{"prompt":"a",}"#, #"{"temperature":NaN}"#,
                #"{"prompt":"\#(deep)"#, #"{"prompt":\#(deep)"#, "{\"prompt\":\"\u{0}\"}",
            ] {
                let answer = try server.ask("POST", "/v1/completions", body)
                #expect(answer.status == 400, "\(body.prefix(40)): \(answer.text)")
                #expect(answer.error["code"] as? String == "invalid_json")
            }
            let client = try server.client()
            try client.send(
                "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Length: 1073741824\r\n\r\n")
            let tooLong = try #require(try client.response())
            #expect(tooLong.status == 413)
            #expect(tooLong.text.contains(#""type":"invalid_request_error""#))
            let packed = try server.ask(
                "POST", "/v1/completions", "x", headers: ["Content-Encoding: gzip"])
            #expect(packed.status == 415 && packed.text.contains("uncompressed"))
            #expect(packed.error["type"] as? String == "invalid_request_error")
        }
    }

    @Test(
        "a prompt longer than the context tells the count and the limit, before anything is computed"
    )
    func context() throws {
        try ServeCase.run {
            $0.context = 64
        } with: { server in
            let answer = try server.complete(
                #""prompt":\#(Array(repeating: 40, count: 65))"#)
            #expect(answer.status == 400)
            #expect(answer.error["code"] as? String == "context_length_exceeded")
            let message = answer.error["message"] as? String ?? ""
            #expect(message.contains("65") && message.contains("64"))
            let long = try server.complete(
                #""prompt":"\#(String(repeating: "the ", count: 100_000))""#)
            #expect(long.error["code"] as? String == "context_length_exceeded")
            #expect(server.computedTokens == 0)
            // One that fits gets what room is left.
            let cut = try server.complete(
                #""prompt":\#(Array(repeating: 40, count: 60)),"max_tokens":50,"ignore_eos":true"#)
            #expect(cut.usage["completion_tokens"] as? Int == 4)
            #expect(cut.finish == "length")
        }
    }

    @Test("an unknown model is 404 and says which there are; other paths and methods are told")
    func paths() throws {
        try ServeCase.run { server in
            let unknown = try server.complete(#""model":"gpt-5","prompt":"a""#)
            #expect(unknown.status == 404)
            #expect(unknown.error["code"] as? String == "model_not_found")
            #expect((unknown.error["message"] as? String ?? "").contains("tiny"))
            #expect(unknown.error["type"] as? String == "invalid_request_error")
            #expect(unknown.error["param"] as? String == "model")
            for (method, path, body, status) in [
                ("GET", "/v1/chat/completions", "", 405), ("POST", "/v1/models", "{}", 405),
                ("GET", "/v2", "", 404), ("POST", "/v1/embeddings", "{}", 404),
                ("GET", "/v1/models/none", "", 404), ("GET", "/v1/models/tiny", "", 200),
                ("GET", "/health", "", 200), ("GET", "/", "", 200),
                ("HEAD", "/health", "", 200),
                ("POST", "/v1/load_lora_adapter", #"{"lora_name":"a","lora_path":"/etc"}"#, 403),
            ] {
                let answer = try server.ask(method, path, body)
                #expect(answer.status == status, "\(method) \(path): \(answer.text)")
                guard status >= 400 else { continue }
                // OpenAI's four fields, and its one type for all that clients can mend.
                #expect(
                    Set(answer.error.keys) == ["message", "type", "param", "code"],
                    "\(method) \(path): \(answer.text)")
                #expect(answer.error["type"] as? String == "invalid_request_error")
                #expect(answer.error["code"] is String)
            }
        }
    }

    @Test("more requests than may wait are refused with 429 and Retry-After, and none is lost")
    func flood() throws {
        try ServeCase.run {
            $0.parallel = 1
            $0.queue = 2
            $0.context = 100_000
        } with: { server in
            // One that goes on until its client leaves, and two that wait.
            let long = "{\"stream\":true,\(ServeCase.endless)}"
            var waiting: [HTTPClient] = []
            for _ in 0..<3 {
                let client = try server.client()
                try server.send("POST", "/v1/completions", long, to: client)
                waiting.append(client)
            }
            try server.wait(for: ["requests_open": 3, "answers_waiting": 2])
            let refused = try server.complete(#""prompt":"a""#)
            #expect(refused.status == 429)
            #expect(refused.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
            #expect(refused.error["type"] as? String == "requests")
            #expect(refused.error["code"] as? String == "rate_limit_exceeded")
            #expect((refused.error["message"] as? String ?? "").hasPrefix("3 requests are being"))
            waiting = []
            try server.wait(for: ["requests_open": 0])
            let after = try server.complete(#""prompt":"a","max_tokens":2"#)
            #expect(after.status == 200, "\(after.text)")
        }
    }

    @Test("a failed answer takes no other's place")
    func failures() throws {
        // Room for one short row alone.
        try ServeCase.run {
            $0.cacheBytes = 200_000
            $0.answerTokens = 16
        } with: { server in
            let good = try server.client()
            try server.send(
                "POST", "/v1/completions",
                #"{"prompt":"the in","max_tokens":8,"temperature":1,"seed":1}"#,
                to: good)
            let bad = try server.complete(
                #""prompt":["a","b","c"],"max_tokens":500,"ignore_eos":true"#)
            #expect(bad.status == 400)
            #expect(bad.error["param"] as? String == "max_tokens")
            #expect(try #require(try good.response()).status == 200)
            #expect(try server.leftovers() == [])
            #expect(try server.complete(#""prompt":"a","max_tokens":60"#).status == 200)
        }
    }

    @Test("the work of a client that leaves ends, also that of one who still waits")
    func leaving() throws {
        try ServeCase.run {
            $0.parallel = 1
            $0.context = 100_000
        } with: { server in
            do {
                let first = try server.client()
                let second = try server.client()
                let long = "{\"stream\":true,\(ServeCase.endless)}"
                try server.send("POST", "/v1/completions", long, to: first)
                _ = try first.event()
                try server.send("POST", "/v1/completions", long, to: second)
                try server.wait(for: ["answers_waiting": 1])
            }
            try server.wait(for: ["requests_open": 0, "answers_running": 0, "answers_waiting": 0])
            #expect(try server.metric("skein_serve_requests_abandoned_total") == 2)
            // Far from all tokens were computed.
            #expect(server.computedTokens < 90_000)
        }
    }

    @Test("others who hang up do not stop the one answer that is under way")
    func hangUps() throws {
        try ServeCase.run {
            $0.prefixBytes = 0
            // A wrong guess would be computed, too.
            $0.guesses = false
        } with: { server in
            let client = try server.client()
            try server.send(
                "POST", "/v1/completions",
                #"{"prompt":\#(Array(repeating: 40, count: 400)),"max_tokens":60,"ignore_eos":true}"#,
                to: client)
            for _ in 0..<100 {
                let other = try server.client()
                try server.send("POST", "/tokenize", #"{"prompt":"a"}"#, to: other)
            }
            let answer = try #require(try client.response())
            #expect(answer.status == 200)
            // Each token once: 400 of the prompt, and 59 that were read to pick the next.
            #expect(server.computedTokens == 459)
            try server.wait(for: ["requests_open": 0])
        }
    }

    @Test("log-probabilities beyond a limit are refused, and those of long prompts in a stream")
    func logprobs() throws {
        try ServeCase.run { server in
            let many = try server.complete(
                #""prompt":\#(Array(repeating: "a", count: 200)),"n":5,"max_tokens":50,"logprobs":20"#
            )
            #expect(many.status == 400 && many.error["param"] as? String == "logprobs")
            let streamed = try server.complete(
                #""prompt":\#(Array(repeating: 40, count: 300)),"echo":true,"max_tokens":1,"#
                    + #""logprobs":20,"stream":true"#)
            #expect(streamed.status == 400 && streamed.error["param"] as? String == "stream")
            let chat =
                #""messages":[{"role":"user","content":"a"}],"n":64,"max_tokens":100,"#
                + #""logprobs":true,"top_logprobs":20,"ignore_eos":true"#
            let choices = try server.chat(chat)
            #expect(choices.status == 400 && choices.error["param"] as? String == "logprobs")
            #expect(server.computedTokens == 0)
            // Nothing of a stream is kept until its end.
            let client = try server.client()
            try server.send(
                "POST", "/v1/chat/completions", "{\"stream\":true,\(chat)}", to: client)
            #expect(try client.event()?.contains("chat.completion.chunk") == true)
        }
    }

    @Test("where one of several answers fails, the others end with it, and the place is free again")
    func oneOfSeveral() throws {
        // Room for short rows alone; one after another.
        try ServeCase.run {
            $0.cacheBytes = 200_000
            $0.answerTokens = 16
            $0.parallel = 1
        } with: { server in
            let long = Array(repeating: 40, count: 490)
            let fields = #""prompt":[[40],[41],\#(long),[42]],"max_tokens":8,"ignore_eos":true"#
            let whole = try server.complete(fields)
            #expect(whole.status == 400)
            #expect(whole.error["param"] as? String == "max_tokens")
            #expect(whole.choices.isEmpty)
            let made = server.computedTokens
            #expect(made > 0 && made < 100)

            let client = try server.client()
            try server.send("POST", "/v1/completions", "{\"stream\":true,\(fields)}", to: client)
            var events: [String] = []
            while let event = try client.event() { events.append(event) }
            // Those before it have begun to be told; the error comes in the stream.
            #expect(events.count > 2)
            #expect(events.last == "data: [DONE]")
            let error = events.dropLast().last ?? ""
            #expect(error.contains(#""param":"max_tokens""#), "\(error)")
            #expect(events.dropLast(2).allSatisfy { !$0.contains(#""index":3"#) })
            #expect(try server.leftovers() == [])
            #expect(try server.complete(#""prompt":[40],"max_tokens":8"#).status == 200)
        }
    }
}
