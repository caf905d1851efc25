/// Phi-3, Phi-3.5 and Phi-4-mini: a Llama that stores query, key and value as one tensor, and gate
/// and up as another.
struct Phi3: ModelFamily {
    let modelTypes = ["phi3"]
    let gguf: GGUFLayout? = {
        var layout = GGUFLayout("phi3")
        for (name, other) in [
            ("attn_qkv", "self_attn.qkv_proj"), ("ffn_up", "mlp.gate_up_proj"),
        ] {
            layout.namesInBlock["\(name).weight"] = "\(other).weight"
            layout.namesInBlock["\(name).bias"] = nil
        }
        return layout
    }()

    var files: FileTraits {
        var files = FileTraits()
        files.contextLength = 4096
        files.normEpsilon = 1e-5
        files.windows = .everywhere
        files.allowsPartialRotation = true
        files.longRopeName = "yarn"
        files.originalContextLength = 4096
        return files
    }

    func design(of model: ModelConfiguration) -> DecoderDesign {
        model.design(
            norms: BlockDesign.Norms(
                beforeAttention: "input_layernorm",
                beforeFeedForward: "post_attention_layernorm"),
            projections: Projection.fused(
                model, [.queryKeyValue: "self_attn.qkv_proj", .gateUp: "mlp.gate_up_proj"]))
    }
}
