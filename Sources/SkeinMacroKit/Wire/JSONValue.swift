/// A value of JSON, and how it is written.
///
/// It says that it is Sendable because Swift 6.3.1, left to infer it, may end in a "circular
/// reference", depending on the order of the files.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    /// In the order in which they are written.
    case object([(name: String, value: JSONValue)])

    static func == (left: JSONValue, right: JSONValue) -> Bool { left.written == right.written }

    static func whole(_ number: Int) -> JSONValue { .number(Double(number)) }

    /// The first field of this name, or null for whatever is no object or has none.
    subscript(name: String) -> JSONValue {
        guard case .object(let fields) = self else { return .null }
        return fields.first { $0.name == name }?.value ?? .null
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// A number without a fraction that fits.
    var whole: Int? {
        guard case .number(let number) = self else { return nil }
        return Int(exactly: number)
    }

    /// The values of a list; none for whatever is no list.
    var list: [JSONValue] {
        guard case .list(let values) = self else { return [] }
        return values
    }

    /// The value as JSON in UTF-8.
    var written: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes, depth: 0)
        return bytes
    }

    /// Whatever is deeper than a reader takes is written as null.
    private func write(into bytes: inout [UInt8], depth: Int) {
        guard depth < MacroLimits.jsonDepth else {
            bytes += "null".utf8
            return
        }
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let value):
            if let whole = Int(exactly: value) {
                bytes += "\(whole)".utf8
            } else {
                bytes += (value.isFinite ? "\(value)" : "null").utf8
            }
        case .text(let text): Self.write(text, into: &bytes)
        case .list(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(into: &bytes, depth: depth + 1)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let fields):
            bytes.append(UInt8(ascii: "{"))
            for (index, field) in fields.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(field.name, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                field.value.write(into: &bytes, depth: depth + 1)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
