import SkeinBasics
import SkeinFormats
import SkeinJSON
import SkeinTensors

/// config.json and the tensors of a folder for a model in a GGUF file: names and the order of rows
/// are transformers'.
///
/// Every value is taken from what the file was read to, so that reading the folder gives the same
/// model; `FusedFormatsTests` checks this for every family.
struct GGUFAsFolder {
    private let input: FuseInput
    private let modelType: String
    private let folderFamily: any ModelFamily

    /// - Throws: `FuseError.noConversion` for what no folder of the family can state.
    init(_ input: FuseInput) throws {
        self.input = input
        let architecture = input.configuration.architecture
        let hasWindows = !input.configuration.stated.windows.isEmpty
        switch input.family {
        case is Llama where hasWindows: folderFamily = Mistral()
        case is Olmo3 where !hasWindows: folderFamily = Olmo2()
        default: folderFamily = input.family
        }
        modelType = folderFamily.modelTypes[0]
        guard Self.classes[modelType] != nil else {
            throw FuseError.noConversion(
                what: "a model of the architecture", found: architecture,
                format: "a Hugging Face folder")
        }
    }

    /// The class of a model type in transformers.
    private static let classes = [
        "llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM",
        "qwen3": "Qwen3ForCausalLM", "smollm3": "SmolLM3ForCausalLM",
        "granite": "GraniteForCausalLM", "olmo2": "Olmo2ForCausalLM", "olmo3": "Olmo3ForCausalLM",
        "gemma2": "Gemma2ForCausalLM", "gemma3_text": "Gemma3ForCausalLM",
        "phi3": "Phi3ForCausalLM",
    ]

    private var model: ModelConfiguration { input.configuration }
    private var stated: StatedTraits { model.stated }
    private var traits: FileTraits { folderFamily.files }

    // MARK: Tensors

    func tensors(_ type: ElementType) throws -> [FusedTensor] {
        try model.requiredTensors.map { name, shape in
            var tensor = try input.tensor(name)
            if shape.count == 1, name.contains("norm") {
                tensor.shift = input.design.normOffset - folderFamily.folderNormOffset
            }
            return FusedTensor(name, tensor, as: type)
        }
    }

    // MARK: Configuration

    /// - Throws: `FuseError.noConversion`.
    func config(_ type: ElementType) throws -> String {
        var fields: [(String, JSONValue)] = [
            ("architectures", .list([.text(Self.classes[modelType] ?? "")])),
            ("model_type", .text(modelType)),
            ("vocab_size", .integer(model.vocabularySize)),
            ("hidden_size", .integer(model.width)),
            ("intermediate_size", .integer(model.feedForwardWidth)),
            ("num_hidden_layers", .integer(model.layerCount)),
            ("num_attention_heads", .integer(model.headCount)),
            ("num_key_value_heads", .integer(model.keyValueHeadCount)),
            ("head_dim", .integer(model.headDimension)),
            ("max_position_embeddings", .integer(model.contextLength)),
            ("rms_norm_eps", .decimal(Self.decimal(model.normEpsilon))),
            ("tie_word_embeddings", .bool(model.tiedEmbeddings)),
            ("torch_dtype", .text(type.torchName)),
        ]
        let activation = traits.activation == .geGLU ? "gelu_pytorch_tanh" : "silu"
        fields.append((traits.activationField, .text(activation)))
        if traits.activationField != "hidden_act" {
            fields.append(("hidden_act", .text(activation)))
        }
        try fields += biases() + windows() + scales() + rotations() + tokens()
        return JSONValue.fields(fields).lines() + "\n"
    }

    private func biases() throws -> [(String, JSONValue)] {
        let optional = stated.biased.subtracting(traits.biased)
        let attention = optional.intersection(traits.attentionBias)
        let feedForward = optional.intersection(traits.feedForwardBias)
        guard attention.isEmpty || attention == traits.attentionBias,
            feedForward.isEmpty || feedForward == traits.feedForwardBias,
            attention.union(feedForward) == optional
        else {
            let names = optional.sorted().map(\.name).joined(separator: ", ")
            throw refused("biases of", names)
        }
        return
            (traits.attentionBias.isEmpty
            ? [] : [("attention_bias", .bool(!attention.isEmpty))])
            + (traits.feedForwardBias.isEmpty
                ? [] : [("mlp_bias", .bool(!feedForward.isEmpty))])
    }

