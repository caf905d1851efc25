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
    let revision: String?
    let targetModules: Names?
    let excludedModules: Names?
    let mapping: Mapping?
    let transposesBase: Bool?
    let usesQALoRA: Bool?
    /// Those of `Variant.allCases` that the file sets.
    let variants: [Variant]

    /// Fields that ask for something else than LoRA unless they are null.
    enum Variant: String, CaseIterable, CodingKey {
        case layerReplication = "layer_replication"
        case invocationTokens = "alora_invocation_tokens"
        case tokenIndices = "trainable_token_indices"
        case blockDiagonal = "use_bdlora"
        case arrow = "arrow_config"
        case kasa = "kasa_config"
        case monteclora = "monteclora_config"
        case velora = "velora_config"
    }

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
        case revision
        case targetModules = "target_modules"
        case excludedModules = "exclude_modules"
        case mapping = "auto_mapping"
        case transposesBase = "fan_in_fan_out"
        case usesQALoRA = "use_qalora"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        kind = try fields.decodeIfPresent(String.self, forKey: .kind)
        rank = try fields.decode(Int.self, forKey: .rank)
        alpha = try fields.decodeIfPresent(Double.self, forKey: .alpha)
        dropout = try fields.decodeIfPresent(Double.self, forKey: .dropout)
        baseModelName = try fields.decodeIfPresent(String.self, forKey: .baseModelName)
        layers = try fields.decodeIfPresent(Layers.self, forKey: .layers)
        usesRankStabilizedScale = try fields.decodeIfPresent(
            Bool.self, forKey: .usesRankStabilizedScale)
        bias = try fields.decodeIfPresent(String.self, forKey: .bias)
        usesDoRA = try fields.decodeIfPresent(Bool.self, forKey: .usesDoRA)
        loraBias = try fields.decodeIfPresent(Bool.self, forKey: .loraBias)
        modulesToSave = try fields.decodeIfPresent([String].self, forKey: .modulesToSave)
        rankPattern = try fields.decodeIfPresent([String: Int].self, forKey: .rankPattern)
        alphaPattern = try fields.decodeIfPresent([String: Double].self, forKey: .alphaPattern)
        targetParameters = try fields.decodeIfPresent([String].self, forKey: .targetParameters)
        initialization = try fields.decodeIfPresent(
            Initialization.self, forKey: .initialization)
        revision = try fields.decodeIfPresent(String.self, forKey: .revision)
        targetModules = try fields.decodeIfPresent(Names.self, forKey: .targetModules)
        excludedModules = try fields.decodeIfPresent(Names.self, forKey: .excludedModules)
        mapping = try fields.decodeIfPresent(Mapping.self, forKey: .mapping)
        transposesBase = try fields.decodeIfPresent(Bool.self, forKey: .transposesBase)
        usesQALoRA = try fields.decodeIfPresent(Bool.self, forKey: .usesQALoRA)
        let others = try decoder.container(keyedBy: Variant.self)
        variants = try Variant.allCases.filter {
            try others.contains($0) && !others.decodeNil(forKey: $0)
        }
    }

    /// A list of names or one regular expression.
    struct Names: Decodable {
        let names: AdapterRules.Names

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                names = .pattern(try container.decode(String.self))
            } catch DecodingError.typeMismatch {
                names = .list(try container.decode([String].self))
            }
        }
    }

    /// What Skein keeps there; other tools' fields are ignored.
    struct Mapping: Decodable {
        let skein: AdapterOrigin?
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
        _ = try check.adapterRank("r", rank)
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
        if loraBias == true { throw check.unsupported("lora_bias", "true", "false") }
        if transposesBase == true { throw check.unsupported("fan_in_fan_out", "true", "false") }
        if usesQALoRA == true { throw check.unsupported("use_qalora", "true", "false") }
        if let variant = variants.first {
            throw check.unsupported(variant.rawValue, "set", "null")
        }
        if let bias, bias != "none" { throw check.unsupported("bias", bias, "none") }
        for (field, names) in [
            ("modules_to_save", modulesToSave), ("target_parameters", targetParameters),
        ] {
            guard let names, !names.isEmpty else { continue }
            throw check.unsupported(field, names.joined(separator: ", "), "an empty one")
        }
        for (key, rank) in rankPattern ?? [:] {
            _ = try check.adapterRank("rank_pattern.\(key)", rank)
        }
        for (key, alpha) in alphaPattern ?? [:] where !alpha.isFinite {
            throw check.bad("alpha_pattern.\(key)", "finite", String(alpha))
        }
        try checkPatterns(check)
        // The other methods subtract something from the base model's weights when they are loaded.
        let keepsBase = ["gaussian", "eva", "orthogonal"]
        if let method = initialization?.method, !keepsBase.contains(method) {
            throw check.unsupported(
                "init_lora_weights", method, "methods that keep the base model's weights")
        }
    }

    /// Each is matched with the names of all modules, so there may not be any number of them.
    private func checkPatterns(_ check: ConfigurationCheck) throws {
        for (field, count) in [
            ("rank_pattern", rankPattern?.count), ("alpha_pattern", alphaPattern?.count),
            ("target_modules", targetModules?.names.count),
            ("exclude_modules", excludedModules?.names.count),
        ] where (count ?? 0) > Limits.adapterPatterns {
            throw check.bad(
                field, "at most \(Limits.adapterPatterns) names", String(count ?? 0))
        }
    }

    /// The rules for names.
    func rules(path: String) -> AdapterRules {
        AdapterRules(
            targets: targetModules?.names, excluded: excludedModules?.names,
            // An empty list means all layers.
            layers: layers.flatMap { $0.indices.isEmpty ? nil : Set($0.indices) }, path: path)
    }

    /// What it says, with the target modules that its tensors show.
    func configuration(targetModules: [String], layersToTransform: [Int]?) -> AdapterConfiguration {
        AdapterConfiguration(
            rank: rank, alpha: alpha ?? 8, dropout: dropout ?? 0, targetModules: targetModules,
            layersToTransform: layersToTransform, baseModelName: baseModelName ?? "",
            revision: revision, usesRankStabilizedScale: usesRankStabilizedScale ?? false,
            usesMagnitudes: usesDoRA ?? false,
            rankPattern: rankPattern ?? [:], alphaPattern: alphaPattern ?? [:],
            origin: mapping?.skein)
    }
}

extension AdapterRules.Names {
    fileprivate var count: Int {
        if case .list(let list) = self { list.count } else { 1 }
    }
}
