/// The name of one LoRA matrix in a PEFT file, such as
/// "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight".
package struct AdapterTensorName: Sendable, Hashable {
    package enum Matrix: String, Sendable, CaseIterable {
        /// [rank, in].
        case a = "lora_A"
        /// [out, rank].
        case b = "lora_B"
    }

    /// Projections that can carry an adapter, in the order in which they are computed.
    package static let modules = [
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "qkv_proj",
        "gate_up_proj",
    ]

    package let layer: Int
    /// One of `modules`.
    package let module: String
    package let matrix: Matrix

    package init(layer: Int, module: String, matrix: Matrix) {
        precondition(Self.modules.contains(module), "no such module: \(module)")
        self.layer = layer
        self.module = module
        self.matrix = matrix
    }

    /// Parses a name; nil unless it is that of a known LoRA matrix.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 9, let layer = Int(parts[4]),
            (0..<Limits.adapterLayers).contains(layer), Self.modules.contains(parts[6]),
            let matrix = Matrix(rawValue: parts[7])
        else { return nil }
        self.init(layer: layer, module: parts[6], matrix: matrix)
        // Refuses another prefix, another parent and "01" for 1.
        guard self.text == text else { return nil }
    }

    /// The name of the weight that the matrix is added to.
    package var weightName: String {
        let isOfFeedForward = ["gate_proj", "up_proj", "down_proj", "gate_up_proj"].contains(module)
        let parent = isOfFeedForward ? "mlp" : "self_attn"
        return "model.layers.\(layer).\(parent).\(module).weight"
    }

    package var text: String {
        "base_model.model.\(weightName.dropLast(6))\(matrix.rawValue).weight"
    }
}
