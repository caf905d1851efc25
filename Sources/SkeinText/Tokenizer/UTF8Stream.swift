/// Text that arrives as bytes, in pieces that may end in the middle of a character.
///
/// Its output is UTF-8 at every moment, and all of it together is what decoding all bytes at once
/// would give: bytes that belong to no character become U+FFFD.
package struct UTF8Stream {
    private var pending: [UInt8] = []

    package init() {}

    /// The characters that `bytes` completes; an unfinished one is held back.
    package mutating func text(of bytes: [UInt8]) -> String {
        pending += bytes
        let whole = Self.wholeCount(pending)
        defer { pending.removeFirst(whole) }
        return String(decoding: pending[..<whole], as: UTF8.self)
    }

    /// What was held back; for when no more bytes come.
    package mutating func rest() -> String {
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }

    /// How many bytes no later byte can change: all but an unfinished character at the end.
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
