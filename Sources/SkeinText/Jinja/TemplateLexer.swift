/// Cuts a template's source into tokens and applies white space control, as Jinja2's lexer does
/// with `trim_blocks` and `lstrip_blocks` on and `keep_trailing_newline` off:
///
/// - `{%-`, `{{-`, `{#-` strip all white space before the tag, `-%}`, `-}}`, `-#}` all after it;
/// - one newline after `%}` or `#}` is removed, unless the tag ends with `+%}` or `+#}`;
/// - spaces from the beginning of a line to `{%` or `{#` are removed, except for `{%+` or `{#+`;
/// - one newline at the end of the source is removed.
///
/// The order of the rules and the corner cases follow jinja2/lexer.py (3.1.6).
struct TemplateLexer {
    let bytes: [UInt8]
    let name: String
    var position = 0
    var line = 1
    private var tokens: [TemplateToken] = []
    /// Whether the previous tag's newline was swallowed, so that a line begins here.
    private var isAtLineStart = true

    /// The tokens of `source`, the last one `.end`.
    static func tokens(of source: String, name: String) throws -> [TemplateToken] {
        guard source.utf8.count <= TemplateLimits.sourceBytes else {
            throw TemplateError.limit(
                .sourceBytes(TemplateLimits.sourceBytes), line: 1, template: name)
        }
        var lexer = TemplateLexer(bytes: normalizingNewlines(Array(source.utf8)), name: name)
        return try lexer.run()
    }

    private init(bytes: [UInt8], name: String) {
        self.bytes = bytes
        self.name = name
    }

