import Foundation
import SkeinBasics
import SkeinInference
import SkeinJSON
import SkeinTestSupport
import Testing

@testable import SkeinServe

/// Every field of the requests that clients send, and what becomes of it. The names are those of
/// openai 2.x (openai-python of 2026-08-21), vLLM (commit 002032ee) and llama-server (commit 00efb3e1 of
/// llama.cpp).
@Suite struct RequestFieldsTests {
    static let openAIChat = """
        audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
        max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction
        presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention
        reasoning_effort response_format safety_identifier seed service_tier stop store stream
        stream_options temperature tool_choice tools top_logprobs top_p user verbosity
        web_search_options
        """
    static let openAICompletion = """
        best_of echo frequency_penalty logit_bias logprobs max_tokens model n presence_penalty
        prompt seed stop stream stream_options suffix temperature top_p user
        """
    static let vLLM = """
        add_special_tokens allowed_token_ids bad_words cache_salt ec_transfer_params echo
        frequency_penalty guided_choice guided_decoding_backend guided_grammar guided_json
        guided_regex guided_whitespace_pattern ignore_eos include_stop_str_in_output
        kv_transfer_params length_penalty logit_bias logits_processors logprob_token_ids logprobs
        max_tokens min_p min_tokens model n presence_penalty priority prompt_logprobs
        repetition_detection repetition_penalty request_id response_format return_mm_kwargs
        return_token_ids return_token_offsets return_tokens_as_token_ids
        routed_experts_prompt_start seed session_id skip_special_tokens
        spaces_between_special_tokens stop stop_token_ids stream stream_interval stream_options
        structural_tag structured_outputs temperature thinking_token_budget top_k top_p
        truncate_prompt_tokens truncation_side use_beam_search user vllm_xargs watermarking
        """
    static let vLLMChat = """
        add_generation_prompt chat_template chat_template_kwargs continue_final_message documents
        include_reasoning max_completion_tokens media_io_kwargs messages mm_processor_kwargs
        parallel_tool_calls reasoning_effort return_prompt_text tool_choice tools top_logprobs
        """
    static let vLLMCompletion = "prompt prompt_embeds suffix"
    static let llamaServer = """
        adaptive_decay adaptive_target backend_sampling cache_prompt chat_format chat_parser
        dry_allowed_length dry_base dry_multiplier dry_penalty_last_n dry_sequence_breakers
        dynatemp_exponent dynatemp_range frequency_penalty grammar grammar_lazy grammar_triggers
        id_slot ignore_eos image_data input_extra input_prefix input_suffix json_schema logit_bias
        logprobs lora max_tokens min_keep min_p mirostat mirostat_eta mirostat_tau n
        n_cache_reuse n_cmpl n_discard n_indent n_keep n_predict n_probs parse_tool_calls
        penalize_nl post_sampling_probs presence_penalty preserved_tokens
        reasoning_budget_arm_immediately reasoning_budget_end_tag reasoning_budget_message
        reasoning_budget_start_tag reasoning_budget_tokens reasoning_format reasoning_in_content
        repeat_last_n repeat_penalty response_fields return_progress return_tokens samplers seed
        speculative.n_max speculative.n_min speculative.ngram_m_hits speculative.ngram_size_m
        speculative.ngram_size_n speculative.p_min speculative.type stop stream stream_options
        system_prompt t_max_predict_ms t_max_prompt_ms temperature thinking_forced_open
        timings_per_token top_k top_n_sigma top_p typical_p xtc_probability xtc_threshold
        """

