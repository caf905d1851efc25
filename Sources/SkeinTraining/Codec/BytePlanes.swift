/// Splits words into planes, one for each byte of the word, and joins them again.
///
/// A Float is rotated left by one bit, so that its exponent is the first byte and its sign the last
/// bit. In a gradient the exponents carry 3.2 bits in 8; the rest is noise.
enum BytePlanes {
    /// Words that are split at a time. They stay in the first-level cache while each plane is
    /// written in a loop of its own, with one source and one destination, which vectorizes.
    private static let blockWords = 4096

    @inline(__always)
    static func rotated(_ value: Float) -> UInt32 {
        let bits = value.bitPattern
        return bits &<< 1 | bits &>> 31
    }

    @inline(__always)
    static func float(rotated word: UInt32) -> Float {
        Float(bitPattern: word &>> 1 | word &<< 31)
    }

    /// The upper half of a Float, rotated left by one bit.
    @inline(__always)
    static func rotatedHalf(_ value: Float) -> UInt32 {
        let half = value.bitPattern &>> 16
        return (half &<< 1 | half &>> 15) & 0xFFFF
    }

    @inline(__always)
    static func float(rotatedHalf word: UInt32) -> Float {
        Float(bitPattern: (word &>> 1 | word &<< 15) &<< 16)
    }

    /// Splits `count` words into `width` planes, the most significant first.
    ///
    /// Shapes and ranges:
    ///   - planes: `width` x `count` bytes, plane after plane.
    ///   - width: 1 to 4 bytes of each word.
    ///   - word: gives the word of an index.
    @inline(__always)
    static func split(
        _ count: Int, width: Int, into planes: UnsafeMutablePointer<UInt8>,
        word: (Int) -> UInt32
    ) {
        for start in stride(from: 0, to: count, by: blockWords) {
            let end = min(start + blockWords, count)
            for plane in 0..<width {
                let out = planes + plane * count
                let shift = UInt32(8 * (width - 1 - plane))
                for i in start..<end { out[i] = UInt8(truncatingIfNeeded: word(i) &>> shift) }
            }
        }
    }

    /// The word of four planes at `i`.
    @inline(__always)
    static func word(_ planes: Planes, _ i: Int) -> UInt32 {
        UInt32(planes.0[i]) &<< 24 | UInt32(planes.1[i]) &<< 16 | UInt32(planes.2[i]) &<< 8
            | UInt32(planes.3[i])
    }

    typealias Planes = (
        UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>
    )
}
