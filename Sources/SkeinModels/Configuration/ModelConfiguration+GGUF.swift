import SkeinFormats

extension ModelConfiguration {
    /// Reads the metadata of a GGUF file, whose keys begin with its architecture.
    ///
    /// Absent keys have the values that llama.cpp gives them.
    ///
    /// - Throws: `FormatError` for a missing or invalid field and for what the family does not
    ///   compute.
    init(
        _ gguf: GGUFFile, _ fields: GGUFFields, _ family: any ModelFamily, _ layout: GGUFLayout
    ) throws {
        let (check, traits) = (fields.check, family.files)
        architecture = fields.architecture
        if let type = try fields.string("general.type"), type != "model" {
            throw check.unsupported("general.type", type, "model")
        }
        contextLength = try fields.size(fields.key("context_length"), limit: Limits.contextLength)
        width = try fields.size(fields.key("embedding_length"), limit: Limits.width)
        feedForwardWidth = try fields.size(
            fields.key("feed_forward_length"), limit: Limits.feedForwardWidth)
        layerCount = try fields.size(fields.key("block_count"), limit: Limits.layers)
        let headsField = fields.key("attention.head_count")
        headCount = try fields.size(headsField, limit: Limits.heads)
        let keyValueField = fields.key("attention.head_count_kv")
        keyValueHeadCount = try check.size(
            keyValueField,
            try fields.integer(keyValueField, layers: layerCount) ?? headCount,
            limit: Limits.heads)
        try check.keyValueHeads(keyValueField, keyValueHeadCount, heads: headCount)
        let dimensionField = fields.key("attention.key_length")
        headDimension = try check.headDimension(
            dimensionField, try fields.integer(dimensionField), width: width, heads: headCount,
            headsField: headsField)
        vocabularySize = try Self.vocabularySize(fields, gguf)
        let epsilonField = fields.key("attention.layer_norm_rms_epsilon")
        normEpsilon = Float(
            try check.positive(epsilonField, try fields.required(epsilonField), below: 1))
        ropeTheta = traits.theta
        tiedEmbeddings = gguf.tensors["output.weight"] == nil
        ropeFrequencyDivisors = nil
        try Self.refuseVariants(fields, traits, headDimension: headDimension)
        stated.biased = traits.biased.union(
            TargetModule.allCases.filter { module in
                layout.fileName(of: module, 0).map { gguf.tensors[$0 + ".bias"] != nil } ?? false
            })
        try setScales(fields, traits)
        let isWindowed = try setWindow(fields, traits, layout)
        try setRotations(gguf, fields, traits, isWindowed: isWindowed)
        design = family.design(of: self)
        design.normOffset = layout.normOffset
    }

    /// The stated size, else the number of the embedding's rows, or else of tokens: these may be fewer
    /// or more.
    private static func vocabularySize(_ fields: GGUFFields, _ gguf: GGUFFile) throws -> Int {
        var size = try fields.integer(fields.key("vocab_size"))
        if size == nil {
            size = gguf.tensors["token_embd.weight"]?.shape.first
            if size == nil, case .strings(let tokens) = gguf.metadata["tokenizer.ggml.tokens"] {
                size = tokens.count
            }
        }
        return try fields.check.size(
            fields.key("vocab_size"), size, limit: Limits.vocabularySize)
    }

    /// Refuses fields that would change the computation.
    private static func refuseVariants(
        _ fields: GGUFFields, _ traits: FileTraits, headDimension: Int
    ) throws {
        let check = fields.check
        let field = fields.key("attention.value_length")
        if let value = try fields.integer(field), value != headDimension {
            throw check.unsupported(field, String(value), "\(headDimension), the head dimension")
        }
        if let experts = try fields.integer(fields.key("expert_count")), experts != 0 {
            throw check.unsupported(fields.key("expert_count"), String(experts), "0")
        }
        // By this llama.cpp decides whether a Granite is rotated at all.
        let isRotated = fields.key("rope.scaling.finetuned")
        if traits.hasMultipliers, fields.value(isRotated) == .bool(false) {
            throw check.unsupported(isRotated, "false", "true")
        }
    }