    /// CR LF and CR become LF, and one newline at the end is removed.
    private static func normalizingNewlines(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            if byte == .newline, index > 0, bytes[index - 1] == .carriageReturn { continue }
            result.append(byte == .carriageReturn ? .newline : byte)
        }
        if result.last == .newline { result.removeLast() }
        return result
    }

    private mutating func run() throws -> [TemplateToken] {
        while let open = nextOpening() {
            lexText(upTo: open)
            let opener = bytes[open + 1]
            let openedLine = line
            if let raw = rawTag("raw", at: open) {
                try lexRaw(raw, openedLine: openedLine)
                continue
            }
            position = open + 2
            if let sign = peek(), sign == .minus || sign == .plus { position += 1 }
            switch opener {
            case .hash:
                try skipComment(openedLine: openedLine)
            case .percent:
                emit(.tagBegin)
                try lexTag(openedLine: openedLine, isOutput: false)
            default:
                emit(.outputBegin)
                try lexTag(openedLine: openedLine, isOutput: true)
            }
            isAtLineStart = bytes[position - 1] == .newline
        }
        if position < bytes.count { emit(.text(Array(bytes[position...]))) }
        advance(to: bytes.count)
        emit(.end)
        return tokens
    }

    /// `{% raw %}...{% endraw %}`: what is between the tags is literal text.
    private mutating func lexRaw(_ opening: RawTag, openedLine: Int) throws {
        advance(to: opening.end)
        if opening.sign == .minus {
            advance(to: UTF8Scalars.endOfSpace(from: position, in: bytes))
        }
        isAtLineStart = bytes[position - 1] == .newline
        var index = position
        while index < bytes.count {
            if bytes[index] == .leftBrace, let closing = rawTag("endraw", at: index) {
                lexText(upTo: index)
                advance(to: closing.end)
                skipAfterTag(sign: closing.sign)
                isAtLineStart = bytes[position - 1] == .newline
                return
            }
            index += 1
        }
        throw TemplateError.syntax(.unclosedBlock(tag: "raw"), line: openedLine, template: name)
    }

    /// A tag that is nothing but its name.
    private struct RawTag {
        var end: Int
        /// Before the closing bracket.
        var sign: UInt8?
    }

    /// The tag `{% name %}` at `start`, if it is there.
    private func rawTag(_ name: String, at start: Int) -> RawTag? {
        guard bytes[start...].starts(with: [.leftBrace, .percent]) else { return nil }
        var index = start + 2
        if index < bytes.count, bytes[index] == .minus || bytes[index] == .plus { index += 1 }
        index = UTF8Scalars.endOfSpace(from: index, in: bytes)
        guard bytes[index...].starts(with: name.utf8) else { return nil }
        index = UTF8Scalars.endOfSpace(from: index + name.utf8.count, in: bytes)
        var sign: UInt8?
        if index < bytes.count, bytes[index] == .minus || bytes[index] == .plus {
            sign = bytes[index]
            index += 1
        }
        guard bytes[index...].starts(with: [.percent, .rightBrace]) else { return nil }
        return RawTag(end: index + 2, sign: sign)
    }

    /// The position of the next `{%`, `{{` or `{#`.
    private func nextOpening() -> Int? {
        var index = position
        while index + 1 < bytes.count {
            if bytes[index] == .leftBrace {
                switch bytes[index + 1] {
                case .percent, .leftBrace, .hash: return index
                default: break
                }
            }
            index += 1
        }
        return nil
    }

    /// The text before a tag at `open`, stripped as the tag's sign says.
    private mutating func lexText(upTo open: Int) {
        let sign = open + 2 < bytes.count ? bytes[open + 2] : nil
        var end = open
        if sign == .minus {
            end = UTF8Scalars.startOfSpace(before: open, notBefore: position, in: bytes)
        } else if sign != .plus, bytes[open + 1] != .leftBrace {
            let lineStart = bytes[position..<open].lastIndex(of: .newline).map { $0 + 1 }
            if let start = lineStart ?? (isAtLineStart ? position : nil),
                UTF8Scalars.startOfSpace(before: open, notBefore: start, in: bytes) == start
            {
                end = start
            }
        }
        if end > position { emit(.text(Array(bytes[position..<end]))) }
        advance(to: open)
    }

    private mutating func skipComment(openedLine: Int) throws {
        var close = position
        while close + 1 < bytes.count, bytes[close] != .hash || bytes[close + 1] != .rightBrace {
            close += 1
        }
        guard close + 1 < bytes.count else {
            throw TemplateError.syntax(.unterminatedComment, line: openedLine, template: name)
        }
        let sign = close > position ? bytes[close - 1] : nil
        advance(to: close + 2)
        skipAfterTag(sign: sign)
    }

    /// The white space after a tag that ended with `sign` before its closing bracket.
    private mutating func skipAfterTag(sign: UInt8?) {
        if sign == .minus {
            advance(to: UTF8Scalars.endOfSpace(from: position, in: bytes))
        } else if sign != .plus, peek() == .newline {
            advance(to: position + 1)
        }
    }

    /// The tokens inside a tag, up to its closing bracket, which counts only where no bracket is
    /// open: `{{ {'a': {}} }}`.
    private mutating func lexTag(openedLine: Int, isOutput: Bool) throws {
        var openBrackets: [UInt8] = []
        while position < bytes.count {
            if openBrackets.isEmpty, skipClosing(isOutput: isOutput) { return }
            let spaceEnd = UTF8Scalars.endOfSpace(from: position, in: bytes)
            if spaceEnd > position {
                advance(to: spaceEnd)
                continue
            }
            switch bytes[position] {
            case .zero ... .nine: try lexNumber()
            case let byte where byte.isNameStart: lexName()
            case .quote, .doubleQuote: try lexString()
            default: try lexSymbol(&openBrackets)
            }
        }
        throw TemplateError.syntax(.unterminatedTag, line: openedLine, template: name)
    }

    /// Skips `%}` or `}}`, if it is next, with its sign and the white space that belongs to it.
    private mutating func skipClosing(isOutput: Bool) -> Bool {
        let closing: [UInt8] = isOutput ? [.rightBrace, .rightBrace] : [.percent, .rightBrace]
        let hasSign = peek() == .minus || (!isOutput && peek() == .plus)
        let start = position + (hasSign ? 1 : 0)
        guard start + 2 <= bytes.count, bytes[start..<start + 2].elementsEqual(closing) else {
            return false
        }
        let sign = hasSign ? bytes[position] : nil
        emit(isOutput ? .outputEnd : .tagEnd)
        position = start + 2
        if !isOutput || sign == .minus { skipAfterTag(sign: sign) }
        return true
    }

    private mutating func lexSymbol(_ openBrackets: inout [UInt8]) throws {
        let rest = bytes[position...]
        let fitting = TemplateToken.Symbol.longestFirst.first { rest.starts(with: $0.bytes) }
        guard let (symbol, spelling) = fitting else {
            let end = position + UTF8Scalars.length(lead: bytes[position])
            let character = String(decoding: bytes[position..<end], as: UTF8.self)
            throw fault(.unexpectedCharacter(character))
        }
        switch symbol {
        case .leftBrace: openBrackets.append(.rightBrace)
        case .leftBracket: openBrackets.append(.rightBracket)
        case .leftParenthesis: openBrackets.append(.rightParenthesis)
        case .rightBrace, .rightBracket, .rightParenthesis:
            guard openBrackets.popLast() == bytes[position] else {
                throw fault(.unbalancedBracket(symbol.rawValue))
            }
        default: break
        }
        emit(.symbol(symbol))
        position += spelling.count
    }

    // MARK: - What the literals in TemplateLexer+Literals.swift use

    func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func emit(_ kind: TemplateToken.Kind) {
        tokens.append(TemplateToken(kind: kind, line: line))
    }

    /// Moves to `end`, counting lines.
    mutating func advance(to end: Int) {
        line += bytes[position..<end].reduce(0) { $0 + ($1 == .newline ? 1 : 0) }
        position = end
    }

    /// The byte before the current one, nil at the beginning.
    var previousByte: UInt8? { position > 0 ? bytes[position - 1] : nil }

    func fault(_ fault: TemplateError.SyntaxFault) -> TemplateError {
        .syntax(fault, line: line, template: name)
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let leftBrace = UInt8(ascii: "{")
    static let rightBrace = UInt8(ascii: "}")
    static let rightBracket = UInt8(ascii: "]")
    static let rightParenthesis = UInt8(ascii: ")")
    static let percent = UInt8(ascii: "%")
    static let hash = UInt8(ascii: "#")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let dot = UInt8(ascii: ".")
    static let quote = UInt8(ascii: "'")
    static let doubleQuote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let underscore = UInt8(ascii: "_")
    static let zero = UInt8(ascii: "0")
    static let nine = UInt8(ascii: "9")

    /// Whether a name can begin with this character. (Jinja2 allows letters of all scripts, which
    /// no known template uses.)
    var isNameStart: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            .underscore:
            true
        default: false
        }
    }

    var isDigit: Bool { (.zero ... .nine).contains(self) }
}
