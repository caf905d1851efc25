/// Llama, and models that are Llama by another name: SmolLM2, and Mistral in GGUF files.
struct Llama: ModelFamily {
    let modelTypes = ["llama"]
    let gguf: GGUFLayout? = {
        var layout = GGUFLayout("llama", isInterleaved: true)
        // Mistral's.
        layout.windows = .everywhere
        return layout
    }()

    var files: FileTraits {
        var files = FileTraits()
        files.attentionBias = [.query, .key, .value, .output]
        files.feedForwardBias = [.gate, .up, .down]
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign {
        model.design(
            norms: BlockDesign.Norms(
                beforeAttention: "input_layernorm",
                beforeFeedForward: "post_attention_layernorm"))
    }
}
