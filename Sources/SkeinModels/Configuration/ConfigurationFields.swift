import SkeinFormats

/// The fields of config.json, or of its text_config, that matter here.
struct ConfigurationFields: Decodable {
    let modelType: String?
    let vocabularySize: Int?
    let width: Int?
    let feedForwardWidth: Int?
    let sharedFeedForwardWidth: Int?
    let layerCount: Int?
    let headCount: Int?
    let keyValueHeadCount: Int?
    let headDimension: Int?
    let contextLength: Int?
    let normEpsilon: Double?
    let tiedEmbeddings: Bool?
    let activation: String?
    let otherActivation: String?
    let attentionBias: Bool?
    let feedForwardBias: Bool?
    let slidingWindow: Int?
    let usesSlidingWindow: Bool?
    let firstWindowedLayer: Int?
    let windowPeriod: Int?
    let layerTypes: [String]?
    /// Another name of `layerTypes`, of models that may have Mamba layers.
    let otherLayerTypes: [String]?
    let expertCount: Int?
    let positions: String?
    let rotatedLayers: [Int]?
    let unrotatedPeriod: Int?
    let isBidirectional: Bool?
    let partialRotaryFactor: Double?
    let originalContextLength: Double?
    let ropeTheta: Double?
    let localRopeTheta: Double?
    let ropeScaling: RopeFields?
    let ropeParameters: RopeFields?
    let queryScalar: Double?
    let attentionSoftCap: Double?
    let logitsSoftCap: Double?
    let attentionMultiplier: Double?
    let embeddingMultiplier: Double?
    let residualMultiplier: Double?
    let logitsDivisor: Double?

    enum CodingKeys: String, CodingKey {
        case modelType = "model_type"
        case vocabularySize = "vocab_size"
        case width = "hidden_size"
        case feedForwardWidth = "intermediate_size"
        case sharedFeedForwardWidth = "shared_intermediate_size"
        case layerCount = "num_hidden_layers"
        case headCount = "num_attention_heads"
        case keyValueHeadCount = "num_key_value_heads"
        case headDimension = "head_dim"
        case contextLength = "max_position_embeddings"
        case normEpsilon = "rms_norm_eps"
        case tiedEmbeddings = "tie_word_embeddings"
        case activation = "hidden_act"
        case otherActivation = "hidden_activation"
        case attentionBias = "attention_bias"
        case feedForwardBias = "mlp_bias"
        case slidingWindow = "sliding_window"
        case usesSlidingWindow = "use_sliding_window"
        case firstWindowedLayer = "max_window_layers"
        case windowPeriod = "sliding_window_pattern"
        case layerTypes = "layer_types"
        case otherLayerTypes = "layers_block_type"
        case expertCount = "num_local_experts"
        case positions = "position_embedding_type"
        case rotatedLayers = "no_rope_layers"
        case unrotatedPeriod = "no_rope_layer_interval"
        case isBidirectional = "use_bidirectional_attention"
        case partialRotaryFactor = "partial_rotary_factor"
        case originalContextLength = "original_max_position_embeddings"
        case ropeTheta = "rope_theta"
        case localRopeTheta = "rope_local_base_freq"
        case ropeScaling = "rope_scaling"
        case ropeParameters = "rope_parameters"
        case queryScalar = "query_pre_attn_scalar"
        case attentionSoftCap = "attn_logit_softcapping"
        case logitsSoftCap = "final_logit_softcapping"
        case attentionMultiplier = "attention_multiplier"
        case embeddingMultiplier = "embedding_multiplier"
        case residualMultiplier = "residual_multiplier"
        case logitsDivisor = "logits_scaling"
    }
}

/// The fields, and which of them are there but null: for some, null means another value than no
/// field.
struct NullableFields: Decodable {
    let fields: ConfigurationFields
    let nulls: Set<String>

    init(from decoder: any Swift.Decoder) throws {
        fields = try ConfigurationFields(from: decoder)
        let container = try decoder.container(keyedBy: NamedKey.self)
        nulls = Set(
            try container.allKeys.filter { try container.decodeNil(forKey: $0) }
                .map(\.stringValue))
    }

    /// The value; else nil if the file says null, and `other` if it says nothing.
    func value<Value>(
        _ key: ConfigurationFields.CodingKeys, _ value: Value?, orElse other: Value?
    ) -> Value? {
        value ?? (nulls.contains(key.rawValue) ? nil : other)
    }
}

/// Which model a config.json is of.
struct ModelTypeField: Decodable {
    let modelType: String?

    private enum CodingKeys: String, CodingKey { case modelType = "model_type" }
}

/// The configuration of a text model inside one for several kinds of input.
struct TextConfigurationField: Decodable {
    let text: NullableFields

    private enum CodingKeys: String, CodingKey { case text = "text_config" }
}
