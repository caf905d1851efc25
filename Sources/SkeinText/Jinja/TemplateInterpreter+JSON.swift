/// The filter `tojson`, as transformers defines it: Python's `json.dumps` with
/// `ensure_ascii=False`.
extension TemplateInterpreter {
    mutating func toJSON(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        var indent: Int?
        for (name, value) in arguments.keywords {
            switch (name, value) {
            case ("indent", .none), ("ensure_ascii", .bool(false)), ("sort_keys", .bool(false)):
                break
            case ("indent", .integer(let count)) where count <= 64: indent = max(0, count)
            default:
                throw unsupported("tojson with this value of \"\(TemplateError.excerpt(name))\"")
            }
        }
        guard arguments.positional.isEmpty else {
            throw unsupported("tojson with arguments without names")
        }
        var json = TemplateText()
        try write(value, to: &json, indent: indent, level: 0)
        return .text(TemplateText(bytes: json.bytes))
    }

    private mutating func write(
        _ value: TemplateValue, to json: inout TemplateText, indent: Int?, level: Int
    ) throws {
        switch value {
        case .none: try append(TemplateText("null"), to: &json)
        case .bool(let value): try append(TemplateText(value ? "true" : "false"), to: &json)
        case .integer(let value): try append(TemplateText(String(value)), to: &json)
        case .text(let text): try append(Self.jsonString(text), to: &json)
        case .list(let collection), .tuple(let collection):
            try append(TemplateText("["), to: &json)
            for (index, item) in collection.items.enumerated() {
                try separate(index, &json, indent, level + 1)
                try write(item, to: &json, indent: indent, level: level + 1)
            }
            try close("]", isEmpty: collection.items.isEmpty, &json, indent, level)
        case .mapping(let mapping):
            try append(TemplateText("{"), to: &json)
            for (index, (key, item)) in zip(mapping.keys, mapping.values).enumerated() {
                try separate(index, &json, indent, level + 1)
                try append(Self.jsonString(key), to: &json)
                try append(TemplateText(": "), to: &json)
                try write(item, to: &json, indent: indent, level: level + 1)
            }
            try close("}", isEmpty: mapping.keys.isEmpty, &json, indent, level)
        default:
            throw fault(.notSerializable(type: value.typeName))
        }
    }

    /// What comes before item `index` of a list or dict.
    private mutating func separate(
        _ index: Int, _ json: inout TemplateText, _ indent: Int?, _ level: Int
    ) throws {
        guard let indent else {
            return index > 0 ? try append(TemplateText(", "), to: &json) : ()
        }
        try append(TemplateText(index > 0 ? ",\n" : "\n"), to: &json)
        try append(TemplateText(String(repeating: " ", count: indent * level)), to: &json)
    }

    private mutating func close(
        _ bracket: String, isEmpty: Bool, _ json: inout TemplateText, _ indent: Int?, _ level: Int
    ) throws {
        if let indent, !isEmpty {
            try append(TemplateText("\n"), to: &json)
            try append(TemplateText(String(repeating: " ", count: indent * level)), to: &json)
        }
        try append(TemplateText(bracket), to: &json)
    }

    private static func jsonString(_ text: TemplateText) -> TemplateText {
        var bytes: [UInt8] = [.doubleQuote]
        bytes.reserveCapacity(text.bytes.count + 2)
        for byte in text.bytes {
            switch byte {
            case .doubleQuote, .backslash: bytes += [.backslash, byte]
            case .newline: bytes += Array("\\n".utf8)
            case .carriageReturn: bytes += Array("\\r".utf8)
            case 0x09: bytes += Array("\\t".utf8)
            case 0x08: bytes += Array("\\b".utf8)
            case 0x0C: bytes += Array("\\f".utf8)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes += Array("\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(.doubleQuote)
        return TemplateText(bytes: bytes)
    }
}
