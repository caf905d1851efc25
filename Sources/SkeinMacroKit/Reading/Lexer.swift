/// Cuts a declaration into tokens.
///
/// The compiler has parsed the text before it hands it over, so this does not judge Swift: it has
/// to find where names, texts, patterns and brackets begin and end, and to end for whatever bytes.
struct Lexer {
    let bytes: [UInt8]
    private(set) var tokens: [Token] = []
    /// Where texts are nested deeper than `MacroLimits.textDepth`, if they are.
    var tooDeep: Int?
    private var position = 0
    private var startsLine = true
    private var afterSpace = true

    /// The tokens of a source, in time that grows with its length.
    init(_ source: [UInt8]) {
        bytes = source
        while position < bytes.count {
            let start = position
            guard let kind = token() else { continue }
            let text =
                kind == .word || kind == .mark
                ? String(decoding: bytes[start..<position], as: UTF8.self) : ""
            tokens.append(
                Token(
                    kind: kind, range: start..<position, startsLine: startsLine,
                    afterSpace: afterSpace, text: text))
            startsLine = false
            afterSpace = false
        }
    }

    /// The byte at a place, or 0 behind the end.
    func byte(_ place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }

    /// How many of these stand in a row from a place on, counted up to `limit`.
    func run(of wanted: Unicode.Scalar, at place: Int, limit: Int = .max) -> Int {
        var end = place
        while end < bytes.count, end - place < limit, bytes[end] == UInt8(ascii: wanted) {
            end += 1
        }
        return end - place
    }

    /// Steps over one token and tells its kind, or over space and comments, and tells nothing.
    private mutating func token() -> Token.Kind? {
        switch bytes[position] {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            startsLine = true
            return space(to: position + 1)
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C, 0:
            return space(to: position + 1)
        case UInt8(ascii: "/"):
            if byte(position + 1) == UInt8(ascii: "/") { return space(to: endOfLine(position)) }
            if byte(position + 1) == UInt8(ascii: "*") { return space(to: endOfComment(position)) }
            if isPatternPlace, let end = endOfPattern(position, hashes: 0) {
                return take(.pattern, to: end)
            }
            return take(.mark, to: position + 1)
        case UInt8(ascii: "\""):
            return take(.text, to: endOfText(position, hashes: 0, depth: 0))
        case UInt8(ascii: "#"):
            return hashed()
        case UInt8(ascii: "`"):
            return take(.word, to: endOfQuotedName(position))
        case UInt8(ascii: "-") where byte(position + 1) == UInt8(ascii: ">"):
            return take(.mark, to: position + 2)
        case let byte where Self.isDigit(byte):
            return take(.number, to: endOfNumber(position))
        case let byte where Self.isNamePart(byte):
            return take(.word, to: endOfName(position))
        default:
            return take(.mark, to: position + 1)
        }
    }

    private mutating func take(_ kind: Token.Kind, to end: Int) -> Token.Kind {
        position = end
        return kind
    }

    private mutating func space(to end: Int) -> Token.Kind? {
        if bytes[position..<end].contains(UInt8(ascii: "\n")) { startsLine = true }
        position = end
        afterSpace = true
        return nil
    }

    /// `#"..."#`, `#/.../#`, or the hash of `#if`.
    private mutating func hashed() -> Token.Kind {
        let hashes = run(of: "#", at: position)
        let place = position + hashes
        switch byte(place) {
        case UInt8(ascii: "\""):
            return take(.text, to: endOfText(place, hashes: hashes, depth: 0))
        case UInt8(ascii: "/"):
            return take(.pattern, to: endOfPattern(place, hashes: hashes) ?? endOfLine(place))
        default: return take(.mark, to: place)
        }
    }

    /// Whether a slash here begins a pattern and divides nothing: an operand cannot end before it.
    private var isPatternPlace: Bool {
        guard let last = tokens.last else { return true }
        switch last.kind {
        case .number, .text, .pattern: return false
        case .word:
            // The name of a member is an operand, whatever it says.
            let isMember = tokens.dropLast().last?.text == "."
            return !isMember && Self.wordsBeforeOperands.contains(last.text)
        case .mark: return ![")", "]", "}", "?", "!", "/", ".", "\\"].contains(last.text)
        }
    }

    private static let wordsBeforeOperands: Set<String> = [
        "return", "in", "case", "try", "await", "throw", "where", "if", "guard", "while", "switch",
    ]

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// ASCII letters, `_`, `$` and whatever is not ASCII.
    static func isNamePart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || byte == 0x5F
            || byte == 0x24 || byte >= 0x80
    }
}

// MARK: Where a token ends

extension Lexer {
    func endOfLine(_ start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
        return end
    }

    /// Comments of this kind may stand inside each other.
    func endOfComment(_ start: Int) -> Int {
        var end = start + 2
        var depth = 1
        while end < bytes.count, depth > 0 {
            switch (bytes[end], byte(end + 1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                end += 2
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                end += 2
            default: end += 1
            }
        }
        return min(end, bytes.count)
    }

    /// A name in backticks stands on one line; anything else is a lone backtick.
    func endOfQuotedName(_ start: Int) -> Int {
        var end = start + 1
        while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D {
            end += 1
            if bytes[end - 1] == UInt8(ascii: "`") { return end }
        }
        return start + 1
    }

    func endOfName(_ start: Int) -> Int {
        var end = start
        while end < bytes.count, Self.isNamePart(bytes[end]) || Self.isDigit(bytes[end]) {
            end += 1
        }
        return end
    }

    /// Digits, letters, and a point before a digit: `0xFF`, `1_000`, `1.5e3`.
    func endOfNumber(_ start: Int) -> Int {
        var end = start
        while end < bytes.count {
            let isPoint = bytes[end] == UInt8(ascii: ".") && Self.isDigit(byte(end + 1))
            guard isPoint || Self.isNamePart(bytes[end]) || Self.isDigit(bytes[end]) else { break }
            end += 1
        }
        return end
    }
}
