import CSkeinKernels
import SkeinBasics

/// Rounding to 8-bit levels: blocks of 64 numbers with one scale each, rounded stochastically.
///
/// scale = max |x| / 127 and x -> scale * floor(x / scale + u), u uniform in [0, 1): unbiased. u is a
/// function of an address, so every machine draws the same. All processors give the same bits
/// (CSkeinKernels/include/int8.h); `LevelRoundingTests` has the plain form.
package enum LevelRounding {
    /// Numbers that share a scale.
    package static let blockCount = 64

    /// Blocks of `count` numbers.
    package static func blocks(_ count: Int) -> Int { (count + blockCount - 1) / blockCount }

    /// Rounds in place, block by block (the last may be shorter): x is then, bit for bit, its level
    /// times the scale.
    ///
    /// Shapes and ranges:
    ///   - x: [count]. A block with NaN or infinity stays as it is; one whose scale would be subnormal
    ///     becomes zeros.
    ///   - random: draws four numbers for elements 4 i ..< 4 i + 4 at the address (i, a, b).
    ///   - levels: [count], receives -127 ... 127, nothing for a block that stays; nil if not needed.
    ///   - scales: [blocks(count)], 0 for a block of zeros, NaN for one that stays; nil if not needed.
    package static func round(
        _ x: UnsafeMutablePointer<Float>, count: Int, random: AddressedRandom, _ a: UInt32,
        _ b: UInt32, levels: UnsafeMutablePointer<Int8>? = nil,
        scales: UnsafeMutablePointer<Float>? = nil
    ) {
        round(
            x, count: count, random: random, a, b, levels: levels, scales: scales,
            level: currentLevel())
    }

    static func round(
        _ x: UnsafeMutablePointer<Float>, count: Int, random: AddressedRandom, _ a: UInt32,
        _ b: UInt32, levels: UnsafeMutablePointer<Int8>?, scales: UnsafeMutablePointer<Float>?,
        level: skein_level
    ) {
        skein_int8_round(level, x, count, random.key.x, random.key.y, a, b, levels, scales)
    }
}
