import SkeinFormats
import SkeinTensors

/// What a rotation's table depends on besides its scaling.
struct RotaryContext {
    let headDimension: Int
    let contextLength: Int
    /// Unless the scaling states its own.
    var theta: Double
    /// How many elements of a head are rotated.
    let dimension: Int
    /// What the file states beside the scaling.
    let originalContextLength: Double?
    /// Another name of "longrope".
    let longRopeName: String?
}

/// config.json's rope_scaling, or its successor rope_parameters.
struct RopeScaling: Decodable {
    let type: String
    let theta: Double?
    let factor: Double?
    let lowFrequencyFactor: Double?
    let highFrequencyFactor: Double?
    let originalContextLength: Double?
    let partialRotaryFactor: Double?
    let attentionFactor: Double?
    let betaFast: Double?
    let betaSlow: Double?
    let scale: Double?
    let scaleOfAll: Double?
    let truncates: Bool?
    let shortFactors: [Double]?
    let longFactors: [Double]?
    let queryBeta: Double?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case type = "rope_type"
        case oldType = "type"
        case theta = "rope_theta"
        case factor
        case lowFrequencyFactor = "low_freq_factor"
        case highFrequencyFactor = "high_freq_factor"
        case originalContextLength = "original_max_position_embeddings"
        case partialRotaryFactor = "partial_rotary_factor"
        case attentionFactor = "attention_factor"
        case betaFast = "beta_fast"
        case betaSlow = "beta_slow"
        case scale = "mscale"
        case scaleOfAll = "mscale_all_dim"
        case truncates = "truncate"
        case shortFactors = "short_factor"
        case longFactors = "long_factor"
        case queryBeta = "llama_4_scaling_beta"
    }

    init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> Double? {
            try container.decodeIfPresent(Double.self, forKey: key)
        }
        let stated =
            try container.decodeIfPresent(String.self, forKey: .type)
            ?? container.decodeIfPresent(String.self, forKey: .oldType)
        theta = try number(.theta)
        factor = try number(.factor)
        lowFrequencyFactor = try number(.lowFrequencyFactor)
        highFrequencyFactor = try number(.highFrequencyFactor)
        originalContextLength = try number(.originalContextLength)
        partialRotaryFactor = try number(.partialRotaryFactor)
        attentionFactor = try number(.attentionFactor)
        betaFast = try number(.betaFast)
        betaSlow = try number(.betaSlow)
        scale = try number(.scale)
        scaleOfAll = try number(.scaleOfAll)
        truncates = try container.decodeIfPresent(Bool.self, forKey: .truncates)
        shortFactors = try container.decodeIfPresent([Double].self, forKey: .shortFactors)
        longFactors = try container.decodeIfPresent([Double].self, forKey: .longFactors)
        queryBeta = try number(.queryBeta)
        // One object per kind of layer has none of these keys, and must not pass for "no scaling" in
        // a family that has one rotation.
        let keys = try decoder.container(keyedBy: NamedKey.self).allKeys.map(\.stringValue)
        let known = Set(CodingKeys.allCases.map(\.rawValue))
        let foreign = !keys.isEmpty && known.isDisjoint(with: keys)
        type = stated ?? (foreign ? keys.sorted().joined(separator: ", ") : "default")
    }

    /// No scaling, or one that another format states.
    init(
        type: String = "default", factor: Double? = nil, originalContextLength: Double? = nil,
        attentionFactor: Double? = nil, betaFast: Double? = nil, betaSlow: Double? = nil,
        scaleOfAll: Double? = nil
    ) {
        self.type = type
        self.factor = factor
        self.originalContextLength = originalContextLength
        self.attentionFactor = attentionFactor
        self.betaFast = betaFast
        self.betaSlow = betaSlow
        self.scaleOfAll = scaleOfAll
        scale = scaleOfAll == nil ? nil : 1
        (theta, lowFrequencyFactor, highFrequencyFactor, queryBeta) = (nil, nil, nil, nil)
        (partialRotaryFactor, truncates, shortFactors, longFactors) = (nil, nil, nil, nil)
    }

    /// The rotation.
    ///
    /// - Throws: `FormatError.unsupported` for a type that is not computed, `.missingField` or
    ///   `.badField` for the numbers of the others.
    func table(
        _ context: RotaryContext, _ check: ConfigurationCheck
    ) throws -> DecoderDesign.RotaryTable {
        var table = DecoderDesign.RotaryTable(
            theta: try check.ropeTheta("rope_theta", theta ?? context.theta),
            dimension: context.dimension)
        switch type {
        case "default": break
        case "longrope", "su", context.longRopeName:
            try scaleLongRows(&table, context, check)
        case "linear":
            let factor = try checkedFactor(check)
            table.divisors = [Float](repeating: Float(factor), count: table.dimension / 2)
        case "llama3":
            let low = try number("low_freq_factor", lowFrequencyFactor, check)
            let high = try number("high_freq_factor", highFrequencyFactor, check)
            guard low < high else {
                throw check.bad("high_freq_factor", "above \(low)", String(high))
            }
            table.divisors = Self.llama3Divisors(
                headDimension: table.dimension, theta: table.theta,
                factor: try checkedFactor(check), low: low, high: high,
                originalContextLength: try number(
                    "original_max_position_embeddings", originalContextLength, check))
        case "yarn": try scaleByParts(&table, context, check)
        default:
            throw check.unsupported(
                "rope_type", type, "default, linear, llama3, longrope or yarn")
        }
        return table
    }

    func checkedFactor(_ check: ConfigurationCheck) throws -> Double {
        guard let factor else { throw check.missing("factor") }
        return try check.ropeFactor("factor", factor)
    }

    func number(_ field: String, _ value: Double?, _ check: ConfigurationCheck) throws -> Double {
        guard let value else { throw check.missing(field) }
        return try check.positive(field, value, below: 1e9)
    }

    /// Tokens that the model was first trained on.
    func originalContext(
        _ context: RotaryContext, _ check: ConfigurationCheck
    ) throws -> Double {
        let field = "original_max_position_embeddings"
        let length =
            context.originalContextLength ?? originalContextLength
            ?? Double(context.contextLength)
        return try check.number(field, length, from: 1, below: Double(Limits.contextLength))
    }

    /// Llama 3's scaling: long waves are stretched by `factor`, short ones are kept, and those
    /// between are blended by smooth = (original / wavelength - low) / (high - low).
    ///
    /// Source: transformers, modeling_rope_utils.py; llama.cpp's conversion writes the same divisors
    /// as rope_freqs.
    static func llama3Divisors(
        headDimension: Int, theta: Double, factor: Double, low: Double, high: Double,
        originalContextLength: Double
    ) -> [Float] {
        (0..<(headDimension / 2)).map { index in
            let frequency = ElementaryFunctions.power(
                theta, -2 * Double(index) / Double(headDimension))
            let waves = originalContextLength * frequency / (2 * Double.pi)
            if waves > high { return 1 }
            if waves < low { return Float(factor) }
            let smooth = (waves - low) / (high - low)
            return Float(1 / ((1 - smooth) / factor + smooth))
        }
    }
}