    private func windows() throws -> [(String, JSONValue)] {
        let windows = stated.windows
        let none = windows.isEmpty
        let window = windows.compactMap { $0 }.first
        let types = (0..<model.layerCount).map { layer -> JSONValue in
            .text(none || windows[layer] == nil ? "full_attention" : "sliding_attention")
        }
        switch traits.windows {
        case .none:
            if !none { throw refused("a window in a model of the type", modelType) }
            return []
        case .everywhere:
            guard none || !windows.contains(nil) else {
                throw refused("a window on some layers in", modelType)
            }
            return [("sliding_window", window.map { .integer($0) } ?? .null)]
        case .alternating:
            // A window as long as the context hides nothing.
            let length = window ?? model.contextLength
            return [
                ("sliding_window", .integer(length)),
                ("layer_types", .list(none ? usualTypes : types)),
            ]
        case .upper, .unrotated:
            return [("use_sliding_window", .bool(!none))]
                + (none
                    ? []
                    : [
                        ("sliding_window", .integer(window ?? 0)),
                        ("layer_types", .list(types)),
                    ])
        }
    }

    /// Types of layers when no window is shorter than the context: rotations may still differ.
    private var usualTypes: [JSONValue] {
        (0..<model.layerCount).map { layer in
            let place = stated.rotationOfLayer.isEmpty ? 0 : stated.rotationOfLayer[layer] ?? 0
            return .text(place == 0 ? "full_attention" : "sliding_attention")
        }
    }

    private func scales() -> [(String, JSONValue)] {
        func number(_ value: Float) -> JSONValue { .decimal(Self.decimal(value)) }
        var fields: [(String, JSONValue)] = []
        if traits.queryScalar != nil, let scale = stated.attentionScale {
            fields.append(("query_pre_attn_scalar", Self.scalar(scale)))
        }
        if case .read = traits.attentionSoftCap {
            fields.append(
                ("attn_logit_softcapping", stated.attentionSoftCap.map(number) ?? .null))
        }
        if case .read = traits.logitsSoftCap {
            fields.append(("final_logit_softcapping", stated.logitsSoftCap.map(number) ?? .null))
        }
        guard traits.hasMultipliers else { return fields }
        if let scale = stated.attentionScale {
            fields.append(("attention_multiplier", number(scale)))
        }
        return fields + [
            ("embedding_multiplier", number(stated.embeddingMultiplier)),
            ("residual_multiplier", number(stated.residualMultiplier)),
            ("logits_scaling", number(1 / stated.logitsMultiplier)),
        ]
    }

    /// The number whose inverse root is `scale`: whole, if that is it.
    private static func scalar(_ scale: Float) -> JSONValue {
        let exact = 1 / (Double(scale) * Double(scale))
        let whole = exact.rounded()
        if Float(1 / whole.squareRoot()) == scale { return .integer(Int(whole)) }
        return .decimal(exact)
    }

    /// The decimal number that was rounded to `value`: 1e-05, not 9.999999747378752e-06.
    static func decimal(_ value: Float) -> Double { Double("\(value)") ?? Double(value) }

    private func tokens() -> [(String, JSONValue)] {
        guard case .gguf(let file) = input.description else { return [] }
        return ["bos", "eos", "padding"].compactMap { role in
            guard case .unsigned(let id)? = file.metadata["tokenizer.ggml.\(role)_token_id"],
                id < input.configuration.vocabularySize
            else { return nil }
            return ("\(role == "padding" ? "pad" : role)_token_id", .integer(Int(id)))
        }
    }

    private func refused(_ what: String, _ found: String) -> FuseError {
        .noConversion(what: what, found: found, format: "a Hugging Face folder")
    }
}