    /// Factors and soft caps; 0 means none.
    private mutating func setScales(_ fields: GGUFFields, _ traits: FileTraits) throws {
        func factor(_ name: String) throws -> Double? {
            let field = fields.key(name)
            guard let value = try fields.number(field), value != 0 else { return nil }
            return try fields.check.factor(field, value)
        }
        let scale = try factor("attention.scale").map { Float($0) }
        let usual = Float(1 / Double(headDimension).squareRoot())
        if traits.queryScalar != nil {
            let divisor =
                layerCount == traits.layersScaledByWidth ? width / headCount : headDimension
            stated.attentionScale =
                try scale
                ?? Float(
                    1
                        / fields.check.factor(
                            fields.key("attention.head_count"), Double(divisor)
                        ).squareRoot())
        } else if traits.hasMultipliers {
            stated.attentionScale = scale ?? usual
        } else if let scale, scale != usual {
            throw fields.check.unsupported(
                fields.key("attention.scale"), "\(scale)", "\(usual), 1 / sqrt(head dimension)")
        }
        stated.attentionSoftCap = try softCap(
            "attn_logit_softcapping", traits.attentionSoftCap, fields)
        stated.logitsSoftCap = try softCap("final_logit_softcapping", traits.logitsSoftCap, fields)
        guard traits.hasMultipliers else { return }
        stated.embeddingMultiplier = Float(try factor("embedding_scale") ?? 1)
        stated.residualMultiplier = Float(try factor("residual_scale") ?? 1)
        let field = fields.key("logit_scale")
        stated.logitsMultiplier =
            1 / Float(try fields.check.factor(field, fields.required(field)))
    }

    private func softCap(
        _ name: String, _ rule: FileTraits.SoftCap, _ fields: GGUFFields
    ) throws -> Float? {
        let field = fields.key(name)
        let value = try fields.number(field)
        switch rule {
        case .refused:
            if let value, value != 0 { throw fields.check.unsupported(field, "\(value)", "none") }
            return nil
        case .read(let other):
            guard let cap = value ?? other, cap != 0 else { return nil }
            return Float(try fields.check.factor(field, cap))
        }
    }

    /// Keeps the window, and returns the layers that it is on, whatever its length.
    private mutating func setWindow(
        _ fields: GGUFFields, _ traits: FileTraits, _ layout: GGUFLayout
    ) throws -> [Bool] {
        let (check, field) = (fields.check, fields.key("attention.sliding_window"))
        let none = [Bool](repeating: false, count: layerCount)
        let window = try fields.integer(field) ?? layout.window ?? 0
        if window == 0 { return none }
        let pattern = try pattern(fields)
        let isWindowed: [Bool]
        switch layout.windows ?? traits.windows {
        case .everywhere: isWindowed = pattern ?? none.map { _ in true }
        case .alternating(let period):
            isWindowed = pattern ?? (0..<layerCount).map { ($0 + 1) % period != 0 }
        case .none, .upper, .unrotated:
            guard let pattern else {
                if window >= contextLength { return none }
                throw check.unsupported(field, String(window), "full attention")
            }
            isWindowed = pattern
        }
        setWindows(try check.size(field, window, limit: Limits.contextLength), of: isWindowed)
        return isWindowed
    }

    /// Which layers have the window: a flag for each, or every layer but each nth.
    private func pattern(_ fields: GGUFFields) throws -> [Bool]? {
        let field = fields.key("attention.sliding_window_pattern")
        let flags: [Bool]
        switch fields.value(field) {
        case nil: return nil
        case .bools(let values): flags = values
        case .integers(let values): flags = values.map { $0 != 0 }
        default:
            let period = try fields.size(field, limit: Limits.layers)
            return (0..<layerCount).map { ($0 + 1) % period != 0 }
        }
        guard flags.count == layerCount else {
            throw fields.check.bad(
                field, "a list of \(layerCount), one for each layer", "one of \(flags.count)")
        }
        return flags
    }
}
