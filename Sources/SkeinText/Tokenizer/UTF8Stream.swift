/// Text that arrives as bytes, in pieces that may end in the middle of a character.
///
/// What it gives is UTF-8 at every moment, and all of it together is what decoding all bytes at once
/// would give: what belongs to no character becomes U+FFFD.
package struct UTF8Stream {
    private var pending: [UInt8] = []

    package init() {}

    /// The characters that are whole with `bytes`; half of one is held back.
    package mutating func text(of bytes: [UInt8]) -> String {
        pending += bytes
        let whole = Self.wholeCount(pending)
        defer { pending.removeFirst(whole) }
        return String(decoding: pending[..<whole], as: UTF8.self)
    }

    /// What was held back, when no more bytes come.
    package mutating func rest() -> String {
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }

    /// The bytes that no later byte can belong to: all but an unfinished character at the end.
    static func wholeCount(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return needed > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
