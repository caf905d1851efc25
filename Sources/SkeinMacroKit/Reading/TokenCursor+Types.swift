/// Where types and expressions end.
extension TokenCursor {
    /// Reads a type. `type` stands for `Self` where the type is written into another one.
    mutating func type(insteadOfSelf type: Name) -> TypeText {
        let start = place
        var form = TypeText.Form.named
        var suffix = place
        var isWhole = false
        while !isWhole {
            stepOverSpecifiers()
            if isMark("(") {
                let inner = formInside
                stepOverBracket()
                if form == .named { form = inner }
            } else if isMark("[") {
                stepOverBracket()
            } else if takeWord() != nil {
                if isMark("<") { stepOverAngle() }
            }
            suffix = stepOverSuffixes()
            if take(mark: "&") { continue }
            while isWord("async") || isWord("throws") || isWord("rethrows") {
                step()
                if isMark("("), next?.afterSpace == false { stepOverBracket() }
            }
            isWhole = !take(mark: "->")
            if !isWhole { form = .function }
        }
        return text(of: start..<place, suffix: suffix, form: form, insteadOfSelf: type)
    }

    /// `@Sendable`, `any`, `inout`, `~` and the like.
    private mutating func stepOverSpecifiers() {
        while let token = next {
            switch (token.kind, token.text) {
            case (.mark, "@"):
                step()
                step()
                if isMark("("), next?.afterSpace == false { stepOverBracket() }
            case (.mark, "~"): step()
            case (.word, _) where Self.specifiers.contains(token.text): step()
            default: return
            }
        }
    }

    private static let specifiers: Set<String> = [
        "any", "some", "inout", "borrowing", "consuming", "sending", "isolated", "nonisolated",
        "__owned", "__shared",
    ]

    /// `.Name`, `<...>`, `?`, `!`, `...`.
    ///
    /// - Returns: where the last row of question and exclamation marks begins.
    private mutating func stepOverSuffixes() -> Int {
        var suffix = place
        while let token = next, token.kind == .mark {
            switch token.text {
            case "?", "!":
                guard !token.afterSpace else { return suffix }
                step()
            case ".":
                step()
                if takeWord() != nil, isMark("<") { stepOverAngle() }
                suffix = place
            default: return suffix
            }
        }
        return suffix
    }

    /// What a pair of parentheses makes of the types inside.
    private var formInside: TypeText.Form {
        var inner = inside()
        guard inner.next != nil else { return .tuple }
        while inner.next != nil {
            if inner.isMark(",") { return .tuple }
            if inner.isMark("->") { return .function }
            if inner.isMark("<") { inner.stepOverAngle() } else { inner.stepOverBracketOrToken() }
        }
        return .named
    }

    private mutating func stepOverBracketOrToken() {
        if isOpeningBracket { stepOverBracket() } else { step() }
    }

    private func text(
        of range: Range<Int>, suffix: Int, form: TypeText.Form, insteadOfSelf type: Name
    ) -> TypeText {
        guard form != .function else {
            return TypeText(wrapped: source(range), optionals: 0, form: form)
        }
        var range = range
        var optionals = 0
        if suffix < range.upperBound {
            optionals = range.upperBound - suffix
            range = range.lowerBound..<suffix
        }
        while let inner = insideOfOptional(range) {
            optionals += 1
            range = inner
            while range.count > 1, let last = range.last, ["?", "!"].contains(tokens[last].text) {
                optionals += 1
                range = range.lowerBound..<last
            }
        }
        return TypeText(
            wrapped: source(range, insteadOfSelf: type), optionals: optionals, form: form,
            names: names(in: range))
    }

    /// The words that stand for themselves, and not for a member of what is before them.
    private func names(in range: Range<Int>) -> Set<String> {
        Set(
            range.filter { tokens[$0].kind == .word && !isMember($0) }
                .map { Name(tokens[$0].text).plain })
    }

    /// What is inside `Optional<...>` or `Swift.Optional<...>`, if a type is that.
    private func insideOfOptional(_ range: Range<Int>) -> Range<Int>? {
        var type = part(range)
        if type.isWord("Swift"), type.isMark(".", at: 1) {
            type.step()
            type.step()
        }
        guard type.isWord("Optional"), type.isMark("<", at: 1) else { return nil }
        type.step()
        let start = type.place + 1
        type.stepOverAngle()
        guard type.next == nil, start < type.place - 1 else { return nil }
        return start..<(type.place - 1)
    }

    /// `Self` means another type inside of `PartiallyGenerated`.
    private func source(_ range: Range<Int>, insteadOfSelf type: Name) -> String {
        var text = ""
        var from = range.lowerBound
        for place in range where tokens[place].kind == .word && tokens[place].text == "Self" {
            let before = tokens[place].range.lowerBound
            text += String(decoding: bytes[tokens[from].range.lowerBound..<before], as: UTF8.self)
            text += type.written
            from = place + 1
            guard from < range.upperBound else { return text }
        }
        return text + source(from..<range.upperBound)
    }

    /// Steps to the end of an expression: a comma or a semicolon, the end of the cursor, or a line
    /// that does not go on with it.
    mutating func stepOverExpression() {
        let start = place
        while let token = next {
            if token.kind == .mark, token.text == "," || token.text == ";" { return }
            if place > start, token.startsLine, !continues(token) { return }
            let follows = place > start && tokens[place - 1].kind == .word && !token.afterSpace
            if isMark("<"), follows {
                stepOverAngle()
            } else {
                stepOverBracketOrToken()
            }
        }
    }

    /// Whether a token at the beginning of a line goes on with what stands before it.
    private func continues(_ token: Token) -> Bool {
        if endsWithOperator { return true }
        let last = tokens[place - 1]
        if last.kind == .word, Self.wordsInside.contains(last.text), !isMember(place - 1) {
            return true
        }
        switch token.kind {
        case .mark: return token.text != "@" && !token.text.hasPrefix("#")
        case .word: return Self.wordsInside.contains(token.text)
        case .number, .text, .pattern: return false
        }
    }

    /// Whether a word is the name of a member, whatever it says: `.in`, but not `0...in`.
    private func isMember(_ place: Int) -> Bool {
        let before = place - 1
        guard before >= 0, tokens[before].kind == .mark, tokens[before].text == "." else {
            return false
        }
        return before == 0 || tokens[before - 1].text != "."
    }

    /// Whether an operator stands before the next token: one after space, unlike the question mark
    /// of an optional type.
    private var endsWithOperator: Bool {
        var before = place - 1
        while before > 0, place - before < 4, tokens[before].kind == .mark,
            Self.infixMarks.contains(tokens[before].text)
        {
            if tokens[before].afterSpace { return true }
            before -= 1
        }
        return false
    }

    private static let infixMarks: Set<String> = [
        "=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "?", ":", "->", "~",
    ]

    private static let wordsInside: Set<String> = [
        "as", "is", "in", "else", "catch", "try", "await", "return", "throw", "if", "switch",
        "where",
    ]
}
