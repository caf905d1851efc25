import SkeinJSON

/// The values of `enum` or `const`, and their normal forms.
struct ListedValues {
    /// Each once.
    private(set) var values: [JSONValue] = []
    private(set) var forms: Set<[UInt8]> = []
    /// The bytes of all forms.
    private(set) var formBytes = 0
    private let doubles: DoubleForms

    init(_ values: [JSONValue]) {
        for value in values {
            let form = value.normalForm
            guard forms.insert(form).inserted else { continue }
            formBytes += form.count
            self.values.append(value)
        }
        doubles = DoubleForms(self.values)
    }

    /// The normal forms of the values as a reader of doubles has them.
    var doubleForms: Set<[UInt8]> { doubles.forms }

    /// Those that are in both lists, in the order of the first.
    func intersection(_ other: ListedValues) -> ListedValues {
        ListedValues(values.filter { other.forms.contains($0.normalForm) })
    }
}

/// They are made when they are first asked for: each value may be compared with all of another list.
private final class DoubleForms {
    private let values: [JSONValue]
    private(set) lazy var forms = Set(values.map(\.asDoubles.normalForm))

    init(_ values: [JSONValue]) {
        self.values = values
    }
}

extension JSONValue {
    /// The value as a reader of doubles has it.
    var asDoubles: JSONValue {
        switch self {
        case .number(let text): Double(text).map { .number("\($0)") } ?? self
        case .list(let items): .list(items.map(\.asDoubles))
        case .object(let fields):
            .object(fields.map { JSONField(name: $0.name, value: $0.value.asDoubles) })
        default: self
        }
    }

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
