/// Expressions, from the loosest to the tightest binding: inline if, or, and, not, comparisons,
/// + and -, ~, * // and %, sign, then subscripts, filters and tests.
extension TemplateParser {
    /// `a` or `a, b, c`, as allowed in a tag or in parentheses.
    mutating func tuple(
        allowsConditional: Bool = true, allowsEmpty: Bool = false
    ) throws -> TemplateExpression {
        let line = line
        var items: [TemplateExpression] = []
        var isTuple = false
        while !isTupleEnd {
            items.append(allowsConditional ? try expression() : try nested { try $0.disjunction() })
            guard take(.symbol(.comma)) else { break }
            isTuple = true
        }
        if !isTuple, let only = items.first { return only }
        guard isTuple || allowsEmpty else { throw unexpected("an expression") }
        return TemplateExpression(line: line, form: .tuple(items))
    }

    private var isTupleEnd: Bool {
        switch peek.kind {
        case .outputEnd, .tagEnd, .symbol(.rightParenthesis): true
        case .name("recursive"): true
        default: false
        }
    }

    mutating func expression() throws -> TemplateExpression {
        try nested { try $0.conditional() }
    }

    private mutating func conditional() throws -> TemplateExpression {
        let line = line
        let known = unknownNames.count
        var value = try disjunction()
        var count = 0
        while takeName("if") {
            let test = try disjunction()
            let otherwise = takeName("else") ? try expression() : nil
            value = TemplateExpression(
                line: line, form: .conditional(test: test, then: value, otherwise: otherwise))
            count += 1
            guard count <= TemplateLimits.inlineIfs else {
                throw TemplateError.limit(
                    .nesting(TemplateLimits.nesting), line: line, template: templateName)
            }
        }
        // Both values of an inline if are branches.
        if count > 0 { unknownNames.removeSubrange(known...) }
        return value
    }

    private mutating func disjunction() throws -> TemplateExpression {
        let line = line
        var operands = [try conjunction()]
        while takeName("or") { operands.append(try conjunction()) }
        return operands.count == 1
            ? operands[0] : TemplateExpression(line: line, form: .any(operands))
    }

    private mutating func conjunction() throws -> TemplateExpression {
        let line = line
        var operands = [try negation()]
        while takeName("and") { operands.append(try negation()) }
        return operands.count == 1
            ? operands[0] : TemplateExpression(line: line, form: .all(operands))
    }

    private mutating func negation() throws -> TemplateExpression {
        let line = line
        guard takeName("not") else { return try comparison() }
        return TemplateExpression(
            line: line, form: .not(try nested { try $0.negation() }))
    }

    private mutating func comparison() throws -> TemplateExpression {
        let line = line
        let first = try sum()
        var comparands: [TemplateExpression.Comparand] = []
        while let comparison = takeComparison() {
            comparands.append(.init(comparison: comparison, value: try sum()))
        }
        return comparands.isEmpty
            ? first : TemplateExpression(line: line, form: .comparison(first, comparands))
    }

    private mutating func takeComparison() -> TemplateComparison? {
        switch peek.kind {
        case .symbol(let symbol):
            guard let comparison = TemplateComparison(rawValue: symbol.rawValue) else { return nil }
            next()
            return comparison
        case .name("in"):
            next()
            return .contained
        case .name("not") where lookahead.kind == .name("in"):
            next()
            next()
            return .notContained
        default: return nil
        }
    }

    private mutating func sum() throws -> TemplateExpression {
        let line = line
        let first = try concatenation()
        var operands: [TemplateExpression.Operand] = []
        while case .symbol(let symbol) = peek.kind, symbol == .add || symbol == .subtract {
            next()
            operands.append(.init(symbol: symbol, value: try concatenation()))
        }
        return operands.isEmpty
            ? first : TemplateExpression(line: line, form: .arithmetic(first, operands))
    }

    private mutating func concatenation() throws -> TemplateExpression {
        let line = line
        var operands = [try product()]
        while take(.symbol(.tilde)) { operands.append(try product()) }
        return operands.count == 1
            ? operands[0] : TemplateExpression(line: line, form: .concatenation(operands))
    }

    private mutating func product() throws -> TemplateExpression {
        let line = line
        let first = try power()
        var operands: [TemplateExpression.Operand] = []
        while case .symbol(let symbol) = peek.kind {
            switch symbol {
            case .multiply, .divide, .floorDivide, .modulo: next()
            default: return product(first, operands, line: line)
            }
            operands.append(.init(symbol: symbol, value: try power()))
        }
        return product(first, operands, line: line)
    }

    private mutating func power() throws -> TemplateExpression {
        let line = line
        let first = try signed(allowsFilters: true)
        var operands: [TemplateExpression.Operand] = []
        while take(.symbol(.power)) {
            operands.append(.init(symbol: .power, value: try signed(allowsFilters: true)))
        }
        return product(first, operands, line: line)
    }

    private func product(
        _ first: TemplateExpression, _ operands: [TemplateExpression.Operand], line: Int
    ) -> TemplateExpression {
        operands.isEmpty
            ? first : TemplateExpression(line: line, form: .arithmetic(first, operands))
    }

