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
        switch value {
        case .string(let text): quote(text)
        case .integer(let number): String(number)
        case .number(let number): number.isFinite ? decimal(number) : "null"
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        case .array(let items): "[" + items.map(render).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.map { quote($0.0) + ":" + render($0.1) }.joined(separator: ",") + "}"
        }
    }

    private static func decimal(_ number: Double) -> String {
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A JSON string literal (RFC 8259, section 7).
    package static func quote(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
