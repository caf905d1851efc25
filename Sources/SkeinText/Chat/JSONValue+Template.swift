import SkeinJSON

extension JSONValue {
    /// Reads one JSON value and nothing after it, as Python's `json.loads` does: of equal names in
    /// an object the last value counts. No deeper than a template's values may be.
    package init(parsing bytes: some Collection<UInt8>) throws(JSONFlaw) {
        self = try JSONReader.read(Array(bytes), .python(depth: TemplateLimits.valueDepth))
    }

    /// The value as Python's `json.dumps` writes it, which models were tuned on: a space after
    /// each comma and colon, integers with all their digits, other numbers as Python's `repr` has
    /// them.
    package var pythonText: String {
        spaced { text in
            JSONValue.isInteger(text)
                ? PythonText.integer(text) : PythonText.jsonFloat(Double(text) ?? .nan)
        }
    }

    /// A text that no other value has, for digests.
    package var described: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let text):
            JSONValue.isInteger(text)
                ? PythonText.integer(text) : PythonText.float(Double(text) ?? .nan)
        case .text(let text): PythonText.literal(text)
        case .list(let items): "[" + items.map(\.described).joined(separator: ",") + "]"
        case .object(let fields):
            "{"
                + fields.map { PythonText.literal($0.name) + ":" + $0.value.described }
                .joined(separator: ",") + "}"
        }
    }
}

extension TemplateValue {
    /// A number as Python's reader makes it of its JSON: an integer of any size, or a float.
    static func number(spelled text: String) -> TemplateValue {
        guard JSONValue.isInteger(text) else { return .float(Double(text) ?? .nan) }
        return Int(text).map { .integer($0) } ?? .longInteger(PythonText.integer(text))
    }
}
