/// The fields of adapter_config.json that matter here. Unknown fields are ignored: PEFT's own
/// versions differ in them.
struct AdapterConfigurationFile: Decodable {
    let kind: String?
    let rank: Int
    let alpha: Double?
    let dropout: Double?
    let baseModelName: String?
    let layers: Layers?
    let usesRankStabilizedScale: Bool?
    let bias: String?
    let usesDoRA: Bool?
    let loraBias: Bool?
    let modulesToSave: [String]?
    let rankPattern: [String: Int]?
    let alphaPattern: [String: Double]?
    let targetParameters: [String]?
    let initialization: Initialization?

    enum CodingKeys: String, CodingKey {
        case kind = "peft_type"
        case rank = "r"
        case alpha = "lora_alpha"
        case dropout = "lora_dropout"
        case baseModelName = "base_model_name_or_path"
        case layers = "layers_to_transform"
        case usesRankStabilizedScale = "use_rslora"
        case bias
        case usesDoRA = "use_dora"
        case loraBias = "lora_bias"
        case modulesToSave = "modules_to_save"
        case rankPattern = "rank_pattern"
        case alphaPattern = "alpha_pattern"
        case targetParameters = "target_parameters"
        case initialization = "init_lora_weights"
    }

    /// One layer or a list of layers.
    struct Layers: Decodable {
        let indices: [Int]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                indices = [try container.decode(Int.self)]
            } catch DecodingError.typeMismatch {
                indices = try container.decode([Int].self)
            }
        }
    }

    /// true, false or the name of a method.
    struct Initialization: Decodable {
        let method: String?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                _ = try container.decode(Bool.self)
                method = nil
            } catch DecodingError.typeMismatch {
                method = try container.decode(String.self)
            }
        }
    }

    /// Checks the numbers and refuses every variant of LoRA that computes something else.
    func check(path: String) throws {
        let check = ConfigurationCheck(path: path)
        if let kind, kind != "LORA" { throw check.unsupported("peft_type", kind, "LORA") }
        _ = try check.size("r", rank, limit: Limits.adapterRank)
        let alpha = alpha ?? 8
        guard alpha.isFinite else { throw check.bad("lora_alpha", "finite", String(alpha)) }
        let dropout = dropout ?? 0
        guard dropout >= 0, dropout < 1 else {
            throw check.bad("lora_dropout", "0 or above and below 1", String(dropout))
        }
        for layer in layers?.indices ?? [] where !(0..<Limits.adapterLayers).contains(layer) {
            throw check.bad(
                "layers_to_transform", "0 to \(Limits.adapterLayers - 1)", String(layer))
        }
        if usesDoRA == true { throw check.unsupported("use_dora", "true", "false") }
        if loraBias == true { throw check.unsupported("lora_bias", "true", "false") }
        if let bias, bias != "none" { throw check.unsupported("bias", bias, "none") }
        for (field, names) in [
            ("modules_to_save", modulesToSave), ("target_parameters", targetParameters),
            ("rank_pattern", rankPattern.map { $0.keys.sorted() }),
            ("alpha_pattern", alphaPattern.map { $0.keys.sorted() }),
        ] {
            guard let names, !names.isEmpty else { continue }
            throw check.unsupported(field, names.joined(separator: ", "), "an empty one")
        }
        // The other methods subtract something from the base model's weights when they are loaded.
        let keepsBase = ["gaussian", "eva", "orthogonal"]
        if let method = initialization?.method, !keepsBase.contains(method) {
            throw check.unsupported(
                "init_lora_weights", method, "methods that keep the base model's weights")
        }
    }
}
