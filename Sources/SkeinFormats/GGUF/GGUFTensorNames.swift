/// GGUF's tensor names of the "llama" architecture, and what Hugging Face calls the same weights.
enum GGUFTensorNames {
    private static let top = [
        "token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
        "output.weight": "lm_head.weight",
    ]
    private static let inLayer: [Substring: String] = [
        "attn_norm.weight": "input_layernorm.weight", "attn_q.weight": "self_attn.q_proj.weight",
        "attn_k.weight": "self_attn.k_proj.weight", "attn_v.weight": "self_attn.v_proj.weight",
        "attn_output.weight": "self_attn.o_proj.weight",
        "ffn_norm.weight": "post_attention_layernorm.weight",
        "ffn_gate.weight": "mlp.gate_proj.weight", "ffn_up.weight": "mlp.up_proj.weight",
        "ffn_down.weight": "mlp.down_proj.weight",
    ]
    /// Read into the configuration; no weight.
    static let ropeDivisors = "rope_freqs.weight"

    /// The Hugging Face name; nil when the architecture has no such tensor.
    static func huggingFaceName(_ name: String) -> String? {
        if let match = top[name] { return match }
        let parts = name.split(separator: ".", maxSplits: 2)
        // The index must be spelled as a number is: "blk.01" is another name than "blk.1".
        guard parts.count == 3, parts[0] == "blk", let layer = Int(parts[1]), layer >= 0,
            String(layer) == parts[1], let part = inLayer[parts[2]]
        else { return nil }
        return "model.layers.\(layer).\(part)"
    }

    /// True when the file has this weight's rows interleaved for rotation of neighbours.
    static func isInterleaved(_ name: String) -> Bool {
        name.hasSuffix(".attn_q.weight") || name.hasSuffix(".attn_k.weight")
    }
}
