import SkeinTensors

extension ModelConfiguration {
    /// Reads the metadata of a GGUF file whose architecture is "llama" (Llama, SmolLM2, Mistral).
    ///
    /// - Throws: `FormatError` for a missing or senseless field and for what is not computed: experts,
    ///   sliding windows, partial rotation, rope scaling other than "linear" and rope_freqs.
    init(_ gguf: GGUFFile) throws {
        let fields = GGUFFields(gguf)
        let check = fields.check
        guard let architecture = try fields.string("general.architecture") else {
            throw FormatError.missingField(path: gguf.path, field: "general.architecture")
        }
        guard architecture == "llama" else {
            throw check.unsupported("general.architecture", architecture, "llama")
        }
        if let type = try fields.string("general.type"), type != "model" {
            throw check.unsupported("general.type", type, "model")
        }
        self.architecture = architecture
        contextLength = try fields.size("llama.context_length", limit: Limits.contextLength)
        width = try fields.size("llama.embedding_length", limit: Limits.width)
        feedForwardWidth = try fields.size(
            "llama.feed_forward_length", limit: Limits.feedForwardWidth)
        layerCount = try fields.size("llama.block_count", limit: Limits.layers)
        let headsField = "llama.attention.head_count"
        headCount = try fields.size(headsField, limit: Limits.heads)
        let keyValueField = "llama.attention.head_count_kv"
        keyValueHeadCount = try check.size(
            keyValueField, try fields.integer(keyValueField) ?? headCount, limit: Limits.heads)
        try check.keyValueHeads(keyValueField, keyValueHeadCount, heads: headCount)
        headDimension = try check.headDimension(
            "llama.attention.key_length", try fields.integer("llama.attention.key_length"),
            width: width, heads: headCount, headsField: headsField)
        vocabularySize = try Self.vocabularySize(fields, gguf)
        normEpsilon = Float(
            try check.positive(
                "llama.attention.layer_norm_rms_epsilon",
                try fields.required("llama.attention.layer_norm_rms_epsilon"), below: 1))
        ropeTheta = try check.ropeTheta(
            "llama.rope.freq_base", try fields.number("llama.rope.freq_base") ?? 10_000)
        tiedEmbeddings = gguf.tensors["output.weight"] == nil
        ropeFrequencyDivisors = nil
        try Self.refuseVariants(fields, headDimension: headDimension, contextLength)
        let (factor, isNew) = try Self.linearFactor(fields)
        ropeFrequencyDivisors = try Self.ropeDivisors(
            gguf, factor: Float(factor), headDimension: headDimension)
        newlyReadRopeFactor = isNew ? factor : nil
    }

    /// The stated size, else the tokens' count, else the embedding's rows.
    private static func vocabularySize(_ fields: GGUFFields, _ gguf: GGUFFile) throws -> Int {
        var size = try fields.integer("llama.vocab_size")
        if size == nil, case .strings(let tokens) = gguf.metadata["tokenizer.ggml.tokens"] {
            size = tokens.count
        }
        return try fields.check.size(
            "llama.vocab_size", size ?? gguf.tensors["token_embd.weight"]?.shape.first,
            limit: Limits.vocabularySize)
    }

    /// Fields that would change the computation if they were not looked at.
    private static func refuseVariants(
        _ fields: GGUFFields, headDimension: Int, _ contextLength: Int
    ) throws {
        let check = fields.check
        for field in ["llama.attention.value_length", "llama.rope.dimension_count"] {
            if let value = try fields.integer(field), value != headDimension {
                throw check.unsupported(
                    field, String(value), "\(headDimension), the head dimension")
            }
        }
        if let experts = try fields.integer("llama.expert_count"), experts != 0 {
            throw check.unsupported("llama.expert_count", String(experts), "0")
        }
        if let window = try fields.integer("llama.attention.sliding_window"),
            window != 0, window < contextLength
        {
            throw check.unsupported(
                "llama.attention.sliding_window", String(window), "full attention")
        }
    }

    /// The divisors of rope_freqs.weight, times the factor of linear scaling.
    private static func ropeDivisors(
        _ gguf: GGUFFile, factor: Float, headDimension: Int
    ) throws -> [Float]? {
        guard let tensor = gguf.tensors["rope_freqs.weight"] else {
            return factor == 1
                ? nil : [Float](repeating: factor, count: headDimension / 2)
        }
        guard tensor.shape == [headDimension / 2] else {
            throw FormatError.wrongShape(
                path: gguf.path, tensor: tensor.name, expected: [headDimension / 2],
                found: tensor.shape)
        }
        let divisors = tensor.floats().map { $0 * factor }
        let least = RotaryEmbedding.leastDivisor
        guard divisors.allSatisfy({ $0.isFinite && $0 >= least }) else {
            throw FormatError.badTensor(
                path: gguf.path, tensor: tensor.name, field: "elements",
                expected: "finite and at least \(least)", found: "others")
        }
        return divisors
    }

    /// As in llama.cpp: a factor without a type is linear, "none" switches one off, and 0 is none.
    ///
    /// Before 2026-11-22 only the type "linear" read it, and the older key counted for "none", too.
    ///
    /// - Returns: the factor, 1 for none, and whether it was another one before.
    private static func linearFactor(
        _ fields: GGUFFields
    ) throws -> (factor: Double, isNew: Bool) {
        let typeField = "llama.rope.scaling.type"
        let factorField = "llama.rope.scaling.factor"
        let type = try fields.string(typeField)
        // The key of older files.
        let older = try fields.number("llama.rope.scale_linear")
        func judged(_ factor: Double) -> (Double, Bool) {
            (factor, type != "linear" && factor != older ?? 1)
        }
        switch type ?? "linear" {
        case "none": return judged(1)
        case "linear": break
        case let type: throw fields.check.unsupported(typeField, type, "none or linear")
        }
        guard let factor = try fields.number(factorField) ?? older else {
            guard type == nil else {
                throw FormatError.missingField(path: fields.check.path, field: factorField)
            }
            return judged(1)
        }
        return judged(factor == 0 ? 1 : try fields.check.ropeFactor(factorField, factor))
    }
}

/// Typed access to metadata.
private struct GGUFFields {
    let metadata: [String: GGUFValue]
    let check: ConfigurationCheck

    init(_ gguf: GGUFFile) {
        metadata = gguf.metadata
        check = ConfigurationCheck(path: gguf.path)
    }

    func string(_ field: String) throws -> String? {
        switch metadata[field] {
        case nil: return nil
        case .string(let text): return text
        case .some(let value): throw check.bad(field, "a string", value.kind)
        }
    }

    func integer(_ field: String) throws -> Int? {
        switch metadata[field] {
        case nil: return nil
        case .unsigned(let number): return Int(clamping: number)
        case .integer(let number): return Int(clamping: number)
        case .some(let value): throw check.bad(field, "an integer", value.kind)
        }
    }

    func number(_ field: String) throws -> Double? {
        switch metadata[field] {
        case nil: return nil
        case .float(let number): return number
        case .some(let value): throw check.bad(field, "a float", value.kind)
        }
    }

    func required(_ field: String) throws -> Double {
        guard let number = try number(field) else {
            throw FormatError.missingField(path: check.path, field: field)
        }
        return number
    }

    func size(_ field: String, limit: Int) throws -> Int {
        try check.size(field, try integer(field), limit: limit)
    }
}
