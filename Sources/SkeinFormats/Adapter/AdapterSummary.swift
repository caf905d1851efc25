import SkeinBasics

/// What an adapter's files say of themselves, without the base model.
package struct AdapterSummary: Sendable {
    package let format: AdapterFormat
    package let configuration: AdapterConfiguration
    /// Names of the adapted modules, as the files call them.
    package let modules: [String]
    /// Adapted layers, ascending.
    package let layers: [Int]
    /// The smallest and the largest rank.
    package let ranks: ClosedRange<Int>
    /// The factor of B A x, of modules of the stated rank.
    package let scale: Double
    /// All matrices A, all matrices B and all magnitudes, by name.
    package let matrices: [AdapterTensorName.Matrix: [String: TensorView]]

    package var parameterCount: Int {
        matrices.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.elementCount } }
    }

    /// Reads the adapter at a path. Numbers of a PEFT folder and of a GGUF file stay on disk
    /// (`MappedFile`), so call it only for files that have been read before.
    ///
    /// - Throws: `FormatError`, `FileError`.
    package init(path: String) throws {
        format = try AdapterFormat.of(path)
        let files: AdapterFiles
        switch format {
        case .peft: files = try AdapterFiles.map(path)
        case .mlx: files = try MLXAdapter.read(path) { _ in }
        case .gguf:
            let adapter = try GGUFAdapter(path: path)
            // Without a model, tensors keep the names of GGUF, put as PEFT would.
            files = try adapter.files { tensor in
                if let edge = Self.edges[tensor] {
                    return GGUFAdapter.Name(module: edge, interleavedHeadRows: nil)
                }
                let parts = tensor.split(separator: ".")
                guard parts.count == 4, parts[0] == "blk", let layer = Int(parts[1]), layer >= 0,
                    let module = Self.modules[String(parts[2])]
                else { return nil }
                return GGUFAdapter.Name(
                    module: "model.layers.\(layer).\(module)", interleavedHeadRows: nil)
            }
        }
        let outline = files.outline
        configuration = outline.configuration
        modules = configuration.targetModules
        layers = outline.layers
        let all = outline.modules.map(\.rank) + outline.edges.map(\.rank)
        ranks = (all.min() ?? 0)...(all.max() ?? 0)
        scale = outline.statedScale
        matrices = Dictionary(
            uniqueKeysWithValues: (AdapterTensorName.Matrix.allCases + [.magnitude]).map { matrix in
                (
                    matrix,
                    files.tensors.filter {
                        (AdapterTensorName($0.key)?.matrix ?? EdgeTensorName($0.key)?.matrix)
                            == matrix
                    }
                )
            })
    }

    private static let edges = [
        "token_embd.weight": "model.embed_tokens", "output.weight": "lm_head",
    ]
    /// Modules by their names in GGUF files; some families store several as one.
    private static let modules = [
        "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj", "attn_qkv": "self_attn.qkv_proj",
        "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    ]
}
