import SkeinFormats

extension ModelConfiguration {
    /// Reads config.json; absent fields have the defaults of transformers' LlamaConfig.
    ///
    /// - Throws: `FormatError` for a missing or invalid field and for what is not computed: other
    ///   activations, biases, sliding windows, partial rotation, quantized weights.
    init(
        _ file: ConfigurationFields, _ family: any ModelFamily, _ check: ConfigurationCheck
    ) throws {
        architecture = file.modelType
        vocabularySize = try check.size(
            "vocab_size", file.vocabularySize, limit: Limits.vocabularySize)
        width = try check.size("hidden_size", file.width, limit: Limits.width)
        feedForwardWidth = try check.size(
            "intermediate_size", file.feedForwardWidth, limit: Limits.feedForwardWidth)
        layerCount = try check.size("num_hidden_layers", file.layerCount, limit: Limits.layers)
        headCount = try check.size("num_attention_heads", file.headCount, limit: Limits.heads)
        keyValueHeadCount = try check.size(
            "num_key_value_heads", file.keyValueHeadCount ?? headCount, limit: Limits.heads)
        try check.keyValueHeads("num_key_value_heads", keyValueHeadCount, heads: headCount)
        headDimension = try check.headDimension(
            "head_dim", file.headDimension, width: width, heads: headCount,
            headsField: "num_attention_heads")
        contextLength = try check.size(
            "max_position_embeddings", file.contextLength ?? 2048, limit: Limits.contextLength)
        normEpsilon = Float(
            try check.positive("rms_norm_eps", file.normEpsilon ?? 1e-6, below: 1))
        tiedEmbeddings = file.tiedEmbeddings ?? false
        let rope = file.ropeParameters ?? file.ropeScaling
        ropeTheta = try check.ropeTheta(
            "rope_theta", file.ropeParameters?.theta ?? file.ropeTheta ?? 10_000)
        ropeFrequencyDivisors = nil
        try file.refuseVariants(check, contextLength: contextLength)
        ropeFrequencyDivisors = try rope?.divisors(
            headDimension: headDimension, theta: ropeTheta, check)
        design = family.design(of: self)
        design.normOffset = family.folderNormOffset
    }
}

/// The fields of config.json that matter here.
struct ConfigurationFields: Decodable {
    let modelType: String
    let vocabularySize: Int?
    let width: Int?
    let feedForwardWidth: Int?
    let layerCount: Int?
    let headCount: Int?
    let keyValueHeadCount: Int?
    let headDimension: Int?
    let contextLength: Int?
    let normEpsilon: Double?
    let tiedEmbeddings: Bool?
    let activation: String?
    let attentionBias: Bool?
    let feedForwardBias: Bool?
    let slidingWindow: Int?
    let usesSlidingWindow: Bool?
    let partialRotaryFactor: Double?
    let ropeTheta: Double?
    let ropeScaling: RopeScaling?
    let ropeParameters: RopeScaling?

    enum CodingKeys: String, CodingKey {
        case modelType = "model_type"
        case vocabularySize = "vocab_size"
        case width = "hidden_size"
        case feedForwardWidth = "intermediate_size"
        case layerCount = "num_hidden_layers"
        case headCount = "num_attention_heads"
        case keyValueHeadCount = "num_key_value_heads"
        case headDimension = "head_dim"
        case contextLength = "max_position_embeddings"
        case normEpsilon = "rms_norm_eps"
        case tiedEmbeddings = "tie_word_embeddings"
        case activation = "hidden_act"
        case attentionBias = "attention_bias"
        case feedForwardBias = "mlp_bias"
        case slidingWindow = "sliding_window"
        case usesSlidingWindow = "use_sliding_window"
        case partialRotaryFactor = "partial_rotary_factor"
        case ropeTheta = "rope_theta"
        case ropeScaling = "rope_scaling"
        case ropeParameters = "rope_parameters"
    }

    /// Refuses fields that would change the computation.
    func refuseVariants(_ check: ConfigurationCheck, contextLength: Int) throws {
        if let activation, activation != "silu" {
            throw check.unsupported("hidden_act", activation, "silu")
        }
        if attentionBias == true { throw check.unsupported("attention_bias", "true", "false") }
        if feedForwardBias == true { throw check.unsupported("mlp_bias", "true", "false") }
        if let slidingWindow, usesSlidingWindow != false, slidingWindow < contextLength {
            throw check.unsupported("sliding_window", String(slidingWindow), "full attention")
        }
        let rotary = partialRotaryFactor ?? ropeParameters?.partialRotaryFactor ?? 1
        guard rotary == 1 else {
            throw check.unsupported("partial_rotary_factor", String(rotary), "1")
        }
    }
}
