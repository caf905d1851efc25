/// Attributes, their arguments, and modifiers.
extension TokenCursor {
    mutating func attributes() -> [Declaration.Attribute] {
        var attributes: [Declaration.Attribute] = []
        while isMark("@") {
            let offset = offset
            step()
            var name = takeWord()?.text ?? ""
            while isMark(".") {
                step()
                name = takeWord()?.text ?? name
            }
            if isMark("<") { stepOverAngle() }
            var arguments: [Declaration.Argument] = []
            if isMark("("), next?.afterSpace == false {
                var inner = inside()
                arguments = inner.arguments()
                stepOverBracket()
            }
            attributes.append(
                Declaration.Attribute(
                    name: Name(name).plain, arguments: arguments, offset: offset))
        }
        return attributes
    }

    /// The arguments between two parentheses.
    private mutating func arguments() -> [Declaration.Argument] {
        var arguments: [Declaration.Argument] = []
        while let token = next {
            var label: String?
            if token.kind == .word, isMark(":", at: 1) {
                label = Name(token.text).plain
                step()
                step()
            }
            let start = place
            // A line that does not go on ends nothing between parentheses.
            while next != nil, !isMark(",") {
                let before = place
                stepOverExpression()
                if place == before { step() }
            }
            if start < place {
                arguments.append(argument(label, start..<place))
            }
            step()
        }
        return arguments
    }

    private func argument(_ label: String?, _ range: Range<Int>) -> Declaration.Argument {
        let pattern = PatternArgument(of: self, in: range)
        return Declaration.Argument(
            label: label, source: source(range), guide: pattern.source,
            longPattern: pattern.longPattern, offset: tokens[range.lowerBound].range.lowerBound)
    }

    /// Words before the keyword of a declaration; a word with an argument, such as `private(set)`,
    /// has it at its end.
    mutating func modifiers() -> [String] {
        var modifiers: [String] = []
        while let token = next, token.kind == .word, Self.modifierWords.contains(token.text) {
            // `class` alone begins a declaration, and a case may be called `open`.
            if token.text == "class", !isModifierClass { return modifiers }
            step()
            if isMark("("), next?.afterSpace == false {
                let start = place
                stepOverBracket()
                modifiers.append(token.text + source(start..<place))
            } else {
                modifiers.append(token.text)
            }
        }
        return modifiers
    }

    private var isModifierClass: Bool {
        guard let after = peek(1), after.kind == .word else { return false }
        return ["func", "var", "let", "subscript"].contains(after.text)
            || Self.modifierWords.contains(after.text)
    }

    private static let modifierWords: Set<String> = [
        "public", "private", "fileprivate", "internal", "open", "package", "static", "class",
        "lazy", "weak", "unowned", "final", "nonisolated", "override", "mutating", "nonmutating",
        "required", "convenience", "indirect", "dynamic", "borrowing", "consuming", "isolated",
        "distributed", "prefix", "postfix", "infix", "optional", "async",
    ]

    static let accessWords: Set<String> = [
        "public", "package", "internal", "fileprivate", "private", "open",
    ]
}

/// An argument of a guide in which a pattern in slashes is replaced by its text: the library cannot
/// read the text of a `Regex` by public means, and the compiler has it.
struct PatternArgument {
    /// `/a+/` and `.pattern(/a+/)` become `.pattern(source: "a+")`.
    private(set) var source = ""
    /// Where a pattern of several lines stands. Space counts for nothing in it, so its text would
    /// mean something else.
    private(set) var longPattern: Int?

    init(of cursor: TokenCursor, in range: Range<Int>) {
        var from = range.lowerBound
        for place in range where cursor.tokens[place].kind == .pattern {
            let text = Self.text(cursor.source(place..<(place + 1)))
            if text.contains(where: \.isNewline), longPattern == nil {
                longPattern = cursor.tokens[place].range.lowerBound
            }
            let call = cursor.part(max(range.lowerBound, place - 3)..<(place + 2))
            let isWhole = range.count == 1
            let isCalled =
                call.isMark(".") && call.peek(1)?.text == "pattern" && call.isMark("(", at: 2)
            guard isWhole || isCalled else { continue }
            source += Self.between(cursor, from, place)
            source +=
                isWhole
                ? ".pattern(source: \(SwiftLiteral.text(text)))"
                : "source: \(SwiftLiteral.text(text))"
            from = place + 1
        }
        source += from < range.upperBound ? Self.between(cursor, from, range.upperBound) : ""
    }

    /// The source from one token up to another, with the space between.
    private static func between(_ cursor: TokenCursor, _ from: Int, _ end: Int) -> String {
        guard from < end else { return "" }
        return cursor.source(from..<end)
    }

    /// Without slashes and hashes.
    private static func text(_ literal: String) -> String {
        let hashes = literal.prefix { $0 == "#" }.count
        return String(literal.dropFirst(hashes + 1).dropLast(hashes + 1))
    }
}
