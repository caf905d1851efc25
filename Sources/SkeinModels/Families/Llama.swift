/// Llama, and models that are Llama by another name: SmolLM2, and Mistral in GGUF files.
struct Llama: ModelFamily {
    let modelTypes = ["llama"]
    let gguf: GGUFLayout? = GGUFLayout(
        architectures: ["llama"],
        names: [
            "token_embd.weight": "model.embed_tokens.weight",
            "output_norm.weight": "model.norm.weight", "output.weight": "lm_head.weight",
        ],
        namesInBlock: [
            "attn_norm.weight": "input_layernorm.weight",
            "attn_q.weight": "self_attn.q_proj.weight",
            "attn_k.weight": "self_attn.k_proj.weight",
            "attn_v.weight": "self_attn.v_proj.weight",
            "attn_output.weight": "self_attn.o_proj.weight",
            "ffn_norm.weight": "post_attention_layernorm.weight",
            "ffn_gate.weight": "mlp.gate_proj.weight", "ffn_up.weight": "mlp.up_proj.weight",
            "ffn_down.weight": "mlp.down_proj.weight",
        ],
        interleaved: ["attn_q.weight", "attn_k.weight"])

    func design(of model: ModelConfiguration) -> DecoderDesign {
        let block = BlockDesign(
            norms: BlockDesign.Norms(
                beforeAttention: "input_layernorm",
                beforeFeedForward: "post_attention_layernorm"),
            projections: Projection.separate(model))
        return DecoderDesign(
            rotaryTables: [
                DecoderDesign.RotaryTable(
                    theta: model.ropeTheta, divisors: model.ropeFrequencyDivisors,
                    dimension: model.headDimension)
            ],
            blocks: Array(repeating: block, count: model.layerCount))
    }
}
