/// The spelling of bytes in a byte-level vocabulary (GPT-2): printable Latin-1 bytes are the
/// character of the same number, the other 68 are U+0100, U+0101, ... in order of their value.
enum ByteAlphabet {
    /// The code point that spells each byte.
    static let scalars: [UInt16] = {
        var table = [UInt16](repeating: 0, count: 256)
        var next: UInt16 = 0x100
        for byte in 0..<256 {
            switch byte {
            case 0x21...0x7E, 0xA1...0xAC, 0xAE...0xFF: table[byte] = UInt16(byte)
            default:
                table[byte] = next
                next += 1
            }
        }
        return table
    }()

    /// The byte that each code point up to U+0143 spells; -1: none.
    static let bytes: [Int16] = {
        var table = [Int16](repeating: -1, count: 0x144)
        for (byte, scalar) in scalars.enumerated() { table[Int(scalar)] = Int16(byte) }
        return table
    }()

    /// The UTF-8 spelling of `byte`.
    static func spelling(of byte: UInt8) -> [UInt8] {
        let scalar = scalars[Int(byte)]
        if scalar < 0x80 { return [UInt8(scalar)] }
        return [UInt8(0xC0 | scalar >> 6), UInt8(0x80 | scalar & 0x3F)]
    }

    /// Appends the bytes that `piece` spells. A piece with a character outside the alphabet spells
    /// its own UTF-8.
    ///
    /// - Returns: whether the whole piece is in the alphabet.
    @discardableResult
    static func append(_ piece: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) -> Bool {
        let start = out.count
        let isSpelled = bytes.withUnsafeBufferPointer { table -> Bool in
            var i = 0
            while i < piece.count {
                var scalar = Int(piece[i])
                i += 1
                if scalar >= 0x80 {
                    // Two bytes reach U+07FF; pieces are valid UTF-8, so the second one exists.
                    guard scalar < 0xE0, i < piece.count else { return false }
                    scalar = (scalar & 0x1F) << 6 | Int(piece[i] & 0x3F)
                    i += 1
                }
                guard scalar < table.count, table[scalar] >= 0 else { return false }
                out.append(UInt8(truncatingIfNeeded: table[scalar]))
            }
            return true
        }
        if !isSpelled {
            out.removeSubrange(start...)
            out.append(contentsOf: piece)
        }
        return isSpelled
    }
}
