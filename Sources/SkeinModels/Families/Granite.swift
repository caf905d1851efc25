/// Granite 3: a Llama with factors of the embedding, attention, what blocks add, and the logits. GGUF
/// files of Granite 4 without experts and Mamba layers have its name and its tensors.
struct Granite: ModelFamily {
    let modelTypes = ["granite"]
    let gguf: GGUFLayout? = GGUFLayout("granite", isInterleaved: true)

    var files: FileTraits {
        var files = FileTraits()
        files.hasMultipliers = true
        files.attentionBias = [.query, .key, .value, .output]
        files.feedForwardBias = [.gate, .up, .down]
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign { Llama().design(of: model) }
}

/// Granite 4 without experts and Mamba layers: a Granite 3 that stores gate and up as one tensor, with
/// other names in the feed-forward part, and may rotate nothing.
struct Granite4: ModelFamily {
    let modelTypes = ["granitemoehybrid"]
    let gguf: GGUFLayout? = nil
    var adapterLayout: GGUFLayout? { Granite().gguf }

    var files: FileTraits {
        var files = Granite().files
        files.feedForwardBias = []
        files.sizes.feedForwardWidth = 1024
        files.hasSharedWidth = true
        files.isHybrid = true
        files.statesPositions = true
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign {
        var projections = Projection.fused(
            model, [.gateUp: "shared_mlp.input_linear"], biased: model.stated.biased)
        projections[TargetModule.down.rawValue].rename("shared_mlp.output_linear")
        return model.design(
            norms: BlockDesign.Norms(
                beforeAttention: "input_layernorm",
                beforeFeedForward: "post_attention_layernorm"),
            projections: projections)
    }
}
