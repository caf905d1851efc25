import SkeinJSON

/// The filter `tojson`, as transformers defines it: Python's `json.dumps` with
/// `ensure_ascii=False`.
extension TemplateInterpreter {
    mutating func toJSON(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        let names = ["ensure_ascii", "indent", "separators", "sort_keys"]
        let bound = try bind(arguments, names, "tojson")
        var style = JSONStyle()
        style.isASCII = bound[0]?.isTrue == true
        style.sortsKeys = bound[3]?.isTrue == true
        switch bound[1] {
        case nil, .some(.none): break
        case .some(.text(let text)) where text.bytes.count <= 64: style.indent = text
        case .some(let other):
            guard let count = other.number, count <= 64 else {
                throw unsupported("tojson with this value of \"indent\"")
            }
            style.indent = TemplateText(String(repeating: " ", count: max(0, count)))
        }
        if style.indent != nil { style.comma = TemplateText(",") }
        switch bound[2] {
        case nil, .some(.none): break
        case .some(.tuple(let parts)), .some(.list(let parts)):
            guard parts.items.count == 2, case .text(let comma) = parts.items[0],
                case .text(let colon) = parts.items[1]
            else { throw fault(.arguments(function: "tojson")) }
            (style.comma, style.colon) = (comma, colon)
        case .some: throw unsupported("tojson with this value of \"separators\"")
        }
        var json = TemplateText()
        try write(value, to: &json, style, level: 0)
        return .text(json)
    }

    private struct JSONStyle {
        /// The indent of each level; nil: all on one line.
        var indent: TemplateText?
        var comma = TemplateText(", ")
        var colon = TemplateText(": ")
        var isASCII = false
        var sortsKeys = false
    }

    private mutating func write(
        _ value: TemplateValue, to json: inout TemplateText, _ style: JSONStyle, level: Int
    ) throws {
        switch value {
        case .none: try append(TemplateText("null"), to: &json)
        case .bool(let value): try append(TemplateText(value ? "true" : "false"), to: &json)
        case .integer(let value): try append(TemplateText(String(value)), to: &json)
        case .longInteger(let digits): try append(TemplateText(digits), to: &json)
        case .float(let value): try append(TemplateText(PythonText.jsonFloat(value)), to: &json)
        case .text(let text): try append(Self.jsonString(text, style.isASCII), to: &json)
        case .list(let collection), .tuple(let collection):
            try append(TemplateText("["), to: &json)
            for (index, item) in collection.items.enumerated() {
                try separate(index, &json, style, level + 1)
                try write(item, to: &json, style, level: level + 1)
            }
            try close("]", isEmpty: collection.items.isEmpty, &json, style, level)
        case .mapping(let mapping):
            try append(TemplateText("{"), to: &json)
            try charge(mapping.keys.count)
            var order = Array(mapping.keys.indices)
            if style.sortsKeys {
                if mapping.hasIntegerKeys { throw unsupported("tojson that sorts integers") }
                order.sort {
                    mapping.keys[$0].bytes.lexicographicallyPrecedes(mapping.keys[$1].bytes)
                }
            }
            for (place, index) in order.enumerated() {
                try separate(place, &json, style, level + 1)
                let key = try text(of: TemplateMapping.keyValue(mapping.keys[index]))
                try append(Self.jsonString(key, style.isASCII), to: &json)
                try append(style.colon, to: &json)
                try write(mapping.values[index], to: &json, style, level: level + 1)
            }
            try close("}", isEmpty: mapping.keys.isEmpty, &json, style, level)
        default:
            throw fault(.notSerializable(type: value.typeName))
        }
    }

    /// What comes before item `index` of a list or dict.
    private mutating func separate(
        _ index: Int, _ json: inout TemplateText, _ style: JSONStyle, _ level: Int
    ) throws {
        if index > 0 { try append(style.comma, to: &json) }
        try breakLine(&json, style, level)
    }

    private mutating func close(
        _ bracket: String, isEmpty: Bool, _ json: inout TemplateText, _ style: JSONStyle,
        _ level: Int
    ) throws {
        if !isEmpty { try breakLine(&json, style, level) }
        try append(TemplateText(bracket), to: &json)
    }

    private mutating func breakLine(
        _ json: inout TemplateText, _ style: JSONStyle, _ level: Int
    ) throws {
        guard let indent = style.indent else { return }
        try append(TemplateText("\n"), to: &json)
        for _ in 0..<level { try append(indent, to: &json) }
    }

    private static func jsonString(_ text: TemplateText, _ isASCII: Bool) -> TemplateText {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.bytes.count + 2)
        text.bytes.withUnsafeBytes { JSONWriter.append(quoted: $0, to: &bytes) }
        if isASCII, bytes.contains(where: { $0 >= 0x80 }) {
            // Beyond the first plane, JSON writes two UTF-16 halves.
            let words = String(decoding: bytes, as: UTF8.self).utf16.map { word -> String in
                if word < 0x80 { return String(Unicode.Scalar(UInt8(word))) }
                let digits = String(word, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            bytes = Array(words.joined().utf8)
        }
        return TemplateText(bytes: bytes, origin: text.soleOrigin)
    }
}
