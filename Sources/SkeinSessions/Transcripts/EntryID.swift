/// Names for entries of a transcript and their segments, in the form of a UUID of version 4 (RFC 9562).
@usableFromInline
enum EntryID {
    /// A name that nothing else has. Foundation's UUID makes the same in 41 microseconds where its code has
    /// left the caches, as it has after a model's step, and a request makes four.
    @usableFromInline
    static func unique() -> String {
        var random = SystemRandomNumberGenerator()
        return text(random.next(), random.next())
    }

    /// - Parameters:
    ///   - high: the first eight bytes, of which the version takes four bits.
    ///   - low: the others, of which the variant takes two bits.
    /// - Returns: 36 characters.
    static func text(_ high: UInt64, _ low: UInt64) -> String {
        let high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { bytes in
            var end = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    bytes[end] = UInt8(ascii: "-")
                    end += 1
                }
                let word = digit < 16 ? high : low
                let value = UInt8(truncatingIfNeeded: word >> (60 - 4 * UInt64(digit % 16))) & 15
                bytes[end] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
                end += 1
            }
            return end
        }
    }
}