    /// A sign binds tighter than a filter (`-1|string` is `(-1)|string`), a subscript tighter than
    /// a sign.
    private mutating func signed(allowsFilters: Bool) throws -> TemplateExpression {
        let line = line
        let value: TemplateExpression
        if take(.symbol(.subtract)) {
            let inner = try nested { try $0.signed(allowsFilters: false) }
            value = TemplateExpression(line: line, form: .negative(inner))
        } else if take(.symbol(.add)) {
            let inner = try nested { try $0.signed(allowsFilters: false) }
            value = TemplateExpression(line: line, form: .positive(inner))
        } else {
            return try chain(try primary(), allowsFilters: allowsFilters)
        }
        return allowsFilters ? try chain(value, allowsFilters: true) : value
    }

    private mutating func primary() throws -> TemplateExpression {
        let token = peek
        switch token.kind {
        case .name(let name):
            return try named(name, line: token.line)
        case .string:
            return literal(.text(TemplateText(bytes: adjacentStrings())), line: token.line)
        case .integer(let value):
            next()
            return literal(.integer(value), line: token.line)
        case .float(let value):
            next()
            return literal(.float(value), line: token.line)
        case .symbol(.leftParenthesis):
            next()
            let value = try nested { try $0.tuple(allowsEmpty: true) }
            try expect(.symbol(.rightParenthesis), "\")\"")
            return value
        case .symbol(.leftBracket):
            next()
            let items = try items(until: .rightBracket) { try $0.expression() }
            return TemplateExpression(line: token.line, form: .list(items))
        case .symbol(.leftBrace):
            next()
            let pairs = try items(until: .rightBrace) { parser in
                let key = try parser.expression()
                try parser.expect(.symbol(.colon), "\":\"")
                return (key, try parser.expression())
            }
            return TemplateExpression(
                line: token.line, form: .mapping(keys: pairs.map(\.0), values: pairs.map(\.1)))
        default:
            throw unexpected("an expression")
        }
    }

    /// The argument of a test without parentheses.
    mutating func testArgument() throws -> TemplateExpression {
        try chain(try primary(), allowsFilters: false)
    }

    private func literal(_ value: TemplateLiteral, line: Int) -> TemplateExpression {
        TemplateExpression(line: line, form: .literal(value))
    }

    /// Adjacent string literals are one.
    private mutating func adjacentStrings() -> [UInt8] {
        var bytes: [UInt8] = []
        while case .string(let part) = peek.kind {
            bytes += part
            next()
        }
        return bytes
    }

    /// A constant, a variable or the name of a function.
    private mutating func named(_ name: String, line: Int) throws -> TemplateExpression {
        if TemplateVocabulary.reservedWords.contains(name) { throw unexpected("an expression") }
        next()
        switch name {
        case "true", "True": return literal(.bool(true), line: line)
        case "false", "False": return literal(.bool(false), line: line)
        case "none", "None": return literal(.none, line: line)
        default: break
        }
        note(name)
        return TemplateExpression(line: line, form: .name(name))
    }

    /// Comma-separated items up to `end`, which is taken; a comma may follow the last one.
    private mutating func items<Item>(
        until end: TemplateToken.Symbol, parse: (inout TemplateParser) throws -> Item
    ) throws -> [Item] {
        var items: [Item] = []
        while !take(.symbol(end)) {
            if !items.isEmpty {
                try expect(.symbol(.comma), "\",\" or \"\(end.rawValue)\"")
                if take(.symbol(end)) { break }
            }
            items.append(try parse(&self))
        }
        return items
    }

    /// `(a, b, c=d, *e, **f)`, in the order that Jinja2 asks for: `*` and `**` once each, after `*` no
    /// further argument without a name, after `**` none at all.
    mutating func arguments() throws -> TemplateArguments {
        var result = TemplateArguments()
        try expect(.symbol(.leftParenthesis), "\"(\"")
        _ = try items(until: .rightParenthesis) { parser in
            if try parser.takeSpread(&result.spread) { return }
            if let keyword = parser.peekName, parser.lookahead.kind == .symbol(.assign) {
                parser.next()
                parser.next()
                result.keywords.append((keyword, try parser.expression()))
            } else if result.keywords.isEmpty, result.spread == nil {
                result.positional.append(try parser.expression())
            } else {
                throw parser.unexpected("an argument with a name")
            }
        }
        return result
    }

    /// Takes `*value` or `**value`. Its own function, so that the frames of nested calls stay small.
    private mutating func takeSpread(_ spread: inout TemplateSpread?) throws -> Bool {
        guard spread?.entries == nil else { throw unexpected("\")\" after **") }
        if take(.symbol(.power)) {
            spread = .of(items: spread?.items, entries: try expression())
        } else if spread == nil, take(.symbol(.multiply)) {
            spread = .of(items: try expression(), entries: nil)
        } else {
            return false
        }
        return true
    }

    /// `value` with the subscripts, and where allowed the filters and tests, that follow it.
    mutating func chain(
        _ value: TemplateExpression, allowsFilters: Bool
    ) throws -> TemplateExpression {
        var links: [TemplateExpression.Link] = []
        while let link = try subscriptLink() { links.append(link) }
        while allowsFilters, let link = try filterLink() { links.append(link) }
        return links.isEmpty
            ? value : TemplateExpression(line: value.line, form: .chain(value, links))
    }
}