/// Rotations.
extension GGUFAsFolder {
    private func rotations() throws -> [(String, JSONValue)] {
        let table = input.design.rotaryTables[0]
        var fields: [(String, JSONValue)] = [("rope_theta", .decimal(table.theta))]
        if input.family is Ministral3 { throw refused("a model of the type", modelType) }
        if let local = input.design.rotaryTables.dropFirst().first {
            guard local.divisors == nil, local.longDivisors == nil else {
                throw refused("a scaled rotation of windowed layers in", modelType)
            }
            if traits.localTheta != nil {
                fields.append(("rope_local_base_freq", .decimal(local.theta)))
            }
        }
        if traits.allowsPartialRotation {
            fields.append(
                (
                    "partial_rotary_factor",
                    .decimal(Double(table.dimension) / Double(model.headDimension))
                ))
        }
        if let period = traits.unrotatedPeriod {
            fields.append(("no_rope_layer_interval", .integer(period)))
        }
        guard let divisors = table.divisors else {
            fields.append(("rope_scaling", .null))
            return fields
        }
        let numbers = JSONValue.list(divisors.map { .decimal(Self.decimal($0)) })
        if let long = table.longDivisors {
            fields.append(("original_max_position_embeddings", .integer(table.longFrom)))
            fields.append(
                (
                    "rope_scaling",
                    .fields([
                        ("type", .text("longrope")), ("short_factor", numbers),
                        ("long_factor", .list(long.map { .decimal(Self.decimal($0)) })),
                        ("attention_factor", .decimal(Self.decimal(table.attentionFactor))),
                    ])
                ))
            return fields
        }
        fields.append(("rope_scaling", .fields(try scaling(of: table, divisors))))
        return fields
    }

    /// What gives these divisors: one factor for all, YaRN as the file states it, or Llama 3's
    /// numbers.
    private func scaling(
        of table: DecoderDesign.RotaryTable, _ divisors: [Float]
    ) throws -> [(String, JSONValue)] {
        guard case .gguf(let file) = input.description else { return [] }
        let fields = GGUFFields(file)
        func number(_ name: String) throws -> Double? {
            try fields.number(fields.key("rope.scaling." + name)).map { Self.decimal(Float($0)) }
        }
        if try fields.string(fields.key("rope.scaling.type")) == "yarn" {
            var scaling: [(String, JSONValue)] = [
                ("rope_type", .text("yarn")), ("factor", .decimal(try number("factor") ?? 1)),
                ("attention_factor", .decimal(Self.decimal(table.attentionFactor))),
            ]
            let original = fields.key("rope.scaling.original_context_length")
            if let length = try fields.integer(original), length > 0 {
                scaling.append(("original_max_position_embeddings", .integer(length)))
            }
            for (name, key) in [("yarn_beta_fast", "beta_fast"), ("yarn_beta_slow", "beta_slow")] {
                if let value = try number(name) { scaling.append((key, .decimal(value))) }
            }
            return scaling
        }
        guard let first = divisors.first, let last = divisors.last else { return [] }
        if divisors.allSatisfy({ $0 == first }) {
            return [("rope_type", .text("linear")), ("factor", .decimal(Self.decimal(first)))]
        }
        // All published models have a low factor of 1.
        for (high, exponent) in [4.0, 2, 8].flatMap({ high in (4...17).map { (high, $0) } }) {
            let original = 1 << exponent
            let found = RopeScaling.llama3Divisors(
                headDimension: table.dimension, theta: table.theta, factor: Double(last), low: 1,
                high: high, originalContextLength: Double(original))
            guard zip(found, divisors).allSatisfy({ abs($0 - $1) <= 2e-6 * $1 }) else { continue }
            return [
                ("rope_type", .text("llama3")), ("factor", .decimal(Self.decimal(last))),
                ("low_freq_factor", .decimal(1)), ("high_freq_factor", .decimal(high)),
                ("original_max_position_embeddings", .integer(original)),
            ]
        }
        throw refused("a rotation with divisors of its own in", modelType)
    }
}
