import SkeinTensors

/// Gemma 2: four norms a block with weights of 1 + w, GELU, soft caps of scores and logits, and a
/// window on every other layer.
struct Gemma2: ModelFamily {
    let modelTypes = ["gemma2"]
    let folderNormOffset: Float = 1
    let gguf: GGUFLayout? = {
        var layout = GGUFLayout("gemma2", norms: Self.norms)
        layout.window = 4096
        return layout
    }()

    static let norms = [
        "attn_norm": "input_layernorm", "post_attention_norm": "post_attention_layernorm",
        "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
    ]

    var files: FileTraits {
        var files = FileTraits()
        files.contextLength = 8192
        files.isTied = true
        files.sizes.headDimension = 256
        files.windows = .alternating(period: 2)
        files.window = 4096
        files.activation = .geGLU
        files.activationField = "hidden_activation"
        files.attentionBias = [.query, .key, .value, .output]
        files.queryScalar = 256
        files.layersScaledByWidth = 46
        files.attentionSoftCap = .read(default: 50)
        files.logitsSoftCap = .read(default: 30)
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Self.design(model) }

    static func design(
        _ model: ModelConfiguration, headNorms: BlockDesign.HeadNorms? = nil
    ) -> DecoderDesign {
        var design = model.design(
            norms: BlockDesign.Norms(
                beforeAttention: "input_layernorm", afterAttention: "post_attention_layernorm",
                beforeFeedForward: "pre_feedforward_layernorm",
                afterFeedForward: "post_feedforward_layernorm"),
            headNorms: headNorms, activation: .geGLU)
        // As transformers has it for weights in fp32; with bf16 it rounds the root to bf16.
        design.embeddingMultiplier = Float(Double(model.width).squareRoot())
        return design
    }
}

/// Gemma 3's text: a Gemma 2 with norms of each head's query and key instead of soft caps, and a
/// window on five of six layers, which have a theta of their own.
struct Gemma3: ModelFamily {
    let modelTypes = ["gemma3_text"]
    let multimodalTypes = ["gemma3"]
    let folderNormOffset: Float = 1
    let gguf: GGUFLayout? = GGUFLayout(
        "gemma3", norms: Gemma2.norms.merging(GGUFLayout.headNorms) { one, _ in one })

    var files: FileTraits {
        var files = Gemma2().files
        // Files of models that see state only what differs from these.
        files.sizes = FileTraits.Sizes(
            vocabulary: 262_208, width: 2304, feedForwardWidth: 9216, layers: 26, heads: 8,
            keyValueHeads: 4, headDimension: 256)
        files.contextLength = 131_072
        files.windows = .alternating(period: 6)
        files.theta = 1_000_000
        files.hasLocalRotation = true
        files.localTheta = 10_000
        files.layersScaledByWidth = 62
        files.attentionSoftCap = .refused
        files.logitsSoftCap = .read(default: nil)
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign {
        Gemma2.design(
            model,
            headNorms: BlockDesign.HeadNorms(
                query: "self_attn.q_norm", key: "self_attn.k_norm", extent: .head))
    }
}
