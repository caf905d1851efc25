import SkeinFormats

extension ModelConfiguration {
    /// Reads config.json; absent fields have the family's defaults, which are transformers'.
    ///
    /// `outer`: the fields around text_config, when `file` are those in it.
    ///
    /// - Throws: `FormatError` for a missing or invalid field and for what the family does not
    ///   compute.
    init(
        _ file: NullableFields, outer: ConfigurationFields? = nil, _ family: any ModelFamily,
        _ check: ConfigurationCheck
    ) throws {
        let (fields, traits) = (file.fields, family.files)
        architecture = fields.modelType ?? family.modelTypes[0]
        vocabularySize = try check.size(
            "vocab_size", fields.vocabularySize ?? traits.sizes.vocabulary,
            limit: Limits.vocabularySize)
        width = try check.size(
            "hidden_size", fields.width ?? traits.sizes.width, limit: Limits.width)
        feedForwardWidth = try check.size(
            traits.hasSharedWidth ? "shared_intermediate_size" : "intermediate_size",
            (traits.hasSharedWidth ? fields.sharedFeedForwardWidth : fields.feedForwardWidth)
                ?? traits.sizes.feedForwardWidth,
            limit: Limits.feedForwardWidth)
        layerCount = try check.size(
            "num_hidden_layers", fields.layerCount ?? traits.sizes.layers, limit: Limits.layers)
        headCount = try check.size(
            "num_attention_heads", fields.headCount ?? traits.sizes.heads, limit: Limits.heads)
        keyValueHeadCount = try check.size(
            "num_key_value_heads",
            fields.keyValueHeadCount ?? traits.sizes.keyValueHeads ?? headCount,
            limit: Limits.heads)
        try check.keyValueHeads("num_key_value_heads", keyValueHeadCount, heads: headCount)
        headDimension = try check.headDimension(
            "head_dim",
            file.value(.headDimension, fields.headDimension, orElse: traits.sizes.headDimension),
            width: width, heads: headCount, headsField: "num_attention_heads")
        contextLength = try check.size(
            "max_position_embeddings", fields.contextLength ?? traits.contextLength,
            limit: Limits.contextLength)
        normEpsilon = Float(
            try check.positive("rms_norm_eps", fields.normEpsilon ?? traits.normEpsilon, below: 1))
        // transformers ties a model with several inputs unless the outer fields say otherwise.
        tiedEmbeddings =
            outer.map { $0.tiedEmbeddings ?? true } ?? fields.tiedEmbeddings ?? traits.isTied
        ropeTheta = traits.theta
        ropeFrequencyDivisors = nil
        try fields.refuseVariants(traits, check)
        stated.biased = fields.biased(traits)
        try setScales(file, traits, check)
        let layers = try fields.layers(traits, count: layerCount, check)
        try setWindow(file, traits, layers.isWindowed, check)
        try setRotations(fields, traits, layers, check)
        if architecture == "llama", fields.ropeParameters == nil, fields.ropeTheta == nil,
            ropeTheta != traits.theta
        {
            newlyReadRopeTheta = ropeTheta
        }
        design = family.design(of: self)
        design.normOffset = family.folderNormOffset
        if outer != nil { design.names = .multimodal }
    }

    /// Factors and soft caps.
    private mutating func setScales(
        _ file: NullableFields, _ traits: FileTraits, _ check: ConfigurationCheck
    ) throws {
        let fields = file.fields
        if let scalar = traits.queryScalar {
            let scalar = try check.factor("query_pre_attn_scalar", fields.queryScalar ?? scalar)
            stated.attentionScale = Float(1 / scalar.squareRoot())
        }
        stated.attentionSoftCap = try softCap(
            file, .attentionSoftCap, fields.attentionSoftCap, traits.attentionSoftCap, check)
        stated.logitsSoftCap = try softCap(
            file, .logitsSoftCap, fields.logitsSoftCap, traits.logitsSoftCap, check)
        guard traits.hasMultipliers else { return }
        stated.attentionScale = Float(
            try check.factor("attention_multiplier", fields.attentionMultiplier ?? 1))
        stated.embeddingMultiplier = Float(
            try check.factor("embedding_multiplier", fields.embeddingMultiplier ?? 1))
        stated.residualMultiplier = Float(
            try check.factor("residual_multiplier", fields.residualMultiplier ?? 1))
        stated.logitsMultiplier =
            1 / Float(try check.factor("logits_scaling", fields.logitsDivisor ?? 1))
    }

    private func softCap(
        _ file: NullableFields, _ key: ConfigurationFields.CodingKeys, _ stated: Double?,
        _ rule: FileTraits.SoftCap, _ check: ConfigurationCheck
    ) throws -> Float? {
        switch rule {
        case .refused:
            if let stated { throw check.unsupported(key.rawValue, String(stated), "none") }
            return nil
        case .read(let other):
            guard let cap = file.value(key, stated, orElse: other) else { return nil }
            return Float(try check.factor(key.rawValue, cap))
        }
    }

    private mutating func setWindow(
        _ file: NullableFields, _ traits: FileTraits, _ isWindowed: [Bool],
        _ check: ConfigurationCheck
    ) throws {
        let fields = file.fields
        let field = ConfigurationFields.CodingKeys.slidingWindow
        if traits.windows == .none {
            if let window = fields.slidingWindow, fields.usesSlidingWindow != false,
                window < contextLength
            {
                throw check.unsupported(field.rawValue, String(window), "full attention")
            }
            return
        }
        guard isWindowed.contains(true),
            let window = file.value(field, fields.slidingWindow, orElse: traits.window)
        else { return }
        setWindows(
            try check.size(field.rawValue, window, limit: Limits.contextLength), of: isWindowed)
    }

    private mutating func setRotations(
        _ fields: ConfigurationFields, _ traits: FileTraits, _ layers: ConfigurationFields.Layers,
        _ check: ConfigurationCheck
    ) throws {
        let rope = try RopeFields.chosen(fields, traits, check)
        let full = RotaryContext(
            headDimension: headDimension, contextLength: contextLength,
            theta: fields.ropeTheta ?? traits.theta,
            dimension: try fields.rotaryDimension(headDimension, rope.full, traits, check),
            originalContextLength: fields.originalContextLength
                ?? traits.originalContextLength.map { Double($0) },
            longRopeName: traits.longRopeName)
        let table = try (rope.full ?? RopeScaling()).table(full, check)
        if traits.hasQueryGrowth {
            guard let scaling = rope.full else { throw check.missing("rope_parameters") }
            stated.queryGrowth = try scaling.queryGrowth(full, check)
        }
        var local: DecoderDesign.RotaryTable?
        if traits.hasLocalRotation {
            var context = full
            context.theta =
                fields.localRopeTheta ?? traits.localTheta ?? rope.local.map { _ in traits.theta }
                ?? table.theta
            local = try (rope.local ?? RopeScaling()).table(context, check)
        }
        setRotations(table, local: local, isLocal: layers.isLocal, isRotated: layers.isRotated)
    }
}

extension DecoderDesign.Names {
    /// Those of a text model inside one for several kinds of input.
    static let multimodal = DecoderDesign.Names(
        embedding: "model.language_model.embed_tokens.weight",
        finalNorm: "model.language_model.norm.weight", head: "lm_head.weight",
        blocks: "model.language_model.layers.")
}
