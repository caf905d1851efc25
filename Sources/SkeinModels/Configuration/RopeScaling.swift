import SkeinFormats
import SkeinTensors

/// config.json's rope_scaling, or its successor rope_parameters.
struct RopeScaling: Decodable {
    let type: String
    let theta: Double?
    let factor: Double?
    let lowFrequencyFactor: Double?
    let highFrequencyFactor: Double?
    let originalContextLength: Double?
    let partialRotaryFactor: Double?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case type = "rope_type"
        case oldType = "type"
        case theta = "rope_theta"
        case factor
        case lowFrequencyFactor = "low_freq_factor"
        case highFrequencyFactor = "high_freq_factor"
        case originalContextLength = "original_max_position_embeddings"
        case partialRotaryFactor = "partial_rotary_factor"
    }

    init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let stated =
            try container.decodeIfPresent(String.self, forKey: .type)
            ?? container.decodeIfPresent(String.self, forKey: .oldType)
        theta = try container.decodeIfPresent(Double.self, forKey: .theta)
        factor = try container.decodeIfPresent(Double.self, forKey: .factor)
        lowFrequencyFactor = try container.decodeIfPresent(Double.self, forKey: .lowFrequencyFactor)
        highFrequencyFactor = try container.decodeIfPresent(
            Double.self, forKey: .highFrequencyFactor)
        originalContextLength = try container.decodeIfPresent(
            Double.self, forKey: .originalContextLength)
        partialRotaryFactor = try container.decodeIfPresent(
            Double.self, forKey: .partialRotaryFactor)
        // One object per kind of layer (Gemma 3) has none of these keys, and must not pass for "no
        // scaling".
        let keys = try decoder.container(keyedBy: NamedKey.self).allKeys.map(\.stringValue)
        let known = Set(CodingKeys.allCases.map(\.rawValue))
        let foreign = !keys.isEmpty && known.isDisjoint(with: keys)
        type = stated ?? (foreign ? keys.sorted().joined(separator: ", ") : "default")
    }

    /// The divisors of the inverse frequencies; nil for no scaling.
    ///
    /// - Throws: `FormatError.unsupported` for a type other than "default", "linear" and "llama3",
    ///   `.missingField` or `.badField` for the numbers of these.
    func divisors(
        headDimension: Int, theta: Double, _ check: ConfigurationCheck
    ) throws -> [Float]? {
        switch type {
        case "default": return nil
        case "linear":
            let factor = try checkedFactor(check)
            return [Float](repeating: Float(factor), count: headDimension / 2)
        case "llama3":
            let low = try number("low_freq_factor", lowFrequencyFactor, check)
            let high = try number("high_freq_factor", highFrequencyFactor, check)
            guard low < high else {
                throw check.bad("high_freq_factor", "above \(low)", String(high))
            }
            return Self.llama3Divisors(
                headDimension: headDimension, theta: theta,
                factor: try checkedFactor(check), low: low, high: high,
                originalContextLength: try number(
                    "original_max_position_embeddings", originalContextLength, check))
        default:
            throw check.unsupported("rope_type", type, "default, linear or llama3")
        }
    }

    private func checkedFactor(_ check: ConfigurationCheck) throws -> Double {
        guard let factor else { throw FormatError.missingField(path: check.path, field: "factor") }
        return try check.ropeFactor("factor", factor)
    }

    private func number(
        _ field: String, _ value: Double?, _ check: ConfigurationCheck
    ) throws -> Double {
        guard let value else { throw FormatError.missingField(path: check.path, field: field) }
        return try check.positive(field, value, below: 1e9)
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
