/// A place among the tokens of a declaration. Whatever it does, it steps forward or stays, and it
/// never stands behind the end.
struct TokenCursor {
    let bytes: [UInt8]
    let tokens: [Token]
    /// For each opening bracket the place of its closing one, or the end if it has none; for every
    /// other token its own place.
    private let partners: [Int]
    private(set) var place = 0
    /// Where this cursor ends: a bracket that surrounds it, or the end of the tokens.
    private(set) var end: Int

    /// - Throws: `Refusal` for texts nested too deeply.
    init(_ source: String) throws(Refusal) {
        let lexer = Lexer(Array(source.utf8))
        if let offset = lexer.tooDeep { throw Refusal(.tooDeep, at: offset) }
        bytes = lexer.bytes
        tokens = lexer.tokens
        partners = Self.partners(of: lexer.tokens)
        end = lexer.tokens.count
    }

    /// Pairs brackets; a closing bracket that does not fit the last open one is passed over.
    private static func partners(of tokens: [Token]) -> [Int] {
        var partners = Array(tokens.indices)
        var open: [Int] = []
        for (place, token) in tokens.enumerated() where token.kind == .mark {
            switch token.text {
            case "(", "[", "{":
                open.append(place)
                partners[place] = tokens.count
            case ")", "]", "}":
                guard let last = open.last, closes(token.text, tokens[last].text) else { continue }
                partners[last] = place
                open.removeLast()
            default: break
            }
        }
        return partners
    }

    private static func closes(_ closing: String, _ opening: String) -> Bool {
        switch opening {
        case "(": closing == ")"
        case "[": closing == "]"
        default: closing == "}"
        }
    }

    // MARK: What stands here

    /// The next token, or nil at the end.
    var next: Token? { peek(0) }

    func peek(_ distance: Int) -> Token? {
        place + distance < end ? tokens[place + distance] : nil
    }

    /// The offset of the next token in bytes, or of the source's end.
    var offset: Int { place < tokens.count ? tokens[place].range.lowerBound : bytes.count }

    func isMark(_ text: String, at distance: Int = 0) -> Bool {
        guard let token = peek(distance) else { return false }
        return token.kind == .mark && token.text == text
    }

    func isWord(_ text: String) -> Bool {
        guard let next else { return false }
        return next.kind == .word && next.text == text
    }

    var isOpeningBracket: Bool { isMark("(") || isMark("[") || isMark("{") }

    /// What is written from one token up to another, which is left out.
    func source(_ range: Range<Int>) -> String {
        guard let first = range.first, let last = range.last, last < tokens.count else { return "" }
        return String(
            decoding: bytes[tokens[first].range.lowerBound..<tokens[last].range.upperBound],
            as: UTF8.self)
    }

    // MARK: Steps

    mutating func step() { place = min(place + 1, end) }

    mutating func take(mark: String) -> Bool {
        guard isMark(mark) else { return false }
        step()
        return true
    }

    mutating func takeWord() -> Token? {
        guard let next, next.kind == .word else { return nil }
        step()
        return next
    }

    /// Steps behind the bracket that opens here; or over one token if none does.
    mutating func stepOverBracket() {
        guard place < end else { return }
        place = min(max(partners[place], place) + 1, end)
    }

    /// A cursor for what is inside the bracket that opens here.
    func inside() -> TokenCursor {
        var inner = self
        inner.step()
        inner.end = min(place < end ? max(partners[place], inner.place) : end, end)
        return inner
    }

    /// A cursor for a part of the tokens.
    func part(_ range: Range<Int>) -> TokenCursor {
        var part = self
        part.end = min(range.upperBound, tokens.count)
        part.place = min(range.lowerBound, part.end)
        return part
    }

    /// Steps over `<...>` if the tokens up to its end can be types; over the `<` alone if not.
    mutating func stepOverAngle() {
        var ahead = self
        var open = 0
        while let token = ahead.next, ahead.place - place < MacroLimits.angleTokens {
            switch (token.kind, token.text) {
            case (.mark, "<"): open += 1
            case (.mark, ">"):
                open -= 1
                if open == 0 {
                    ahead.step()
                    self = ahead
                    return
                }
            case (.mark, "("), (.mark, "["):
                ahead.stepOverBracket()
                continue
            case (.word, _), (.number, _), (.mark, "."), (.mark, ","), (.mark, "?"), (.mark, "!"),
                (.mark, "&"), (.mark, "->"), (.mark, ":"), (.mark, "@"), (.mark, "~"),
                (.mark, "="):
                break
            default: return step()
            }
            ahead.step()
        }
        step()
    }
}
