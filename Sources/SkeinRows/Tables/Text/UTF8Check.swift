/// Whether bytes are well-formed UTF-8 (Unicode 16, table 3-7).
enum UTF8Check {
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        let count = bytes.count
        var place = 0
        while place < count {
            // Eight ASCII bytes at a time.
            while place &+ 8 <= count,
                base.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    & 0x8080_8080_8080_8080 == 0
            { place &+= 8 }
            guard place < count else { break }
            let length = sequence(base + place, count &- place)
            if length == 0 { return false }
            place &+= length
        }
        return true
    }

    /// Bytes of the well-formed sequence at `base`; 0 if there is none.
    @inline(__always)
    private static func sequence(_ base: UnsafeRawPointer, _ left: Int) -> Int {
        @inline(__always) func byte(_ place: Int) -> UInt8 {
            base.load(fromByteOffset: place, as: UInt8.self)
        }
        @inline(__always) func continues(_ place: Int) -> Bool { byte(place) & 0xC0 == 0x80 }
        let first = byte(0)
        switch first {
        case 0..<0x80: return 1
        case 0xC2...0xDF: return left >= 2 && continues(1) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, continues(1), continues(2) else { return 0 }
            // No longer form than needed, and no surrogates.
            if first == 0xE0 && byte(1) < 0xA0 || first == 0xED && byte(1) > 0x9F { return 0 }
            return 3
        case 0xF0...0xF4:
            guard left >= 4, continues(1), continues(2), continues(3) else { return 0 }
            if first == 0xF0 && byte(1) < 0x90 || first == 0xF4 && byte(1) > 0x8F { return 0 }
            return 4
        default: return 0
        }
    }
}
