import SkeinJSON

/// What becomes of each field of the requests that clients send: OpenAI's, vLLM's and llama-server's.
///
/// No field that would change an answer is passed over. One that cannot be heeded is refused, unless its
/// value asks for what is done anyway. A field that no server knows is ignored, as other servers do.
enum RequestFields {
    enum Fate: Equatable {
        /// It is read, by the code for its kind of request.
        case taken
        /// It changes no answer: it names, stores, bills or hurries a request, or it only sets how
        /// another field works, which is refused.
        case ignored
        /// It is refused unless its value is one of these; then `remedy` says what to do instead.
        case refused(unless: [JSONValue], remedy: String)
    }

    /// A kind of request.
    enum Kind {
        case chat
        case completion
    }

    /// What becomes of a field; nil: no server knows it.
    static func fate(of name: String, in kind: Kind) -> Fate? {
        switch kind {
        case .chat: chat[name] ?? common[name]
        case .completion: completion[name] ?? common[name]
        }
    }

    /// Refuses a request with a field that cannot be heeded.
    ///
    /// - Throws: an error with the field's name, such as `bad_words`.
    static func check(_ fields: FieldReader, _ kind: Kind) throws(APIError) {
        for (name, value) in fields.given {
            guard case .refused(let neutral, let remedy)? = fate(of: name, in: kind),
                !neutral.contains(where: { isSame($0, value) })
            else { continue }
            throw .invalid(name, "\(name) is not supported: \(remedy)", code: "unsupported")
        }
    }

