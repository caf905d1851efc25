import SkeinBasics
import SkeinModels

/// What features depend on besides the tokens of their row: one file has those of one key.
package struct FeatureKey: Sendable, Equatable {
    package let digest: SHA256.Digest
    /// Numbers of a token.
    package let width: Int
    /// Whether each is kept as bf16, to which it is rounded; else as fp32.
    package let isRounded: Bool

    /// - Parameters:
    ///   - modelDigest: SHA-256 of the base model, in hexadecimal digits.
    ///   - fingerprint: of the engine with this model.
    ///   - decoder: how many blocks are frozen, and what is rounded.
    package init(modelDigest: String, fingerprint: String, decoder: Decoder) {
        self.init(
            modelDigest: modelDigest, fingerprint: fingerprint, frozenLayers: decoder.frozenLayers,
            width: decoder.width, isRounded: decoder.roundsFeatures)
    }

    /// - Parameters:
    ///   - modelDigest: SHA-256 of the base model, in hexadecimal digits.
    ///   - fingerprint: of the engine with this model.
    ///   - frozenLayers: blocks that the features have gone through.
    ///   - width: numbers of a token.
    ///   - isRounded: whether they are rounded to bf16.
    package init(
        modelDigest: String, fingerprint: String, frozenLayers: Int, width: Int,
        isRounded: Bool
    ) {
        var fields = DigestFields("skein features 1")
        fields.append(modelDigest)
        fields.append(fingerprint)
        fields.append(frozenLayers)
        fields.append(width)
        fields.append(isRounded ? 1 : 0)
        digest = fields.finish()
        self.width = width
        self.isRounded = isRounded
    }

    /// Bytes of a token's features in the file.
    var tokenBytes: Int { width * (isRounded ? 2 : 4) }
}
