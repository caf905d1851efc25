/// The bytes that stand for themselves in a string of JSON: all but quotes, backslashes and control
/// characters.
enum PlainBytes {
    /// Where they end, eight bytes at a time.
    ///
    /// - Parameters:
    ///   - base: of the text.
    ///   - start: where the first of them stands.
    ///   - count: of the text's bytes.
    /// - Returns: the place of the first other byte, or `count`.
    @inline(__always)
    static func end(_ base: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int {
        let (ones, highs) = (UInt64(0x0101_0101_0101_0101), UInt64(0x8080_8080_8080_8080))
        var place = start
        // A byte below 0x20, a quote or a backslash among eight: Hacker's Delight, section 6-1. What
        // is marked by mistake stands after what is marked rightly, so that the first mark is right.
        while place &+ 8 <= count {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(base).loadUnaligned(
                    fromByteOffset: place, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let found =
                ((word &- (ones &* 0x20)) & ~word) | ((quotes &- ones) & ~quotes)
                | ((backslashes &- ones) & ~backslashes)
            let marks = found & highs
            if marks != 0 { return place &+ marks.trailingZeroBitCount >> 3 }
            place &+= 8
        }
        while place < count {
            let byte = base[place]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C { break }
            place &+= 1
        }
        return place
    }
}