    /// `1` and `1.0` are one number, and an empty object or list is as good as another.
    private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        if let left = left.double, let right = right.double { return left == right }
        return left == right
    }

    private static let leaveOut = "leave it out"

    private static func refused(
        _ remedy: String = leaveOut, unless neutral: JSONValue...
    ) -> Fate {
        .refused(unless: neutral, remedy: remedy)
    }

    private static let zero = JSONValue.number("0")
    private static let one = JSONValue.number("1")
    private static let none = JSONValue.number("-1")
    private static let no = JSONValue.bool(false)
    private static let yes = JSONValue.bool(true)
    private static let empty = JSONValue.text("")
    private static let noItems = JSONValue.list([])

    // MARK: Both kinds

    private static let common: [String: Fate] =
        taken.merging(ignored) { $1 }.merging(sampling) { $1 }.merging(output) { $1 }

    private static let taken: [String: Fate] = Dictionary(
        uniqueKeysWithValues: [
            // OpenAI
            "model", "frequency_penalty", "logit_bias", "logprobs", "max_tokens", "n",
            "presence_penalty", "response_format", "seed", "stop", "stream", "stream_options",
            "temperature", "top_p",
            // vLLM
            "top_k", "min_p", "repetition_penalty", "stop_token_ids", "ignore_eos", "echo",
            "add_special_tokens", "structured_outputs", "guided_json", "guided_regex",
            "guided_choice",
            // llama-server
            "json_schema", "n_predict",
        ].map { ($0, .taken) })

    private static let ignored: [String: Fate] = Dictionary(
        uniqueKeysWithValues: [
            // OpenAI
            "metadata", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
            "safety_identifier", "service_tier", "store", "user",
            // A guess of the answer, which makes it come faster.
            "prediction",
            // vLLM
            "guided_decoding_backend", "media_io_kwargs", "mm_processor_kwargs", "priority",
            "request_id", "return_mm_kwargs", "routed_experts_prompt_start", "session_id",
            "stream_interval",
            // Only with `truncate_prompt_tokens`.
            "truncation_side",
            // llama-server: how a context that runs full is shifted; here an answer ends before.
            "n_discard", "n_keep",
            "backend_sampling", "cache_prompt", "id_slot", "n_cache_reuse", "return_progress",
            "speculative.n_max", "speculative.n_min", "speculative.ngram_m_hits",
            "speculative.ngram_size_m", "speculative.ngram_size_n", "speculative.p_min",
            "speculative.type", "timings_per_token",
            // These set how a sampler works that is refused.
            "adaptive_decay", "dry_allowed_length", "dry_base", "dry_penalty_last_n",
            "dry_sequence_breakers", "dynatemp_exponent", "mirostat_eta", "mirostat_tau",
            "reasoning_budget_arm_immediately", "reasoning_budget_end_tag",
            "reasoning_budget_message", "reasoning_budget_start_tag", "xtc_threshold",
        ].map { ($0, .ignored) })

    /// What picks tokens otherwise.
    private static let sampling: [String: Fate] = [
        // vLLM
        "allowed_token_ids": refused("use guided_choice or guided_regex"),
        "bad_words": refused("use logit_bias with the words' tokens", unless: noItems),
        "best_of": .taken,
        "cache_salt": refused("start skein serve with --prefix-memory 0"),
        "ec_transfer_params": refused(),
        "guided_grammar": refused("use guided_regex or guided_json"),
        "guided_whitespace_pattern": refused("values have at most one space after : and ,"),
        "kv_transfer_params": refused(),
        "length_penalty": refused("it belongs to beam search", unless: one),
        "logits_processors": refused(unless: noItems),
        "min_tokens": refused("use ignore_eos with max_tokens", unless: zero),
        "prompt_embeds": refused("send prompt"),
        "repetition_detection": refused("use repetition_penalty"),
        "structural_tag": refused("use response_format or tools"),
        "thinking_token_budget": refused("use max_tokens", unless: none),
        "truncate_prompt_tokens": refused("send a shorter prompt"),
        "use_beam_search": refused("use temperature 0", unless: no),
        "vllm_xargs": refused(unless: .object([])),
        "watermarking": refused(unless: no),
        // llama-server
        "adaptive_target": refused("use temperature", unless: none),
        "dry_multiplier": refused("use repetition_penalty", unless: zero),
        "dynatemp_range": refused("use temperature", unless: zero),
        "grammar": refused("use json_schema or guided_regex", unless: empty),
        "grammar_lazy": refused("use tools", unless: no),
        "grammar_triggers": refused("use tools", unless: noItems),
        "image_data": refused("only text can be read here", unless: noItems),
        "input_extra": refused(unless: noItems),
        "input_prefix": refused("send prompt", unless: empty),
        "input_suffix": refused("send prompt", unless: empty),
        "lora": refused("name an adapter in model", unless: noItems),
        "min_keep": refused(unless: zero),
        "mirostat": refused("use temperature and top_p", unless: zero),
        "n_indent": refused(unless: zero),
        "penalize_nl": refused(unless: no),
        "reasoning_budget_tokens": refused("use max_tokens", unless: none),
        "repeat_penalty": refused(
            "use repetition_penalty, which counts the whole prompt and answer", unless: one),
        // Penalties count the whole prompt and answer.
        "repeat_last_n": .taken,
        "samplers": refused("use temperature, top_k, top_p and min_p"),
        "system_prompt": refused("send it with the prompt", unless: empty),
        "t_max_predict_ms": refused("use max_tokens", unless: zero, none),
        "t_max_prompt_ms": refused("send a shorter prompt", unless: zero, none),
        "top_n_sigma": refused("use min_p", unless: zero, none),
        "typical_p": refused("use top_p", unless: one),
        "xtc_probability": refused("use temperature", unless: zero),
    ]

    /// What asks for more than the answer, or for the answer in another form.
    private static let output: [String: Fate] = [
        // vLLM
        "include_stop_str_in_output": refused(unless: no),
        "logprob_token_ids": refused("use top_logprobs"),
        "prompt_logprobs": refused("use /v1/completions with echo and logprobs"),
        "return_prompt_text": refused("use /tokenize and /detokenize", unless: no),
        "return_token_ids": refused("use /tokenize", unless: no),
        "return_token_offsets": refused("use logprobs of /v1/completions", unless: no),
        "return_tokens_as_token_ids": refused("use /tokenize", unless: no),
        "skip_special_tokens": refused("special tokens are no text here", unless: yes),
        "spaces_between_special_tokens": refused(unless: yes),
        // llama-server
        "chat_format": refused(),
        "chat_parser": refused(),
        "n_cmpl": refused("use n", unless: one),
        "n_probs": refused("use logprobs", unless: zero),
        "parse_tool_calls": refused(unless: yes),
        "post_sampling_probs": refused(unless: no),
        "preserved_tokens": refused(unless: noItems),
        "reasoning_format": refused(unless: .text("auto"), .text("none")),
        "reasoning_in_content": refused(unless: yes),
        "response_fields": refused(unless: noItems),
        "return_tokens": refused("use /tokenize", unless: no),
        "thinking_forced_open": refused(unless: no),
    ]

    // MARK: One kind

    private static let chat: [String: Fate] = Dictionary(
        uniqueKeysWithValues: [
            "messages", "max_completion_tokens", "parallel_tool_calls", "tool_choice", "tools",
            "top_logprobs", "reasoning_effort", "add_generation_prompt", "continue_final_message",
            "documents", "chat_template_kwargs",
        ].map { ($0, Fate.taken) }
    ).merging([
        // OpenAI
        "audio": refused("only text can be written here"),
        "function_call": refused("use tool_choice", unless: .text("auto"), .text("none")),
        "functions": refused("use tools", unless: noItems),
        "modalities": refused("only text can be written here", unless: .list([.text("text")])),
        "moderation": refused(),
        "verbosity": refused("say it in a message", unless: .text("medium")),
        "web_search_options": refused("use tools"),
        // vLLM
        "add_special_tokens": refused("the chat template writes them", unless: no),
        "chat_template": refused("start skein serve with --chat-template"),
        "include_reasoning": refused(unless: yes),
    ]) { $1 }

    private static let completion: [String: Fate] = [
        "prompt": .taken,
        "suffix": refused(unless: empty),
        // Newer clients send the name of chats.
        "max_completion_tokens": .taken,
    ]
}
