/// Qwen2 and Qwen2.5: a Llama with biases of query, key and value.
struct Qwen2: ModelFamily {
    let modelTypes = ["qwen2"]
    let gguf: GGUFLayout? = GGUFLayout("qwen2")

    var files: FileTraits {
        var files = FileTraits()
        files.contextLength = 32_768
        files.windows = .upper
        files.window = 4096
        files.biased = [.query, .key, .value]
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Llama().design(of: model) }
}

/// Qwen3: a Llama with norms of each head's query and key.
struct Qwen3: ModelFamily {
    let modelTypes = ["qwen3"]
    let gguf: GGUFLayout? = GGUFLayout(
        "qwen3", norms: GGUFLayout.llamaNorms.merging(GGUFLayout.headNorms) { one, _ in one })

    var files: FileTraits {
        var files = FileTraits()
        files.contextLength = 32_768
        files.sizes.headDimension = 128
        files.windows = .upper
        files.window = 4096
        files.attentionBias = [.query, .key, .value, .output]
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign {
        model.design(
            norms: BlockDesign.Norms(
                beforeAttention: "input_layernorm",
                beforeFeedForward: "post_attention_layernorm"),
            headNorms: BlockDesign.HeadNorms(
                query: "self_attn.q_norm", key: "self_attn.k_norm", extent: .head))
    }
}
