/// A stretch of text as UTF-8, read by code point and class.
///
/// Bytes that are not valid UTF-8 are read one by one as characters of no class, so that every byte
/// string has tokens and gets its own bytes back from them.
struct UTF8Reader {
    typealias Class = CharacterClasses.Class

    let bytes: UnsafeBufferPointer<UInt8>
    let classes: CharacterClasses.Reader

    @inline(__always)
    var count: Int { bytes.count }

    /// The class of the character at `position` and its number of bytes.
    @inline(__always)
    func character(at position: Int) -> (kind: Class, length: Int) {
        let byte = bytes[position]
        if byte < 0x80 { return (classes[ascii: byte], 1) }
        return wideCharacter(at: position)
    }

    /// Like `character`, for a first byte of 0x80 or more.
    func wideCharacter(at position: Int) -> (kind: Class, length: Int) {
        let (scalar, length) = Self.wideScalar(in: bytes, at: position)
        return length == 1 ? ([], 1) : (classes[scalar], length)
    }

    /// The character at `position`, whose first byte is 0x80 or more, and its number of bytes. A
    /// byte that begins none is U+FFFD. Unicode 16.0, table 3-7.
    @inline(__always)
    static func wideScalar(
        in bytes: UnsafeBufferPointer<UInt8>, at position: Int
    ) -> (scalar: UInt32, length: Int) {
        let first = UInt32(bytes[position])
        let invalid: (UInt32, Int) = (0xFFFD, 1)
        guard first >= 0xC2, first <= 0xF4 else { return invalid }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard position + length <= bytes.count else { return invalid }
        var scalar = first & (0x7F >> UInt32(length))
        for i in 1..<length {
            let byte = UInt32(bytes[position + i])
            guard byte & 0xC0 == 0x80 else { return invalid }
            scalar = scalar << 6 | byte & 0x3F
        }
        switch length {
        case 3: guard scalar >= 0x800, scalar & 0x1F_F800 != 0xD800 else { return invalid }
        case 4: guard scalar >= 0x1_0000, scalar <= 0x10_FFFF else { return invalid }
        default: break
        }
        return (scalar, length)
    }

    /// The end of the run of characters from `position` on that `belongs` accepts.
    @inline(__always)
    func end(ofRunFrom position: Int, where belongs: (Class) -> Bool) -> Int {
        var position = position
        while position < bytes.count {
            let (kind, length) = character(at: position)
            guard belongs(kind) else { break }
            position += length
        }
        return position
    }

    /// Where the white space that ends at `position` begins, at `lowest` or later.
    func start(ofWhiteSpaceBefore position: Int, notBefore lowest: Int) -> Int {
        var position = position
        while position > lowest {
            var start = position - 1
            while start > lowest, position - start < 4, bytes[start] & 0xC0 == 0x80 { start -= 1 }
            let (kind, length) = character(at: start)
            guard kind.contains(.whiteSpace), start + length == position else { break }
            position = start
        }
        return position
    }
}
