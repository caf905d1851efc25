/// OLMo 2: norms after attention and after the feed-forward part only, and norms of all queries and
/// of all keys together. Its GGUF files are read as OLMo 3's, whose name they have.
struct Olmo2: ModelFamily {
    let modelTypes = ["olmo2"]
    let gguf: GGUFLayout? = nil
    var adapterLayout: GGUFLayout? { Olmo3().gguf }

    var files: FileTraits {
        var files = FileTraits()
        files.normEpsilon = 1e-5
        files.attentionBias = [.query, .key, .value, .output]
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign {
        model.design(
            norms: BlockDesign.Norms(
                afterAttention: "post_attention_layernorm",
                afterFeedForward: "post_feedforward_layernorm"),
            headNorms: BlockDesign.HeadNorms(
                query: "self_attn.q_norm", key: "self_attn.k_norm", extent: .projection))
    }
}

/// OLMo 3: an OLMo 2 with windows on three of four layers, which rotate without scaling.
struct Olmo3: ModelFamily {
    let modelTypes = ["olmo3"]
    let gguf: GGUFLayout? = GGUFLayout(
        "olmo2",
        norms: [
            "post_attention_norm": "post_attention_layernorm",
            "post_ffw_norm": "post_feedforward_layernorm",
        ].merging(GGUFLayout.headNorms) { one, _ in one })

    var files: FileTraits {
        var files = Olmo2().files
        files.theta = 500_000
        files.windows = .alternating(period: 4)
        files.window = 4096
        files.hasLocalRotation = true
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Olmo2().design(of: model) }
}
