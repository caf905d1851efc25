import SkeinJSON

/// The values of `enum` or `const`, and their normal forms.
struct ListedValues {
    /// Each once.
    private(set) var values: [JSONValue] = []
    private(set) var forms: Set<[UInt8]> = []

    init(_ values: [JSONValue]) {
        for value in values where forms.insert(value.normalForm).inserted {
            self.values.append(value)
        }
    }

    /// Those that are in both lists, in the order of the first.
    func intersection(_ other: ListedValues) -> ListedValues {
        ListedValues(values.filter { other.forms.contains($0.normalForm) })
    }
}

extension JSONValue {
    /// Bytes that two values share if and only if JSON Schema calls them equal: numbers by value, objects
    /// whatever the order of their fields, texts by code points.
    var normalForm: [UInt8] {
        switch self {
        case .null, .bool: return Array(written.utf8)
        case .number(let text):
            guard let number = ExactDecimal(json: text) else { return Array(text.utf8) }
            let sign = number.isNegative ? "-" : ""
            return Array("\(sign)\(number.digits)e\(number.exponent)".utf8)
        case .text(let text): return Array(JSONValue.quoted(text).utf8)
        case .list(let items):
            return Self.listed(items.map(\.normalForm), between: "[", "]")
        case .object(let fields):
            let parts = fields.map { field in
                var part = Array(JSONValue.quoted(field.name).utf8)
                part.append(UInt8(ascii: ":"))
                part += field.value.normalForm
                return part
            }
            return Self.listed(
                parts.sorted { $0.lexicographicallyPrecedes($1) }, between: "{", "}")
        }
    }

    /// The parts, each with a comma behind it.
    private static func listed(
        _ parts: [[UInt8]], between first: Unicode.Scalar, _ last: Unicode.Scalar
    ) -> [UInt8] {
        var bytes = [UInt8(ascii: first)]
        for part in parts {
            bytes += part
            bytes.append(UInt8(ascii: ","))
        }
        bytes.append(UInt8(ascii: last))
        return bytes
    }

    /// How many values there are inside, this one included.
    var size: Int {
        switch self {
        case .list(let items): items.reduce(1) { $0 + $1.size }
        case .object(let fields): fields.reduce(1) { $0 + $1.value.size }
        default: 1
        }
    }
}
