extension JSONValue {
    /// The value as JSON without spaces.
    package var written: String {
        var bytes: [UInt8] = []
        write(to: &bytes, between: ",", ":")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as JSON with a space after each comma and colon, as Python writes it.
    ///
    /// - Parameter number: how a number that was spelled like this is written.
    /// - Returns: one line.
    package func spaced(number: (String) -> String = { $0 }) -> String {
        var bytes: [UInt8] = []
        write(to: &bytes, between: ", ", ": ", number: number)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(
        to out: inout [UInt8], between comma: StaticString, _ colon: StaticString,
        number: (String) -> String = { $0 }
    ) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .number(let text): out += number(text).utf8
        case .text(let text): Self.write(quoted: text, to: &out)
        case .list(let items):
            out.append(UInt8(ascii: "["))
            for (place, item) in items.enumerated() {
                if place > 0 { comma.withUTF8Buffer { out += $0 } }
                item.write(to: &out, between: comma, colon, number: number)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let fields):
            out.append(UInt8(ascii: "{"))
            for (place, field) in fields.enumerated() {
                if place > 0 { comma.withUTF8Buffer { out += $0 } }
                Self.write(quoted: field.name, to: &out)
                colon.withUTF8Buffer { out += $0 }
                field.value.write(to: &out, between: comma, colon, number: number)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// A JSON string literal (RFC 8259, section 7) as most programs write it: the short escapes where
    /// there are some, other control characters as `\u00xx`, everything else as it is.
    package static func quoted(_ text: String) -> String {
        var out: [UInt8] = []
        write(quoted: text, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private static func write(quoted text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C: out += [0x5C, byte]
            case 0x08: out += "\\b".utf8
            case 0x0C: out += "\\f".utf8
            case 0x0A: out += "\\n".utf8
            case 0x0D: out += "\\r".utf8
            case 0x09: out += "\\t".utf8
            case 0..<0x20:
                out += (byte < 16 ? "\\u000" : "\\u00").utf8
                out += String(byte, radix: 16).utf8
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
