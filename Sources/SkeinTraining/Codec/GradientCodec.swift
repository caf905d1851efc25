import SkeinBasics
import SkeinTensors

/// How the gradient of a micro-batch is rounded before it is summed (`--gradient-codec`).
///
/// A pure function of one leaf of the reduction tree and of its address: the values that a worker
/// sends and a coordinator unpacks. A run in one process rounds, too, so it gives the same bits as
/// a cluster. Never applied to partial sums: those depend on who computed what.
package enum GradientCodec: String, Sendable, CaseIterable {
    /// Not rounded.
    case fp32
    /// The upper half of each Float, rounded to nearest, ties to even: 8 bits of precision.
    case bf16
    /// Blocks of 64 with one Float scale, rounded stochastically to -127 ... 127 (unbiased).
    case int8

    /// Elements that share a scale in `int8`.
    static let blockCount = LevelRounding.blockCount

    /// Rounds a gradient in place.
    ///
    /// - Parameters:
    ///   - gradient: of one micro-batch, in the order of `ParameterLayout`.
    ///   - seed: of the run.
    ///   - step: the optimizer step, from 1.
    ///   - microBatch: the micro-batch's index in its step, from 0.
    package func round(_ gradient: inout [Float], seed: UInt64, step: Int, microBatch: Int) {
        switch self {
        case .fp32: return
        case .bf16:
            gradient.withUnsafeMutableBufferPointer { gradient in
                for i in 0..<gradient.count { gradient[i] = Self.bf16(gradient[i]) }
            }
        case .int8:
            gradient.withUnsafeMutableBufferPointer {
                guard let base = $0.baseAddress else { return }
                Self.roundLevels(base, count: $0.count, (seed, step, microBatch))
            }
        }
    }

    /// x -> scale * floor(x / scale + u), scale = max |x| / 127 of a block, u uniform in [0, 1).
    ///
    /// A block with NaN or infinity is left as it is, so that the step's check still sees it.
    ///
    /// Shapes and ranges:
    ///   - levels: [count], receives the levels.
    ///   - scales: [blocks(count)], 0 for a block that became zeros, NaN for one that is not finite.
    static func roundLevels(
        _ gradient: UnsafeMutablePointer<Float>, count: Int,
        _ address: (seed: UInt64, step: Int, microBatch: Int),
        levels: UnsafeMutablePointer<Int8>? = nil, scales: UnsafeMutablePointer<Float>? = nil
    ) {
        LevelRounding.round(
            gradient, count: count,
            random: AddressedRandom(seed: address.seed, purpose: .rounding),
            UInt32(truncatingIfNeeded: address.step),
            UInt32(truncatingIfNeeded: address.microBatch), levels: levels, scales: scales)
    }

    /// The nearest bfloat16, as Float; NaN stays NaN.
    static func bf16(_ value: Float) -> Float {
        let bits = value.bitPattern
        if value.isNaN { return Float(bitPattern: (bits | 0x0040_0000) & 0xFFFF_0000) }
        let rounded = bits &+ 0x7FFF &+ ((bits >> 16) & 1)
        return Float(bitPattern: rounded & 0xFFFF_0000)
    }

    /// The value of a level of `int8`.
    @inline(__always)
    static func value(_ level: Int8, _ scale: Float) -> Float { Float(level) * scale }

    /// SHA-256 of a gradient's canonical bytes (fp32, little endian, in the order of
    /// `ParameterLayout`): the ledger's proof of what was summed.
    package static func digest(of gradient: [Float]) -> SHA256.Digest {
        #if _endian(big)
            #error("the canonical bytes of a gradient are little endian")
        #endif
        return gradient.withUnsafeBytes { SHA256.digest(of: $0) }
    }

    /// `digest` of two gradients at once, which is faster than one after the other.
    package static func digests(
        of first: [Float], _ second: [Float]
    ) -> (SHA256.Digest, SHA256.Digest) {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { SHA256.digests(of: first, $0) }
        }
    }
}
