import SkeinTensors

/// The sizes and constants of a Llama-family decoder, from GGUF metadata or config.json.
package struct ModelConfiguration: Sendable, Equatable {
    /// "llama" or "mistral": GGUF's general.architecture, config.json's model_type.
    package var architecture: String
    package var vocabularySize: Int
    /// Elements of the residual stream (hidden_size).
    package var width: Int
    package var feedForwardWidth: Int
    package var layerCount: Int
    package var headCount: Int
    /// Divides `headCount`.
    package var keyValueHeadCount: Int
    /// Even; `width` / `headCount` unless the file says otherwise.
    package var headDimension: Int
    /// Positions that the model was trained for.
    package var contextLength: Int
    package var normEpsilon: Float
    package var ropeTheta: Double
    /// `headDimension` / 2 divisors of the inverse frequencies theta^(-2i / headDimension), from
    /// GGUF's rope_freqs or computed from the scaling that config.json states; nil means none.
    package var ropeFrequencyDivisors: [Float]?
    /// The factor of linear scaling in those divisors, where skein read another one from the same file
    /// before 2026-11-22: the engine's fingerprint names it, so that no run mixes the two.
    package var newlyReadRopeFactor: Double?
    /// The output head is the token embedding.
    package var tiedEmbeddings: Bool

    package init(
        architecture: String, vocabularySize: Int, width: Int, feedForwardWidth: Int,
        layerCount: Int, headCount: Int, keyValueHeadCount: Int, headDimension: Int,
        contextLength: Int, normEpsilon: Float, ropeTheta: Double,
        ropeFrequencyDivisors: [Float]?, tiedEmbeddings: Bool
    ) {
        self.architecture = architecture
        self.vocabularySize = vocabularySize
        self.width = width
        self.feedForwardWidth = feedForwardWidth
        self.layerCount = layerCount
        self.headCount = headCount
        self.keyValueHeadCount = keyValueHeadCount
        self.headDimension = headDimension
        self.contextLength = contextLength
        self.normEpsilon = normEpsilon
        self.ropeTheta = ropeTheta
        self.ropeFrequencyDivisors = ropeFrequencyDivisors
        self.tiedEmbeddings = tiedEmbeddings
    }

    /// Every tensor that the model needs, with its row-major shape, in the order of computation.
    package var requiredTensors: [(name: String, shape: [Int])] {
        let attention = headCount * headDimension
        let keyValue = keyValueHeadCount * headDimension
        var tensors = [("model.embed_tokens.weight", [vocabularySize, width])]
        for layer in 0..<layerCount {
            let block = "model.layers.\(layer)"
            tensors += [
                ("\(block).input_layernorm.weight", [width]),
                ("\(block).self_attn.q_proj.weight", [attention, width]),
                ("\(block).self_attn.k_proj.weight", [keyValue, width]),
                ("\(block).self_attn.v_proj.weight", [keyValue, width]),
                ("\(block).self_attn.o_proj.weight", [width, attention]),
                ("\(block).post_attention_layernorm.weight", [width]),
                ("\(block).mlp.gate_proj.weight", [feedForwardWidth, width]),
                ("\(block).mlp.up_proj.weight", [feedForwardWidth, width]),
                ("\(block).mlp.down_proj.weight", [width, feedForwardWidth]),
            ]
        }
        tensors.append(("model.norm.weight", [width]))
        if !tiedEmbeddings { tensors.append(("lm_head.weight", [vocabularySize, width])) }
        return tensors
    }
}

/// Checks numbers of a configuration file; every error carries the field's name in that file.
struct ConfigurationCheck {
    let path: String

    func size(_ field: String, _ value: Int?, limit: Int) throws -> Int {
        guard let value else { throw FormatError.missingField(path: path, field: field) }
        guard (1...limit).contains(value) else {
            throw bad(field, "1 to \(limit)", String(value))
        }
        return value
    }

    func positive(_ field: String, _ value: Double, below limit: Double) throws -> Double {
        guard value > 0, value < limit else {
            throw bad(field, "above 0 and below \(limit)", String(value))
        }
        return value
    }

    func number(
        _ field: String, _ value: Double, from least: Double, below limit: Double
    ) throws -> Double {
        guard value >= least, value < limit else {
            throw bad(field, "from \(least) to below \(limit)", String(value))
        }
        return value
    }

    /// Base of the rotation's frequencies: below 1 they would grow instead of shrink.
    func ropeTheta(_ field: String, _ value: Double) throws -> Double {
        try number(field, value, from: 1, below: 1e15)
    }

    /// What divides frequencies: with less than 1/4, angles would leave what a Float can tell apart.
    func ropeFactor(_ field: String, _ value: Double) throws -> Double {
        try number(field, value, from: Double(RotaryEmbedding.leastDivisor), below: 1e9)
    }

    /// The heads must share the key-value heads evenly.
    func keyValueHeads(_ field: String, _ value: Int, heads: Int) throws {
        guard heads % value == 0 else { throw bad(field, "a divisor of \(heads)", String(value)) }
    }

    /// The stated head dimension, or width / heads; rotation pairs its elements, so it is even.
    func headDimension(
        _ field: String, _ stated: Int?, width: Int, heads: Int, headsField: String
    ) throws -> Int {
        if stated == nil, width % heads != 0 {
            throw bad(headsField, "a divisor of \(width)", String(heads))
        }
        let dimension = try size(field, stated ?? width / heads, limit: Limits.headDimension)
        guard dimension % 2 == 0 else { throw bad(field, "even", String(dimension)) }
        return dimension
    }

    func bad(_ field: String, _ expected: String, _ found: String) -> FormatError {
        .badField(path: path, field: field, expected: expected, found: found)
    }

    func unsupported(_ field: String, _ found: String, _ supported: String) -> FormatError {
        .unsupported(path: path, field: field, found: found, supported: supported)
    }
}
