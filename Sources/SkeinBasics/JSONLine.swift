import Foundation

/// A JSON object on one line, with its fields in the order in which they were given.
///
/// Foundation's encoder sorts or shuffles keys; metrics and ledger lines promise an order and equal
/// bytes for equal values.
package struct JSONLine: Sendable {
    package typealias Field = (String, Value)

    package indirect enum Value: Sendable {
        case string(String)
        case integer(Int)
        /// Shortest digits that read back as the same Double; NaN and infinity become null.
        case number(Double)
        case bool(Bool)
        case null
        case array([Value])
        case object([Field])
    }

    package let text: String

    package init(_ fields: [Field]) {
        text = Self.render(.object(fields))
    }

    /// One value as JSON text without spaces.
    package static func render(_ value: Value) -> String {
        String(decoding: utf8(value), as: UTF8.self)
    }

    /// One value as JSON text without spaces, in UTF-8.
    package static func utf8(_ value: Value) -> [UInt8] {
        var out: [UInt8] = []
        write(value, to: &out)
        return out
    }

    private static func write(_ value: Value, to out: inout [UInt8]) {
        switch value {
        case .string(let text): write(quoted: text, to: &out)
        case .integer(let number): out += String(number).utf8
        case .number(let number): out += (number.isFinite ? decimal(number) : "null").utf8
        case .bool(let flag): out += (flag ? "true" : "false").utf8
        case .null: out += "null".utf8
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (place, item) in items.enumerated() {
                if place > 0 { out.append(UInt8(ascii: ",")) }
                write(item, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let fields):
            out.append(UInt8(ascii: "{"))
            for (place, field) in fields.enumerated() {
                if place > 0 { out.append(UInt8(ascii: ",")) }
                write(quoted: field.0, to: &out)
                out.append(UInt8(ascii: ":"))
                write(field.1, to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func decimal(_ number: Double) -> String {
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A JSON string literal (RFC 8259, section 7) as most programs write it: the short escapes where
    /// there are some, other control characters as `\u00xx`, everything else as it is.
    package static func quote(_ text: String) -> String {
        var out: [UInt8] = []
        write(quoted: text, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private static func write(quoted text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            // What stands for itself is copied in one piece, up to the next escape.
            var copied = 0
            for place in bytes.indices {
                let byte = bytes[place]
                guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { continue }
                out += bytes[copied..<place]
                out += escape(byte).utf8
                copied = place + 1
            }
            out += bytes[copied...]
        }
        out.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8) -> String {
        switch byte {
        case 0x22: return "\\\""
        case 0x5C: return "\\\\"
        case 0x08: return "\\b"
        case 0x0C: return "\\f"
        case 0x0A: return "\\n"
        case 0x0D: return "\\r"
        case 0x09: return "\\t"
        default: return "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
