import Basics

/// How the gradient of a micro-batch is rounded before it is summed (`--gradient-codec`).
///
/// A pure function of one leaf of the reduction tree and of its address: the values that a worker
/// would send and a coordinator would unpack. A run in one process rounds, too, so it gives the same
/// bits as a cluster. Never applied to partial sums: those depend on who computed what.
public enum GradientCodec: String, Sendable, CaseIterable {
    /// As computed.
    case fp32
    /// The upper half of each Float, rounded to nearest, ties to even: 8 bits of precision.
    case bf16
    /// Blocks of 64 with one Float scale, rounded stochastically to -127 ... 127 (unbiased).
    case int8

    /// Elements that share a scale in `int8`.
    static let blockCount = 64

    /// Rounds a gradient in place.
    ///
    /// - Parameters:
    ///   - gradient: of one micro-batch, in the order of `ParameterLayout`.
    ///   - seed: of the run.
    ///   - step: the optimizer step, from 1.
    ///   - microBatch: the micro-batch's index in its step, from 0.
    public func round(_ gradient: inout [Float], seed: UInt64, step: Int, microBatch: Int) {
        switch self {
        case .fp32: return
        case .bf16:
            gradient.withUnsafeMutableBufferPointer { gradient in
                for i in 0..<gradient.count { gradient[i] = Self.bf16(gradient[i]) }
            }
        case .int8:
            withUnsafeTemporaryAllocation(of: Int8.self, capacity: Self.blockCount) { levels in
                guard let levels = levels.baseAddress else { return }
                Self.forEachBlock(
                    &gradient, address: (seed, step, microBatch), levels: { _ in levels },
                    scale: { _, _ in })
            }
        }
    }

    /// Rounds block after block.
    ///
    /// Shapes and ranges:
    ///   - levels: where the levels of a block go, by the block's index; room for `blockCount`.
    ///   - scale: gets the block's index and its scale, nil for a block that was left as it is.
    static func forEachBlock(
        _ gradient: inout [Float], address: (seed: UInt64, step: Int, microBatch: Int),
        levels: (Int) -> UnsafeMutablePointer<Int8>, scale: (Int, Float?) -> Void
    ) {
        let random = AddressedRandom(seed: address.seed, purpose: .rounding)
        gradient.withUnsafeMutableBufferPointer { gradient in
            for start in stride(from: 0, to: gradient.count, by: blockCount) {
                let end = min(start + blockCount, gradient.count)
                let block = start / blockCount
                scale(
                    block,
                    roundBlock(
                        UnsafeMutableBufferPointer(rebasing: gradient[start..<end]),
                        levels: levels(block), block: block, random: random, step: address.step,
                        microBatch: address.microBatch))
            }
        }
    }

    /// The nearest bfloat16, as Float; NaN stays NaN.
    static func bf16(_ value: Float) -> Float {
        let bits = value.bitPattern
        if value.isNaN { return Float(bitPattern: (bits | 0x0040_0000) & 0xFFFF_0000) }
        let rounded = bits &+ 0x7FFF &+ ((bits >> 16) & 1)
        return Float(bitPattern: rounded & 0xFFFF_0000)
    }

    /// x -> scale * floor(x / scale + u), scale = max |x| / 127, u uniform in [0, 1).
    ///
    /// A block with NaN or infinity is left as it is, so that the step's check still sees it.
    ///
    /// - Returns: the scale, 0 for a block that became zeros, nil for one that is not finite. The
    ///   block is then, bit for bit, `value(level, scale)` of the levels written.
    private static func roundBlock(
        _ block: UnsafeMutableBufferPointer<Float>, levels: UnsafeMutablePointer<Int8>,
        block index: Int, random: AddressedRandom, step: Int, microBatch: Int
    ) -> Float? {
        var largest: Float = 0
        for value in block {
            guard value.isFinite else { return nil }
            largest = max(largest, abs(value))
        }
        let scale = largest / 127
        // A scale without all its bits would not bring 127 back to the largest value.
        guard scale >= .leastNormalMagnitude else {
            for i in 0..<block.count {
                block[i] = 0
                levels[i] = 0
            }
            return 0
        }
        for start in stride(from: 0, to: block.count, by: 4) {
            let words = random.block(
                UInt32(truncatingIfNeeded: index * (blockCount / 4) + start / 4),
                UInt32(truncatingIfNeeded: step), UInt32(truncatingIfNeeded: microBatch))
            for i in start..<min(start + 4, block.count) {
                let shifted = block[i] / scale + AddressedRandom.unitFloat(words[i - start])
                levels[i] = Int8(max(-127, min(127, shifted.rounded(.down))))
                block[i] = value(levels[i], scale)
            }
        }
        return scale
    }

    /// What a level of `int8` stands for.
    @inline(__always)
    static func value(_ level: Int8, _ scale: Float) -> Float { Float(level) * scale }

    /// SHA-256 of a gradient's canonical bytes (fp32, little endian, in the order of
    /// `ParameterLayout`): the ledger's proof of what was summed.
    public static func digest(of gradient: [Float]) -> SHA256.Digest {
        #if _endian(big)
            #error("the canonical bytes of a gradient are little endian")
        #endif
        return gradient.withUnsafeBytes { SHA256.digest(of: $0) }
    }
}
