import SkeinBasics

/// What a PEFT adapter_config.json says about a LoRA adapter.
package struct AdapterConfiguration: Sendable, Equatable {
    /// Rows of A and columns of B.
    package var rank: Int
    package var alpha: Double
    /// Probability that an element of the adapter's input is dropped in training.
    package var dropout: Double
    /// "q_proj" and so on, in the order of `AdapterTensorName.modules`.
    package var targetModules: [String]
    /// Ascending; nil means every layer.
    package var layersToTransform: [Int]?
    /// Empty when the file does not name it.
    package var baseModelName: String
    package var usesRankStabilizedScale: Bool

    /// Sorts `targetModules` and `layersToTransform`.
    package init(
        rank: Int, alpha: Double, dropout: Double, targetModules: [String],
        layersToTransform: [Int]? = nil, baseModelName: String,
        usesRankStabilizedScale: Bool = false
    ) {
        self.rank = rank
        self.alpha = alpha
        self.dropout = dropout
        self.targetModules = AdapterTensorName.modules.filter(targetModules.contains)
        self.layersToTransform = layersToTransform?.sorted()
        self.baseModelName = baseModelName
        self.usesRankStabilizedScale = usesRankStabilizedScale
    }

    /// Factor of B A x: alpha / rank, or alpha / sqrt(rank) when rank-stabilized (PEFT's use_rslora).
    package var scale: Double {
        alpha / (usesRankStabilizedScale ? Double(rank).squareRoot() : Double(rank))
    }

    /// adapter_config.json as PEFT writes it: sorted keys, one a line.
    var json: String {
        let layers: JSONLine.Value =
            layersToTransform.map { .array($0.map { .integer($0) }) } ?? .null
        let fields: [JSONLine.Field] = [
            ("alpha_pattern", .object([])),
            ("base_model_name_or_path", baseModelName.isEmpty ? .null : .string(baseModelName)),
            ("bias", .string("none")),
            ("fan_in_fan_out", .bool(false)),
            ("inference_mode", .bool(true)),
            ("init_lora_weights", .bool(true)),
            ("layers_pattern", .null),
            ("layers_to_transform", layers),
            ("lora_alpha", .number(alpha)),
            ("lora_dropout", .number(dropout)),
            ("modules_to_save", .null),
            ("peft_type", .string("LORA")),
            ("r", .integer(rank)),
            ("rank_pattern", .object([])),
            ("revision", .null),
            ("target_modules", .array(targetModules.map { .string($0) })),
            ("task_type", .string("CAUSAL_LM")),
            ("use_dora", .bool(false)),
            ("use_rslora", .bool(usesRankStabilizedScale)),
        ]
        let lines = fields.map { "  \(JSONLine.quote($0.0)): \(JSONLine.render($0.1))" }
        return "{\n\(lines.joined(separator: ",\n"))\n}\n"
    }
}
