/// Reads JSON (RFC 8259) strictly: UTF-8, no deeper than `GrammarLimits.jsonDepth`.
package struct JSONTextReader {
    private let bytes: [UInt8]
    private let takesLast: Bool
    private var position = 0

    /// A whole text. With `takesLast`, of fields with one name the last one counts, as in most
    /// readers; else they are an error.
    ///
    /// - Throws: `GrammarError.malformed`, `.tooDeep`, `.tooLarge`.
    package static func read(
        _ bytes: [UInt8], limit: Int = GrammarLimits.sourceBytes, takesLast: Bool = false
    ) throws(GrammarError) -> JSONText {
        guard bytes.count <= limit else {
            throw .tooLarge(what: .source, limit: limit, pointer: "")
        }
        var reader = JSONTextReader(bytes: bytes, takesLast: takesLast)
        // A byte order mark says nothing.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.malformed }
        return value
    }

    private init(bytes: [UInt8], takesLast: Bool) {
        self.bytes = bytes
        self.takesLast = takesLast
    }

    private var malformed: GrammarError { .malformed(offset: position) }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        skipSpace()
        guard byte == UInt8(ascii: wanted) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(GrammarError) -> JSONText {
        guard depth < GrammarLimits.jsonDepth else {
            throw .tooDeep(limit: GrammarLimits.jsonDepth)
        }
        skipSpace()
        switch byte {
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["):
            position += 1
            var items: [JSONText] = []
            if take("]") { return .list(items) }
            repeat { items.append(try value(depth: depth + 1)) } while take(",")
            guard take("]") else { throw malformed }
            return .list(items)
        case .some(let byte) where byte == UInt8(ascii: "-") || Self.isDigit(byte):
            return .number(try number())
        default:
            for (word, value) in [
                ("null", JSONText.null), ("true", .bool(true)), ("false", .bool(false)),
            ] where bytes[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return value
            }
            throw malformed
        }
    }

    private mutating func object(depth: Int) throws(GrammarError) -> [JSONField] {
        position += 1
        var fields: [JSONField] = []
        var places: [[UInt8]: Int] = [:]
        if take("}") { return fields }
        repeat {
            skipSpace()
            guard byte == UInt8(ascii: "\"") else { throw malformed }
            let start = malformed
            let name = try string()
            guard take(":") else { throw malformed }
            let field = JSONField(name: name, value: try value(depth: depth + 1))
            if let place = places[Array(name.utf8)] {
                guard takesLast else { throw start }
                fields[place] = field
            } else {
                places[Array(name.utf8)] = fields.count
                fields.append(field)
            }
        } while take(",")
        guard take("}") else { throw malformed }
        return fields
    }

    private mutating func number() throws(GrammarError) -> String {
        let start = position
        if byte == UInt8(ascii: "-") { position += 1 }
        let whole = digits()
        guard whole == 1 || whole > 1 && bytes[position - whole] != UInt8(ascii: "0") else {
            throw malformed
        }
        if byte == UInt8(ascii: ".") {
            position += 1
            guard digits() > 0 else { throw malformed }
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            guard digits() > 0 else { throw malformed }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Takes digits and counts them.
    private mutating func digits() -> Int {
        let start = position
        while let byte, Self.isDigit(byte) { position += 1 }
        return position - start
    }

    private mutating func string() throws(GrammarError) -> String {
        let start = malformed
        position += 1
        var text: [UInt8] = []
        while let byte {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw start }
                return string
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw malformed
            default: text.append(byte)
            }
        }
        throw malformed
    }

    private mutating func escape(into text: inout [UInt8]) throws(GrammarError) {
        guard let kind = byte else { throw malformed }
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try unit()
            if (0xD800..<0xDC00).contains(code) {
                guard bytes[position...].starts(with: "\\u".utf8) else { throw malformed }
                position += 2
                let low = try unit()
                guard (0xDC00..<0xE000).contains(low) else { throw malformed }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw malformed }
            text += Array(String(scalar).utf8)
        default: throw malformed
        }
    }

    /// Four hexadecimal digits.
    private mutating func unit() throws(GrammarError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw malformed
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
