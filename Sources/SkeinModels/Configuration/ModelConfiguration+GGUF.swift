import SkeinFormats
import SkeinTensors

extension ModelConfiguration {
    /// The tensor of the divisors of the rotation's frequencies; it is not a weight.
    static let ropeDivisorsName = "rope_freqs.weight"

    /// Reads the metadata of a GGUF file, whose keys begin with its architecture.
    ///
    /// - Throws: `FormatError` for a missing or invalid field, for experts, sliding windows,
    ///   partial rotation and rope scaling other than "linear" and rope_freqs.
    init(
        _ gguf: GGUFFile, _ fields: GGUFFields, _ family: any ModelFamily, _ layout: GGUFLayout
    ) throws {
        let check = fields.check
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
            keyValueField, try fields.integer(keyValueField) ?? headCount, limit: Limits.heads)
        try check.keyValueHeads(keyValueField, keyValueHeadCount, heads: headCount)
        let dimensionField = fields.key("attention.key_length")
        headDimension = try check.headDimension(
            dimensionField, try fields.integer(dimensionField), width: width, heads: headCount,
            headsField: headsField)
        vocabularySize = try Self.vocabularySize(fields, gguf)
        let epsilonField = fields.key("attention.layer_norm_rms_epsilon")
        normEpsilon = Float(
            try check.positive(epsilonField, try fields.required(epsilonField), below: 1))
        ropeTheta = try check.ropeTheta(
            fields.key("rope.freq_base"), try fields.number(fields.key("rope.freq_base")) ?? 10_000)
        tiedEmbeddings = gguf.tensors["output.weight"] == nil
        ropeFrequencyDivisors = nil
        try Self.refuseVariants(fields, headDimension: headDimension, contextLength)
        let (factor, isNew) = try Self.linearFactor(fields)
        ropeFrequencyDivisors = try Self.ropeDivisors(
            gguf, factor: Float(factor), headDimension: headDimension)
        newlyReadRopeFactor = isNew ? factor : nil
        design = family.design(of: self)
        design.normOffset = layout.normOffset
    }

    /// The stated size, else the number of tokens, else the embedding's rows.
    private static func vocabularySize(_ fields: GGUFFields, _ gguf: GGUFFile) throws -> Int {
        var size = try fields.integer(fields.key("vocab_size"))
        if size == nil, case .strings(let tokens) = gguf.metadata["tokenizer.ggml.tokens"] {
            size = tokens.count
        }
        return try fields.check.size(
            fields.key("vocab_size"), size ?? gguf.tensors["token_embd.weight"]?.shape.first,
            limit: Limits.vocabularySize)
    }

    /// Refuses fields that would change the computation.
    private static func refuseVariants(
        _ fields: GGUFFields, headDimension: Int, _ contextLength: Int
    ) throws {
        let check = fields.check
        for field in [fields.key("attention.value_length"), fields.key("rope.dimension_count")] {
            if let value = try fields.integer(field), value != headDimension {
                throw check.unsupported(
                    field, String(value), "\(headDimension), the head dimension")
            }
        }
        if let experts = try fields.integer(fields.key("expert_count")), experts != 0 {
            throw check.unsupported(fields.key("expert_count"), String(experts), "0")
        }
        if let window = try fields.integer(fields.key("attention.sliding_window")),
            window != 0, window < contextLength
        {
            throw check.unsupported(
                fields.key("attention.sliding_window"), String(window), "full attention")
        }
    }

    /// The divisors of rope_freqs.weight, times the factor of linear scaling.
    private static func ropeDivisors(
        _ gguf: GGUFFile, factor: Float, headDimension: Int
    ) throws -> [Float]? {
        guard let tensor = gguf.tensors[ropeDivisorsName] else {
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

    /// As in llama.cpp: a factor without a type is linear, "none" disables it, and 0 means none.
    ///
    /// Before 2026-11-22 only the type "linear" read the factor; all others read the older key.
    ///
    /// - Returns: the factor, 1 for none, and whether older versions read another one.
    private static func linearFactor(
        _ fields: GGUFFields
    ) throws -> (factor: Double, isNew: Bool) {
        let typeField = fields.key("rope.scaling.type")
        let factorField = fields.key("rope.scaling.factor")
        let type = try fields.string(typeField)
        // The key in older files.
        let older = try fields.number(fields.key("rope.scale_linear"))
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