    private static func names(_ lists: String...) -> [String] {
        Set(lists.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }).sorted()
    }
    static let chatNames = names(openAIChat, vLLM, vLLMChat, llamaServer)
    static let completionNames = names(openAICompletion, vLLM, vLLMCompletion, llamaServer)

    @Test("every field that OpenAI, vLLM and llama-server take has a fate")
    func complete() {
        for name in Self.chatNames {
            #expect(RequestFields.fate(of: name, in: .chat) != nil, "chat: \(name)")
        }
        for name in Self.completionNames {
            #expect(RequestFields.fate(of: name, in: .completion) != nil, "completion: \(name)")
        }
    }

    /// A value that no field means when it is left out.
    private static let odd = #"{"odd":[7.25]}"#

    @Test("a field that cannot be heeded is refused by name, and one that changes nothing passes")
    func fates() throws {
        try ServeCase.run { server in
            let ends = #""max_tokens":2,"temperature":0,"ignore_eos":true"#
            let chat = #""messages":[{"role":"user","content":"a"}],"# + ends
            let plain = try server.chat(chat).content
            let completion = #""prompt":"a","# + ends
            let text = try server.complete(completion).texts
            var refused = 0
            for (kind, names) in [
                (RequestFields.Kind.chat, Self.chatNames), (.completion, Self.completionNames),
            ] {
                for name in names {
                    func ask(_ value: String) throws -> ServeCase.Answer {
                        kind == .chat
                            ? try server.chat(chat + #","\#(name)":\#(value)"#)
                            : try server.complete(completion + #","\#(name)":\#(value)"#)
                    }
                    switch RequestFields.fate(of: name, in: kind) {
                    case .taken?, nil: continue
                    case .ignored?:
                        let answer = try ask(Self.odd)
                        #expect(answer.status == 200, "\(name): \(answer.text)")
                        #expect(
                            kind == .chat ? answer.content == plain : answer.texts == text,
                            "\(name)")
                    case .refused(let neutral, _)?:
                        refused += 1
                        let answer = try ask(Self.odd)
                        #expect(answer.status == 400, "\(name): \(answer.text)")
                        #expect(answer.error["param"] as? String == name, "\(answer.text)")
                        #expect(answer.error["code"] as? String == "unsupported")
                        for value in neutral + [.null] {
                            let passed = try ask(value.written)
                            #expect(
                                passed.status == 200, "\(name) \(value.written): \(passed.text)")
                            #expect(kind == .chat ? passed.content == plain : passed.texts == text)
                        }
                    }
                }
            }
            #expect(refused > 100)
            // A number is what it is, however it is spelled; what no server knows is passed over.
            #expect(
                try server.chat(chat + #","repeat_penalty":1.0,"min_tokens":0.0"#).status == 200)
            #expect(try server.chat(chat + #","a_new_field":1"#).content == plain)
        }
    }

    @Test("a limit of -1 tokens is as many as fit, and the newest name of the limit counts")
    func limits() throws {
        try ServeCase.run {
            $0.context = 64
            $0.answerTokens = 3
        } with: { server in
            func count(_ fields: String) throws -> Int {
                let answer = try server.complete(
                    #""prompt":[40,41,42,43],"ignore_eos":true,\#(fields)"#)
                return answer.usage["completion_tokens"] as? Int ?? -1
            }
            #expect(try count(#""seed":1"#) == 3)
            #expect(try count(#""max_tokens":-1"#) == 60)
            #expect(try count(#""n_predict":-1"#) == 60)
            #expect(try count(#""n_predict":5"#) == 5)
            #expect(try count(#""max_tokens":4,"n_predict":5"#) == 4)
            #expect(try count(#""max_completion_tokens":2,"max_tokens":4"#) == 2)
            let answer = try server.complete(#""prompt":"a","max_tokens":-2"#)
            #expect(answer.status == 400 && answer.error["param"] as? String == "max_tokens")
        }
    }

    @Test(
        "penalties that look back over a window are refused, and a window without penalties is not")
    func windows() throws {
        try ServeCase.run { server in
            let prompt = #""prompt":"a","max_tokens":1"#
            #expect(try server.complete(prompt + #","repeat_last_n":64"#).status == 200)
            let last = #","frequency_penalty":0.5,"repeat_last_n":"#
            #expect(try server.complete(prompt + last + "-1").status == 200)
            let answer = try server.complete(prompt + last + "64")
            #expect(answer.status == 400)
            #expect(answer.error["param"] as? String == "repeat_last_n")
        }
    }

    @Test("an answer ends before a token that the request names, also where ends are ignored")
    func stopTokens() throws {
        try ServeCase.run { server in
            let prompt =
                #""prompt":"the","max_tokens":12,"seed":5,"temperature":1,"ignore_eos":true"#
            let whole = try server.complete(prompt + #","logprobs":0"#)
            let tokens = try #require(
                (whole.choices.first?["logprobs"] as? [String: Any])?["tokens"] as? [String])
            // A token of the answer that did not come before, and that is text.
            let place = try #require(
                tokens.indices.dropFirst().first { index in
                    !tokens[..<index].contains(tokens[index]) && !tokens[index].hasPrefix("bytes:")
                })
            let text = tokens[place]
            let ids = try server.ask(
                "POST", "/tokenize",
                #"{"prompt":\#(JSONValue.quoted(text)),"add_special_tokens":false}"#)
            let id = try #require((ids.json["tokens"] as? [Int])?.first)
            let cut = try server.complete(prompt + #","stop_token_ids":[\#(id)]"#)
            #expect(whole.texts[0].hasPrefix(cut.texts[0]))
            #expect(cut.finish == "stop")
            #expect(cut.usage["completion_tokens"] as? Int == place)
            for value in ["7", "[-1]", #"["a"]"#, "[1.5]"] {
                let answer = try server.complete(prompt + #","stop_token_ids":\#(value)"#)
                #expect(answer.status == 400, "\(value)")
                #expect(answer.error["param"] as? String == "stop_token_ids")
            }
        }
    }
}
