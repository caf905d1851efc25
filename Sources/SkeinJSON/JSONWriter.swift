/// Appends strings of JSON to bytes (RFC 8259, section 7) as most programs write them: the short escapes
/// where there are some, other control characters as `\u00xx`, everything else as it is.
package enum JSONWriter {
    /// `"name":`, as it stands before a value.
    package static func key(_ name: String) -> [UInt8] {
        var out: [UInt8] = []
        append(quoted: name, to: &out)
        out.append(UInt8(ascii: ":"))
        return out
    }

    /// Appends a string literal.
    package static func append(quoted text: String, to out: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(quoted: UnsafeRawBufferPointer($0), to: &out) }
    }

    /// Appends a string literal.
    ///
    /// - Parameters:
    ///   - text: well-formed UTF-8.
    ///   - out: grows.
    package static func append(quoted text: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        append(escaped: text, to: &out)
        out.append(UInt8(ascii: "\""))
    }

    /// The same without the quotes around it.
    package static func append(escaped text: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        let text = text.bindMemory(to: UInt8.self)
        guard let base = text.baseAddress else { return }
        var place = 0
        while true {
            let end = PlainBytes.end(base, from: place, count: text.count)
            out.append(contentsOf: UnsafeBufferPointer(rebasing: text[place..<end]))
            guard end < text.count else { return }
            append(escape: base[end], to: &out)
            place = end + 1
        }
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
