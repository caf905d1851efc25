/// Why a text is no JSON, or none that a conversation may hold.
package enum ChatJSONError: Error, Equatable {
    /// `offset` counts bytes from 0.
    case malformed(offset: Int)
    case tooDeep(limit: Int)
}

extension ChatJSON {
    /// Reads one JSON value (RFC 8259) and nothing after it. Of equal names in an object the last
    /// value counts, as in Python.
    ///
    /// - Throws: `ChatJSONError`.
    package init(parsing bytes: some Collection<UInt8>) throws {
        var reader = ChatJSONReader(bytes: Array(bytes))
        self = try reader.document()
    }
}

/// A recursive reader, no deeper than a template's values may be.
private struct ChatJSONReader {
    let bytes: [UInt8]
    var position = 0

    mutating func document() throws -> ChatJSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw malformed }
        return value
    }

    private var malformed: ChatJSONError { .malformed(offset: position) }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws -> ChatJSON {
        guard depth < TemplateLimits.valueDepth else {
            throw ChatJSONError.tooDeep(limit: TemplateLimits.valueDepth)
        }
        skipSpace()
        guard position < bytes.count else { throw malformed }
        switch bytes[position] {
        case .doubleQuote: return .text(try string())
        case .leftBrace: return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .list(try list(depth: depth))
        case .minus, .zero ... .nine: return try number()
        default:
            for (word, value) in [
                ("null", ChatJSON.null), ("true", .bool(true)), ("false", .bool(false)),
            ] where bytes[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return value
            }
            throw malformed
        }
    }

    private mutating func list(depth: Int) throws -> [ChatJSON] {
        position += 1
        var items: [ChatJSON] = []
        if take(.rightBracket) { return items }
        repeat { items.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
        guard take(.rightBracket) else { throw malformed }
        return items
    }

    private mutating func object(depth: Int) throws -> [ChatMessage.Field] {
        position += 1
        var fields: [ChatMessage.Field] = []
        var places: [String: Int] = [:]
        if take(.rightBrace) { return fields }
        repeat {
            skipSpace()
            guard position < bytes.count, bytes[position] == .doubleQuote else { throw malformed }
            let name = try string()
            guard take(UInt8(ascii: ":")) else { throw malformed }
            let value = try value(depth: depth + 1)
            if let place = places[name] {
                fields[place].value = value
            } else {
                places[name] = fields.count
                fields.append(ChatMessage.Field(name: name, value: value))
            }
        } while take(UInt8(ascii: ","))
        guard take(.rightBrace) else { throw malformed }
        return fields
    }

    private mutating func number() throws -> ChatJSON {
        let start = position
        if bytes[position] == .minus { position += 1 }
        let whole = digits()
        guard whole > 0, whole == 1 || bytes[position - whole] != .zero else { throw malformed }
        var isInteger = true
        if position < bytes.count, bytes[position] == .dot {
            isInteger = false
            position += 1
            guard digits() > 0 else { throw malformed }
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if position < bytes.count, [.plus, .minus].contains(bytes[position]) { position += 1 }
            guard digits() > 0 else { throw malformed }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int(text) { return .integer(value) }
        guard let value = Double(text) else { throw malformed }
        return .number(value)
    }

    /// Takes digits and counts them.
    private mutating func digits() -> Int {
        let start = position
        while position < bytes.count, bytes[position].isDigit { position += 1 }
        return position - start
    }

    private mutating func string() throws -> String {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case .doubleQuote:
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else { throw malformed }
                return string
            case .backslash:
                position += 1
                try escape(into: &text)
            case 0..<0x20: throw malformed
            default:
                text.append(byte)
                position += 1
            }
        }
        throw malformed
    }

    private mutating func escape(into text: inout [UInt8]) throws {
        guard position < bytes.count else { throw malformed }
        let kind = bytes[position]
        position += 1
        switch kind {
        case .doubleQuote, .backslash, UInt8(ascii: "/"): text.append(kind)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(.newline)
        case UInt8(ascii: "r"): text.append(.carriageReturn)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = UInt32(try unit())
            if (0xD800..<0xDC00).contains(code) {
                guard bytes[position...].starts(with: [.backslash, UInt8(ascii: "u")]) else {
                    throw malformed
                }
                position += 2
                let low = UInt32(try unit())
                guard (0xDC00..<0xE000).contains(low) else { throw malformed }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw malformed }
            text += Array(String(scalar).utf8)
        default: throw malformed
        }
    }

    /// Four hexadecimal digits.
    private mutating func unit() throws -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0 != .plus && $0 != .minus }),
            let value = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed }
        position += 4
        return value
    }
}
