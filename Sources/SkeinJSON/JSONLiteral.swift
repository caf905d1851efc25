/// Makes texts of what stands between the quotes of string literals.
enum JSONLiteral {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// - Parameters:
    ///   - content: what stands between the quotes; its escapes are known to be right.
    ///   - hasEscapes: whether there are any.
    /// - Returns: nil if it is not UTF-8.
    @inline(__always)
    static func text(_ content: Bytes, hasEscapes: Bool) -> String? {
        hasEscapes ? unescaped(content) : String(validating: content, as: UTF8.self)
    }

    @inline(never)
    private static func unescaped(_ content: Bytes) -> String? {
        // No escape is shorter than what it stands for.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: content.count) { buffer in
            let count = unescape(content, to: buffer, isWhole: true)
            return String(validating: buffer[..<count], as: UTF8.self)
        }
    }

    /// The text of a literal that has not ended, without an escape or a character at its end of which
    /// bytes are still to come.
    ///
    /// - Returns: nil if it is not UTF-8.
    static func beginning(_ content: Bytes) -> String? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: content.count) { buffer in
            let count = unescape(content, to: buffer, isWhole: false)
            let whole = buffer[..<(count - unfinished(buffer[..<count]))]
            return String(validating: whole, as: UTF8.self)
        }
    }

    /// How many bytes at the end are the beginning of a character.
    private static func unfinished(_ text: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Int {
        for (count, byte) in text.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
            let length =
                switch byte {
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                default: 1
                }
            return length > count + 1 ? count + 1 : 0
        }
        return 0
    }

    /// Writes the bytes of a text, up to an escape that has not ended.
    ///
    /// - Returns: how many there are.
    private static func unescape(
        _ content: Bytes, to buffer: UnsafeMutableBufferPointer<UInt8>, isWhole: Bool
    ) -> Int {
        guard let base = content.baseAddress, let out = buffer.baseAddress else { return 0 }
        let count = content.count
        var (place, written) = (0, 0)
        while true {
            let end = PlainBytes.end(base, from: place, count: count)
            (out + written).update(from: base + place, count: end - place)
            written += end - place
            place = end
            guard place + 1 < count else { return written }
            let kind = base[place + 1]
            place += 2
            guard kind == UInt8(ascii: "u") else {
                out[written] = character(kind)
                written += 1
                continue
            }
            guard let (scalar, end) = scalar(base, at: place, count: count, isWhole) else {
                return written
            }
            place = end
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                out[written] = byte
                written += 1
            }
        }
    }

    private static func character(_ kind: UInt8) -> UInt8 {
        switch kind {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: kind
        }
    }

    /// What the digits of an escape say, and those of the escape after it if both are one pair, and
    /// where they end; nil if they have not ended.
    private static func scalar(
        _ base: UnsafePointer<UInt8>, at start: Int, count: Int, _ isWhole: Bool
    ) -> (Unicode.Scalar, end: Int)? {
        guard let high = unit(base, at: start, count: count) else { return nil }
        if let scalar = Unicode.Scalar(high) { return (scalar, start + 4) }
        let low = unit(base, at: start + 6, count: count)
        guard low != nil || isWhole else { return nil }
        guard let low, (0xD800..<0xDC00).contains(high), base[start + 4] == UInt8(ascii: "\\"),
            base[start + 5] == UInt8(ascii: "u"), (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + low - 0xDC00)
        else { return ("\u{FFFD}", start + 4) }
        return (scalar, start + 10)
    }

    private static func unit(
        _ base: UnsafePointer<UInt8>, at start: Int, count: Int
    ) -> UInt32? {
        guard start + 4 <= count else { return nil }
        var value: UInt32 = 0
        for place in start..<(start + 4) {
            guard let digit = hexadecimal(base[place]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// The value of a hexadecimal digit; nil for any other byte.
    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x61 + 10
        default: nil
        }
    }
}
