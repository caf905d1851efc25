import SkeinFormats
import SkeinTensors

extension ConfigurationFields {
    /// What each layer is.
    struct Layers {
        /// It has the window, if there is one.
        var isWindowed: [Bool]
        /// Its type is "sliding_attention", if the family knows types.
        var isLocal: [Bool]
        var isRotated: [Bool]
    }

    /// - Throws: `FormatError.badField` for lists of another length, `.unsupported` for an unknown
    ///   type.
    func layers(
        _ traits: FileTraits, count: Int, _ check: ConfigurationCheck
    ) throws -> Layers {
        let isRotated = try rotated(traits, count: count, check)
        let none = [Bool](repeating: false, count: count)
        let isOn = usesSlidingWindow == true
        switch traits.windows {
        case .none:
            if traits.isHybrid { try refuseOtherLayers(count, check) }
            return Layers(isWindowed: none, isLocal: none, isRotated: isRotated)
        case .everywhere:
            let all = [Bool](repeating: true, count: count)
            return Layers(isWindowed: all, isLocal: none, isRotated: isRotated)
        case .alternating(let usual):
            let period = try check.size(
                "sliding_window_pattern", windowPeriod ?? usual, limit: Limits.layers)
            let local = try types(count, check) ?? (0..<count).map { ($0 + 1) % period != 0 }
            return Layers(isWindowed: local, isLocal: local, isRotated: isRotated)
        case .upper:
            let first = firstWindowedLayer ?? 28
            let typed = try types(count, check) ?? (0..<count).map { $0 >= first }
            return Layers(isWindowed: isOn ? typed : none, isLocal: none, isRotated: isRotated)
        case .unrotated:
            let typed = try types(count, check) ?? isRotated.map { !$0 }
            return Layers(isWindowed: isOn ? typed : none, isLocal: none, isRotated: isRotated)
        }
    }

    /// Whether each layer's type is "sliding_attention"; nil: the file does not say.
    private func types(_ count: Int, _ check: ConfigurationCheck) throws -> [Bool]? {
        guard let layerTypes else { return nil }
        try checkCount(of: layerTypes, count, check)
        return try layerTypes.map { type in
            switch type {
            case "sliding_attention": true
            case "full_attention": false
            default:
                throw check.unsupported(
                    "layer_types", type, "full_attention and sliding_attention")
            }
        }
    }

    private func checkCount(
        of types: [String], _ count: Int, _ check: ConfigurationCheck
    ) throws {
        guard types.count == count else {
            throw check.bad(
                "layer_types", "a list of \(count), one for each layer", "one of \(types.count)")
        }
    }

    /// Refuses layers without attention. Older versions of transformers spell the kinds "attention"
    /// and "mamba".
    private func refuseOtherLayers(_ count: Int, _ check: ConfigurationCheck) throws {
        let supported = "attention in every layer"
        if let otherLayerTypes, let layerTypes, layerTypes != otherLayerTypes {
            throw check.bad(
                "layers_block_type", "the same as layer_types", "another list")
        }
        guard let layerTypes = layerTypes ?? otherLayerTypes else {
            throw check.unsupported(
                "layer_types", "not stated, which means Mamba layers", supported)
        }
        try checkCount(of: layerTypes, count, check)
        for type in layerTypes where type != "attention" && type != "full_attention" {
            let isMamba = type == "mamba" || type == "linear_attention"
            throw check.unsupported(
                "layer_types", isMamba ? "\(type) (with Mamba layers)" : type, supported)
        }
    }

    private func rotated(
        _ traits: FileTraits, count: Int, _ check: ConfigurationCheck
    ) throws -> [Bool] {
        if traits.statesPositions {
            guard ["rope", "nope", nil].contains(positions) else {
                throw check.unsupported(
                    "position_embedding_type", positions ?? "null", "rope or nope")
            }
            return [Bool](repeating: positions == "rope", count: count)
        }
        guard let usual = traits.unrotatedPeriod else {
            return [Bool](repeating: true, count: count)
        }
        guard let rotatedLayers else {
            let period = try check.size(
                "no_rope_layer_interval", unrotatedPeriod ?? usual, limit: Limits.layers)
            return (0..<count).map { ($0 + 1) % period != 0 }
        }
        // transformers takes a longer list, too.
        guard rotatedLayers.count >= count else {
            throw check.bad(
                "no_rope_layers", "a list of \(count), one for each layer",
                "one of \(rotatedLayers.count)")
        }
        return try rotatedLayers.prefix(count).map { flag in
            guard flag == 0 || flag == 1 else {
                throw check.bad("no_rope_layers", "of 0 and 1", String(flag))
            }
            return flag == 1
        }
    }

    /// Refuses fields that would change the computation.
    func refuseVariants(_ traits: FileTraits, _ check: ConfigurationCheck) throws {
        let isOther = traits.activationField == CodingKeys.otherActivation.rawValue
        let names = traits.activation == .swiGLU ? ["silu", "swish"] : ["gelu_pytorch_tanh"]
        if let name = isOther ? otherActivation : activation, !names.contains(name) {
            throw check.unsupported(traits.activationField, name, names[0])
        }
        if attentionBias == true, traits.attentionBias.isEmpty, traits.biased.isEmpty {
            throw check.unsupported("attention_bias", "true", "false")
        }
        if feedForwardBias == true, traits.feedForwardBias.isEmpty {
            throw check.unsupported("mlp_bias", "true", "false")
        }
        if traits.isHybrid, expertCount != 0 {
            throw check.unsupported(
                "num_local_experts",
                (expertCount.map { String($0) } ?? "not stated, which means 8")
                    + " (a mixture of experts)", "0")
        }
        if isBidirectional == true {
            throw check.unsupported("use_bidirectional_attention", "true", "false")
        }
    }

    /// The projections with a bias.
    func biased(_ traits: FileTraits) -> Set<TargetModule> {
        traits.biased
            .union(attentionBias == true ? traits.attentionBias : [])
            .union(feedForwardBias == true ? traits.feedForwardBias : [])
    }

    /// How many elements of a head are rotated.
    func rotaryDimension(
        _ headDimension: Int, _ rope: RopeScaling?, _ traits: FileTraits,
        _ check: ConfigurationCheck
    ) throws -> Int {
        let field = "partial_rotary_factor"
        let factor = partialRotaryFactor ?? rope?.partialRotaryFactor ?? 1
        if factor == 1 { return headDimension }
        guard traits.allowsPartialRotation else {
            throw check.unsupported(field, String(factor), "1")
        }
        guard factor > 0, factor < 1 else {
            throw check.bad(field, "above 0, up to 1", "\(factor)")
        }
        let dimension = Int(Double(headDimension) * factor)
        guard dimension > 0, dimension % 2 == 0 else {
            throw check.bad(
                field, "one that rotates an even number of elements",
                "\(factor), which rotates \(dimension) of \(headDimension)")
        }
        return dimension
    }
}
