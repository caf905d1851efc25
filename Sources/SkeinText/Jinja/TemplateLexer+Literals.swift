/// Names, numbers and strings inside a tag.
extension TemplateLexer {
    mutating func lexName() {
        var end = position
        while end < bytes.count, bytes[end].isNameStart || bytes[end].isDigit { end += 1 }
        emit(.name(String(decoding: bytes[position..<end], as: UTF8.self)))
        position = end
    }

    /// A decimal number. Other bases are unsupported: no known template has any.
    mutating func lexNumber() throws {
        // In `x.0.1` both are positions, not the number 0.1.
        let isAfterDot = previousByte == .dot
        var end = position
        var digits: [UInt8] = []
        while end < bytes.count {
            if bytes[end].isDigit {
                digits.append(bytes[end])
            } else if bytes[end] != .underscore || end + 1 >= bytes.count
                || !bytes[end + 1].isDigit
            {
                break
            }
            end += 1
        }
        let text = String(decoding: digits, as: UTF8.self)
        if end < bytes.count {
            let next = bytes[end]
            if !isAfterDot, isFloatTail(end) { return try lexFloat(wholeEnd: end) }
            let bases: [UInt8] = Array("xXoObB".utf8)
            if text == "0", bases.contains(next) {
                throw unsupported("a number that is not decimal")
            }
        }
        if digits.first == .zero, digits.contains(where: { $0 != .zero }) {
            throw fault(
                .unexpectedToken(found: "the number \(text)", expected: "no leading zero"))
        }
        guard let value = Int(text) else {
            throw fault(.integerTooLarge(TemplateError.excerpt(text)))
        }
        emit(.integer(value))
        position = end
    }

    /// The rest of a number that has a fraction, an exponent or both.
    private mutating func lexFloat(wholeEnd: Int) throws {
        var end = wholeEnd
        func skipDigits(_ start: Int) -> Int {
            var index = start
            while index < bytes.count, bytes[index].isDigit || bytes[index] == .underscore {
                index += 1
            }
            return index
        }
        if bytes[end] == .dot { end = skipDigits(end + 1) }
        if end < bytes.count, bytes[end] != .dot, isFloatTail(end) {
            end += 1
            if bytes[end] == .plus || bytes[end] == .minus { end += 1 }
            end = skipDigits(end)
        }
        let text = String(
            decoding: bytes[position..<end].filter { $0 != .underscore }, as: UTF8.self)
        guard let value = Double(text) else {
            throw fault(.unexpectedCharacter(TemplateError.excerpt(text)))
        }
        emit(.float(value))
        position = end
    }

    /// Whether `.5`, `e5` or `e-5` begins at `start`.
    private func isFloatTail(_ start: Int) -> Bool {
        var index = start + 1
        switch bytes[start] {
        case .dot: break
        case UInt8(ascii: "e"), UInt8(ascii: "E"):
            if index < bytes.count, bytes[index] == .plus || bytes[index] == .minus { index += 1 }
        default: return false
        }
        return index < bytes.count && bytes[index].isDigit
    }

    mutating func lexString() throws {
        let quote = bytes[position]
        var end = position + 1
        while end < bytes.count, bytes[end] != quote {
            end += bytes[end] == .backslash ? 2 : 1
        }
        guard end < bytes.count else { throw fault(.unterminatedString) }
        emit(.string(try resolvingEscapes(in: position + 1..<end)))
        advance(to: end + 1)
    }

    /// The escapes of Python's string literals. One that Python does not know is kept as written.
    private func resolvingEscapes(in range: Range<Int>) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == .backslash else {
                result.append(bytes[index])
                index += 1
                continue
            }
            let kind = bytes[index + 1]
            if let simple = Self.simpleEscapes[kind] {
                result += simple
                index += 2
            } else if let length = Self.hexadecimalEscapes[kind] {
                let digits = bytes[min(index + 2, range.upperBound)..<range.upperBound]
                    .prefix(length)
                let value = try scalar(digits, radix: 16, count: length, escape: kind)
                result += Array(String(value).utf8)
                index += 2 + length
            } else if (.zero...UInt8(ascii: "7")).contains(kind) {
                let digits = bytes[index + 1..<range.upperBound].prefix(3).prefix {
                    (.zero...UInt8(ascii: "7")).contains($0)
                }
                let value = try scalar(digits, radix: 8, count: digits.count, escape: kind)
                result += Array(String(value).utf8)
                index += 1 + digits.count
            } else if kind == UInt8(ascii: "N") || kind >= 0x80 {
                let end = index + 1 + UTF8Scalars.length(lead: kind)
                let shown = String(decoding: bytes[index..<end], as: UTF8.self)
                throw unsupported("the escape \"\(shown)\"")
            } else {
                result += [.backslash, kind]
                index += 2
            }
        }
        return result
    }

    private func scalar(
        _ digits: ArraySlice<UInt8>, radix: Int, count: Int, escape: UInt8
    ) throws -> Unicode.Scalar {
        let text = String(decoding: digits, as: UTF8.self)
        let areDigits = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard digits.count == count, areDigits, let value = UInt32(text, radix: radix),
            let scalar = Unicode.Scalar(value)
        else {
            let lead = radix == 16 ? String(Unicode.Scalar(escape)) : ""
            throw fault(.invalidEscape("\\\(lead)\(text)"))
        }
        return scalar
    }

    private func unsupported(_ construct: String) -> TemplateError {
        .unsupported(construct: construct, line: line, template: name)
    }

    private static let simpleEscapes: [UInt8: [UInt8]] = [
        .newline: [], .backslash: [.backslash], .quote: [.quote], .doubleQuote: [.doubleQuote],
        UInt8(ascii: "a"): [0x07], UInt8(ascii: "b"): [0x08], UInt8(ascii: "f"): [0x0C],
        UInt8(ascii: "n"): [.newline], UInt8(ascii: "r"): [.carriageReturn],
        UInt8(ascii: "t"): [0x09], UInt8(ascii: "v"): [0x0B],
    ]

    /// Escapes by hexadecimal code point, with their count of digits.
    private static let hexadecimalEscapes: [UInt8: Int] = [
        UInt8(ascii: "x"): 2, UInt8(ascii: "u"): 4, UInt8(ascii: "U"): 8,
    ]
}
