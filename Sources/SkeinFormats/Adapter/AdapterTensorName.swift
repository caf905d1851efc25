/// The name of one LoRA matrix in a PEFT file, such as
/// "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight".
package struct AdapterTensorName: Sendable, Hashable {
    package enum Matrix: String, Sendable, CaseIterable {
        /// [rank, in].
        case a = "lora_A"
        /// [out, rank].
        case b = "lora_B"
        /// [out], of a DoRA adapter: how long each row of the weight is.
        case magnitude = "lora_magnitude_vector"

        /// Those that every adapter has.
        package static let allCases: [Matrix] = [.a, .b]

        fileprivate var ending: String { self == .magnitude ? "" : ".weight" }
    }

    /// Projections that can carry an adapter, in the order in which they are computed, the last
    /// under two names; then modules that hold several of them.
    package static let modules = [
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
        "output_linear", "qkv_proj", "gate_up_proj", "input_linear",
    ]

    /// Modules that hold several projections, and these.
    package static let partsOfModules = [
        "qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"],
        "input_linear": ["gate_proj", "up_proj"],
    ]

    /// The part of a block that has a module.
    private static func parent(of module: String) -> String {
        switch module {
        case "q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj": "self_attn"
        case "input_linear", "output_linear": "shared_mlp"
        default: "mlp"
        }
    }

    /// What stands before a block's index in the names of weights.
    package enum Blocks: String, Sendable, CaseIterable {
        case text = "model.layers."
        /// The text model inside one for several kinds of input.
        case multimodal = "model.language_model.layers."
        /// The same in older files, and in MLX.
        case outer = "language_model.model.layers."
    }

    package let layer: Int
    /// One of `modules`.
    package let module: String
    package let matrix: Matrix
    package let blocks: Blocks

    package init(layer: Int, module: String, matrix: Matrix, blocks: Blocks = .text) {
        precondition(Self.modules.contains(module), "no such module: \(module)")
        self.layer = layer
        self.module = module
        self.matrix = matrix
        self.blocks = blocks
    }

    /// Parses a name; nil unless it is that of a known LoRA matrix.
    package init?(_ text: String) {
        guard
            let blocks = Blocks.allCases.first(where: {
                text.hasPrefix("base_model.model." + $0.rawValue)
            })
        else { return nil }
        let parts = text.dropFirst("base_model.model.".count + blocks.rawValue.count)
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4 || parts.count == 5, let layer = Int(parts[0]),
            (0..<Limits.adapterLayers).contains(layer), Self.modules.contains(parts[2]),
            let matrix = Matrix(rawValue: parts[3])
        else { return nil }
        self.init(layer: layer, module: parts[2], matrix: matrix, blocks: blocks)
        // Refuses another prefix, another parent and "01" for 1.
        guard self.text == text else { return nil }
    }

    package func with(_ matrix: Matrix) -> AdapterTensorName {
        AdapterTensorName(layer: layer, module: module, matrix: matrix, blocks: blocks)
    }

    package func with(_ blocks: Blocks) -> AdapterTensorName {
        AdapterTensorName(layer: layer, module: module, matrix: matrix, blocks: blocks)
    }

    /// `module`: one of `modules`.
    package func with(module: String) -> AdapterTensorName {
        AdapterTensorName(layer: layer, module: module, matrix: matrix, blocks: blocks)
    }

    /// The module's name after the block's prefix, such as "self_attn.q_proj".
    package var nameInBlock: String { "\(Self.parent(of: module)).\(module)" }

    /// The name of the weight that the matrix is added to.
    package var weightName: String {
        "\(blocks.rawValue)\(layer).\(Self.parent(of: module)).\(module).weight"
    }

    package var text: String {
        "base_model.model.\(weightName.dropLast(6))\(matrix.rawValue)\(matrix.ending)"
    }
}
