import SkeinFormats
import SkeinTensors

/// The sizes and constants of a decoder, from GGUF metadata or config.json, and its family's design.
package struct ModelConfiguration: Sendable, Equatable {
    /// GGUF's general.architecture, config.json's model_type, or that of its text_config.
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
    /// Divisors of the inverse frequencies theta^(-2i / n), half as many as the n elements of a head
    /// that are rotated, from GGUF's tensors or computed from the scaling that the file states; nil
    /// means none. A model with several rotations has the first one's.
    package var ropeFrequencyDivisors: [Float]?
    /// The factor of linear scaling in those divisors, if skein read another one from the same file
    /// before 2026-11-22: the engine's fingerprint names it, so that no run mixes the two.
    package var newlyReadRopeFactor: Double?
    /// Likewise the theta that only the old rope_scaling of a Llama's config.json states.
    package var newlyReadRopeTheta: Double?
    /// Whether the output head is the token embedding.
    package var tiedEmbeddings: Bool
    /// What the files state beyond sizes.
    package var stated = StatedTraits()
    /// What is computed with these sizes.
    package var design = DecoderDesign()

    package init(
        architecture: String, vocabularySize: Int, width: Int, feedForwardWidth: Int,
        layerCount: Int, headCount: Int, keyValueHeadCount: Int, headDimension: Int,
        contextLength: Int, normEpsilon: Float, ropeTheta: Double,
        ropeFrequencyDivisors: [Float]?, tiedEmbeddings: Bool, family: any ModelFamily
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
        design = family.design(of: self)
    }
}

extension ConfigurationCheck {
    /// What something is multiplied or divided by, or its soft cap.
    func factor(_ field: String, _ value: Double) throws -> Double {
        try number(field, value, from: 1e-9, below: 1e9)
    }

    /// Turns of a wave in the context, of which YaRN takes the logarithm.
    func turns(_ field: String, _ value: Double) throws -> Double {
        try number(field, value, from: 1e-3, below: 1e6)
    }

    /// Base of the rotation's frequencies: below 1 they would grow instead of shrink.
    func ropeTheta(_ field: String, _ value: Double) throws -> Double {
        try number(field, value, from: 1, below: 1e15)
    }

    /// What divides frequencies: below 1/4, angles would exceed what a Float can tell apart.
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
}

extension ModelConfiguration {
    /// What training on a row costs, in multiplications of one pass: every token goes through all
    /// blocks, and those with loss through the head, too. Attention, which grows with the square of
    /// a row's length, is a few percent at 512 tokens and left out.
    package func cost(tokens: Int, lossTokens: Int) -> Int {
        let head = vocabularySize * width
        let blocks = parameterCount - (tiedEmbeddings ? 1 : 2) * head
        return tokens * blocks + lossTokens * head
    }
}
