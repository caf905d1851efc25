import SkeinBasics
import SkeinJSON

/// What a PEFT adapter_config.json says about a LoRA adapter.
package struct AdapterConfiguration: Sendable, Equatable {
    /// Rows of A and columns of B.
    package var rank: Int
    package var alpha: Double
    /// Probability that an element of the adapter's input is dropped in training.
    package var dropout: Double
    /// "q_proj" and so on, in the order of `AdapterTensorName.modules`, then "embed_tokens" and "lm_head".
    package var targetModules: [String]
    /// Ascending; nil means every layer.
    package var layersToTransform: [Int]?
    /// Empty when the file does not name it.
    package var baseModelName: String
    /// The commit of the base model on the Hub; nil when it is not known.
    package var revision: String?
    package var usesRankStabilizedScale: Bool
    /// Whether each module has a magnitude for each row of its weight (DoRA).
    package var usesMagnitudes: Bool
    /// Other ranks than `rank`, by regular expressions for the ends of modules' names.
    package var rankPattern: [String: Int]
    /// Other alphas than `alpha`, likewise.
    package var alphaPattern: [String: Double]
    /// What a run of Skein was made of; nil: another tool made the adapter.
    package var origin: AdapterOrigin?

    /// Sorts `targetModules` and `layersToTransform`.
    package init(
        rank: Int, alpha: Double, dropout: Double, targetModules: [String],
        layersToTransform: [Int]? = nil, baseModelName: String, revision: String? = nil,
        usesRankStabilizedScale: Bool = false, usesMagnitudes: Bool = false,
        rankPattern: [String: Int] = [:],
        alphaPattern: [String: Double] = [:], origin: AdapterOrigin? = nil
    ) {
        self.rank = rank
        self.alpha = alpha
        self.dropout = dropout
        self.targetModules =
            (AdapterTensorName.modules + EdgeTensorName.Module.allCases.map(\.rawValue))
            .filter(targetModules.contains)
        self.layersToTransform = layersToTransform?.sorted()
        self.baseModelName = baseModelName
        self.revision = revision
        self.usesRankStabilizedScale = usesRankStabilizedScale
        self.usesMagnitudes = usesMagnitudes
        self.rankPattern = rankPattern
        self.alphaPattern = alphaPattern
        self.origin = origin
    }

    /// Factor of B A x: alpha / rank, or alpha / sqrt(rank) when rank-stabilized (PEFT's use_rslora).
    package var scale: Double { scale(rank: rank, alpha: alpha) }

    /// The same of a module with its own rank and alpha.
    func scale(rank: Int, alpha: Double) -> Double {
        alpha / (usesRankStabilizedScale ? Double(rank).squareRoot() : Double(rank))
    }

    /// adapter_config.json as PEFT writes it: sorted keys, one a line.
    ///
    /// `targets`: names of modules if `targetModules` says too little. The origin stands in
    /// auto_mapping, a dictionary that PEFT reads for models without a task alone: of a key that it
    /// does not know, it warns.
    func json(targets: [String]? = nil) -> String {
        let layers: JSONValue =
            layersToTransform.map { .list($0.map { .integer($0) }) } ?? .null
        let fields: [(String, JSONValue)] = [
            (
                "alpha_pattern",
                .fields(
                    alphaPattern.sorted { $0.key < $1.key }.map { ($0.key, .decimal($0.value)) })
            ),
            ("auto_mapping", origin.map { .fields([("skein", .fields($0.fields))]) } ?? .null),
            ("base_model_name_or_path", baseModelName.isEmpty ? .null : .text(baseModelName)),
            ("bias", .text("none")),
            ("fan_in_fan_out", .bool(false)),
            ("inference_mode", .bool(true)),
            ("init_lora_weights", .bool(true)),
            ("layers_pattern", .null),
            ("layers_to_transform", layers),
            ("lora_alpha", .decimal(alpha)),
            ("lora_dropout", .decimal(dropout)),
            ("modules_to_save", .null),
            ("peft_type", .text("LORA")),
            ("r", .integer(rank)),
            (
                "rank_pattern",
                .fields(rankPattern.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
            ),
            ("revision", revision.map { .text($0) } ?? .null),
            ("target_modules", .list((targets ?? targetModules).map { .text($0) })),
            ("task_type", .text("CAUSAL_LM")),
            ("use_dora", .bool(usesMagnitudes)),
            ("use_rslora", .bool(usesRankStabilizedScale)),
        ]
        return JSONValue.fields(fields).lines() + "\n"
    }
}
