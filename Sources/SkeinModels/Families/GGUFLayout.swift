/// How GGUF files name and order a family's tensors.
package struct GGUFLayout: Sendable {
    /// Its names in `general.architecture`; its keys begin with them, too.
    package var architectures: [String]
    /// Tensors outside the blocks, and their names in the folder.
    package var names: [String: String]
    /// Tensors of block 3, without "blk.3.", and their folder names after the block's prefix.
    package var namesInBlock: [Substring: String]
    /// Those whose rows are in the order for rotation of neighbours.
    package var interleaved: Set<Substring>
    /// Added to the weights of norms as stored in the file.
    package var normOffset: Float = 0
    /// Which layers have the stated window, if that is not the family's rule.
    package var windows: FileTraits.Windows?
    /// A window that a file without the key has.
    package var window: Int?

    package init(
        architectures: [String], names: [String: String], namesInBlock: [Substring: String],
        interleaved: Set<Substring>
    ) {
        self.architectures = architectures
        self.names = names
        self.namesInBlock = namesInBlock
        self.interleaved = interleaved
    }

    /// A layout with the usual names of the seven projections, their biases, and what is outside of
    /// the blocks.
    ///
    /// `norms`: the names of norms in a block, without ".weight", and in the folder.
    /// `isInterleaved`: query and key are stored for rotation of neighbours.
    package init(
        _ architecture: String, norms: [String: String] = Self.llamaNorms,
        isInterleaved: Bool = false
    ) {
        var inBlock: [Substring: String] = [:]
        for (name, other) in norms { inBlock["\(name).weight"] = "\(other).weight" }
        for (name, other) in Self.projections {
            for part in ["weight", "bias"] { inBlock["\(name).\(part)"] = "\(other).\(part)" }
        }
        self.init(
            architectures: [architecture],
            names: [
                "token_embd.weight": "model.embed_tokens.weight",
                "output_norm.weight": "model.norm.weight", "output.weight": "lm_head.weight",
            ],
            namesInBlock: inBlock,
            interleaved: isInterleaved
                ? ["attn_q.weight", "attn_q.bias", "attn_k.weight", "attn_k.bias"] : [])
    }

    /// Norms before attention and the feed-forward part.
    package static let llamaNorms = [
        "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    ]
    /// Norms of query and key.
    static let headNorms = [
        "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    ]
    private static let projections = [
        "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
        "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    ]

    /// A tensor's folder name, and whether its rows are interleaved; nil: there is no such tensor.
    package func tensor(
        _ name: String, in design: DecoderDesign
    ) -> (name: String, isInterleaved: Bool)? {
        if let match = names[name] { return (match, false) }
        let parts = name.split(separator: ".", maxSplits: 2)
        // The index must be spelled like a number: "blk.01" is not "blk.1".
        guard parts.count == 3, parts[0] == "blk", let layer = Int(parts[1]), layer >= 0,
            String(layer) == parts[1], let part = namesInBlock[parts[2]]
        else { return nil }
        return (design.tensor(part, in: layer), interleaved.contains(parts[2]))
    }

    /// The file's name of a projection in layer `layer`, without its ending.
    func fileName(of module: TargetModule, _ layer: Int) -> String? {
        Self.projections.first { $0.value.hasSuffix("." + module.name) }
            .map { "blk.\(layer).\($0.key)" }
    }
}
