extension JSONValue {
    /// An object of names and values.
    package static func fields(_ fields: [(String, JSONValue)]) -> JSONValue {
        .object(fields.map { JSONField(name: $0.0, value: $0.1) })
    }

    /// The value as JSON without spaces.
    package var written: String { String(decoding: utf8, as: UTF8.self) }

    /// The same in UTF-8.
    package var utf8: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// Appends the value as JSON without spaces.
    package func write(to out: inout [UInt8]) { write(to: &out, between: ",", ":") { $0 } }

    /// The value as JSON with a space after each comma and colon, as Python writes it.
    ///
    /// - Parameter number: how a number that was spelled like this is written.
    /// - Returns: one line.
    package func spaced(number: (String) -> String = { $0 }) -> String {
        var bytes: [UInt8] = []
        write(to: &bytes, between: ", ", ": ", number: number)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as JSON for people: each field of an object is a line of its own. Lists are not broken.
    ///
    /// - Parameter levels: how many objects in each other are broken; those in them are not.
    /// - Returns: lines, without a line break at the end.
    package func lines(levels: Int = 1) -> String {
        var bytes: [UInt8] = []
        writeLines(to: &bytes, indent: 0, levels: levels)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func writeLines(to out: inout [UInt8], indent: Int, levels: Int) {
        guard case .object(let fields) = self, !fields.isEmpty, levels > 0 else {
            return write(to: &out)
        }
        func startLine(_ indent: Int) {
            out.append(UInt8(ascii: "\n"))
            out += repeatElement(UInt8(ascii: " "), count: indent)
        }
        out.append(UInt8(ascii: "{"))
        for (place, field) in fields.enumerated() {
            if place > 0 { out.append(UInt8(ascii: ",")) }
            startLine(indent + 2)
            JSONWriter.append(quoted: field.name, to: &out)
            out += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            field.value.writeLines(to: &out, indent: indent + 2, levels: levels - 1)
        }
        startLine(indent)
        out.append(UInt8(ascii: "}"))
    }

    private func write(
        to out: inout [UInt8], between comma: StaticString, _ colon: StaticString,
        number: (String) -> String
    ) {
        switch self {
        case .null: out += "null".utf8
        case .bool(let value): out += (value ? "true" : "false").utf8
        case .number(let text): out += number(text).utf8
        case .text(let text): JSONWriter.append(quoted: text, to: &out)
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
                JSONWriter.append(quoted: field.name, to: &out)
                colon.withUTF8Buffer { out += $0 }
                field.value.write(to: &out, between: comma, colon, number: number)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// A JSON string literal; see `JSONWriter`.
    package static func quoted(_ text: String) -> String {
        var out: [UInt8] = []
        JSONWriter.append(quoted: text, to: &out)
        return String(decoding: out, as: UTF8.self)
    }
}
