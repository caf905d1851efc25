/// Appends JSON to bytes.
enum JSONText {
    /// `"name":`, as it stands before a value.
    static func key(_ name: String) -> [UInt8] {
        var out: [UInt8] = []
        var name = name
        name.withUTF8 { append(quoted: UnsafeRawBufferPointer($0), to: &out) }
        out.append(UInt8(ascii: ":"))
        return out
    }

    /// Appends a string literal (RFC 8259, section 7).
    ///
    /// - Parameters:
    ///   - text: well-formed UTF-8.
    ///   - out: grows.
    static func append(quoted text: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        append(escaped: text, to: &out)
        out.append(UInt8(ascii: "\""))
    }

    /// The same without the quotes around it.
    static func append(escaped text: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        var place = 0
        while place < text.count {
            let plain = plainBytes(text, from: place)
            out.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[place..<(place + plain)]))
            place += plain
            guard place < text.count else { return }
            append(escape: text[place], to: &out)
            place += 1
        }
    }

    /// How many bytes from `start` on stand for themselves in a string.
    private static func plainBytes(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let base = text.baseAddress else { return 0 }
        let (ones, highs) = (UInt64(0x0101_0101_0101_0101), UInt64(0x8080_8080_8080_8080))
        let count = text.count
        var place = start
        // A byte below 0x20, a quote or a backslash among eight: Hacker's Delight, section 6-1.
        while place &+ 8 <= count {
            let word = base.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let found =
                ((word &- (ones &* 0x20)) & ~word) | ((quotes &- ones) & ~quotes)
                | ((backslashes &- ones) & ~backslashes)
            if found & highs != 0 { break }
            place &+= 8
        }
        while place < count {
            let byte = base.load(fromByteOffset: place, as: UInt8.self)
            if byte < 0x20 || byte == 0x22 || byte == 0x5C { break }
            place &+= 1
        }
        return place &- start
    }

    private static func append(escape byte: UInt8, to out: inout [UInt8]) {
        let short: UInt8
        switch byte {
        case 0x22, 0x5C: short = byte
        case 0x08: short = UInt8(ascii: "b")
        case 0x0C: short = UInt8(ascii: "f")
        case 0x0A: short = UInt8(ascii: "n")
        case 0x0D: short = UInt8(ascii: "r")
        case 0x09: short = UInt8(ascii: "t")
        default:
            let digits: StaticString = "0123456789abcdef"
            out.append(contentsOf: [0x5C, UInt8(ascii: "u"), 0x30, 0x30])
            out.append(digits.utf8Start[Int(byte >> 4)])
            out.append(digits.utf8Start[Int(byte & 15)])
            return
        }
        out.append(0x5C)
        out.append(short)
    }
}
