import SkeinFormats
import SkeinTensors

// Rotations for rows that are longer than those of the first training: YaRN (arXiv 2309.00071) and
// LongRoPE (arXiv 2402.13753), as transformers' modeling_rope_utils.py computes them.
extension RopeScaling {
    /// YaRN: waves that turn more than `beta_fast` times in the original context are kept, those that
    /// turn less than `beta_slow` times are stretched by `factor`, and those between are blended.
    func scaleByParts(
        _ table: inout DecoderDesign.RotaryTable, _ context: RotaryContext,
        _ check: ConfigurationCheck
    ) throws {
        let original = try originalContext(context, check)
        let factor = try checkedFactor(check)
        // Zero means the default there.
        let fast = try number("beta_fast", betaFast.flatMap { $0 == 0 ? nil : $0 } ?? 32, check)
        let slow = try number("beta_slow", betaSlow.flatMap { $0 == 0 ? nil : $0 } ?? 1, check)
        guard table.theta > 1 else {
            throw check.bad("rope_theta", "above 1 with yarn", String(table.theta))
        }
        let dimension = Double(table.dimension)
        /// The index of the wave that turns so often in the original context.
        func index(_ turns: Double) -> Double {
            dimension * ElementaryFunctions.logarithm(original / (turns * 2 * Double.pi))
                / (2 * ElementaryFunctions.logarithm(table.theta))
        }
        var (low, high) = (index(fast), index(slow))
        if truncates ?? true { (low, high) = (low.rounded(.down), high.rounded(.up)) }
        (low, high) = (max(low, 0), min(high, dimension - 1))
        if low == high { high += 0.001 }
        table.divisors = (0..<table.dimension / 2).map { index in
            let stretched = min(max((Double(index) - low) / (high - low), 0), 1)
            return Float(1 / (stretched / factor + (1 - stretched)))
        }
        table.attentionFactor = try statedAttentionFactor(check) ?? yarnFactor(factor, check)
    }

    /// 0.1 ln(factor) + 1, unless the file cancels it by two equal scales.
    private func yarnFactor(_ factor: Double, _ check: ConfigurationCheck) throws -> Float {
        if let scale, let scaleOfAll, scale != 0, scaleOfAll != 0 {
            guard scale == scaleOfAll else {
                throw check.unsupported(
                    "mscale", String(scale), "\(scaleOfAll), mscale_all_dim, or none")
            }
            return 1
        }
        return factor <= 1 ? 1 : Float(0.1 * ElementaryFunctions.logarithm(factor) + 1)
    }

    /// LongRoPE: a divisor for each wave, and others for rows beyond the original context.
    func scaleLongRows(
        _ table: inout DecoderDesign.RotaryTable, _ context: RotaryContext,
        _ check: ConfigurationCheck
    ) throws {
        let original = try originalContext(context, check)
        table.divisors = try factors("short_factor", shortFactors, table.dimension / 2, check)
        table.longDivisors = try factors("long_factor", longFactors, table.dimension / 2, check)
        table.longFrom = Int(original)
        let factor = try check.number(
            "factor", self.factor ?? Double(context.contextLength) / original, from: 0, below: 1e9)
        if let stated = try statedAttentionFactor(check) {
            table.attentionFactor = stated
        } else if factor > 1 {
            guard original > 1 else {
                throw check.bad(
                    "original_max_position_embeddings", "above 1 with longrope", String(original))
            }
            let growth =
                ElementaryFunctions.logarithm(factor) / ElementaryFunctions.logarithm(original)
            table.attentionFactor = Float((1 + growth).squareRoot())
        }
    }

    private func factors(
        _ field: String, _ values: [Double]?, _ count: Int, _ check: ConfigurationCheck
    ) throws -> [Float] {
        guard let values else { throw check.missing(field) }
        guard values.count == count else {
            throw check.bad(
                field, "a list of \(count), half of the rotated elements", "one of \(values.count)")
        }
        return try values.map { Float(try check.ropeFactor(field, $0)) }
    }

    private func statedAttentionFactor(_ check: ConfigurationCheck) throws -> Float? {
        try attentionFactor.map { Float(try check.factor("attention_factor", $0)) }
    }

    /// Ministral 3's growth of queries; nil if its factor is 0.
    func queryGrowth(
        _ context: RotaryContext, _ check: ConfigurationCheck
    ) throws -> BlockDesign.QueryGrowth? {
        let field = "llama_4_scaling_beta"
        guard let queryBeta else { throw check.missing(field) }
        let beta = try check.number(field, queryBeta, from: 0, below: 1e3)
        guard beta > 0 else { return nil }
        return BlockDesign.QueryGrowth(
            beta: Float(beta), original: Int(try originalContext(context, check)))
    }
}

/// rope_scaling or rope_parameters: one scaling, or one for each type of layer.
enum RopeFields: Decodable {
    case one(RopeScaling)
    case byType(full: RopeScaling?, local: RopeScaling?)

    private enum LayerType: String, CodingKey {
        case full = "full_attention"
        case local = "sliding_attention"
    }

    init(from decoder: any Swift.Decoder) throws {
        let types = try decoder.container(keyedBy: LayerType.self)
        guard !types.allKeys.isEmpty else {
            self = .one(try RopeScaling(from: decoder))
            return
        }
        self = .byType(
            full: try types.decodeIfPresent(RopeScaling.self, forKey: .full),
            local: try types.decodeIfPresent(RopeScaling.self, forKey: .local))
    }

    /// The scalings of a file.
    ///
    /// - Throws: `FormatError.unsupported` for one for each type in a family that has no types, or
    ///   rope_parameters of one in a family that has.
    static func chosen(
        _ fields: ConfigurationFields, _ traits: FileTraits, _ check: ConfigurationCheck
    ) throws -> (full: RopeScaling?, local: RopeScaling?) {
        let name = fields.ropeParameters == nil ? "rope_scaling" : "rope_parameters"
        switch fields.ropeParameters ?? fields.ropeScaling {
        case nil: return (nil, nil)
        case .one(let scaling):
            // transformers reads this field by type there, and so ignores one for all.
            guard !traits.hasLocalRotation || fields.ropeParameters == nil else {
                throw check.unsupported(
                    name, "one for all layers", "one for each type of layer in this family")
            }
            return (scaling, nil)
        case .byType(let full, let local):
            guard traits.hasLocalRotation else {
                throw check.unsupported(
                    name, "one for each type of layer", "one for all layers in this family")
            }
            for scaling in [full, local] {
                if let factor = scaling?.partialRotaryFactor, factor != 1 {
                    throw check.unsupported("partial_rotary_factor", String(factor), "1")
                }
                // transformers looks for it where it cannot be.
                if scaling?.truncates == false {
                    throw check.unsupported("truncate", "false", "true")
                }
            }
            return (full, local)
        }
    }
}
