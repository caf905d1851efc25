/// What follows a value: `.name`, `.method()`, `[item]`, `[from:to:step]`, `|filter`, `is test`.
extension TemplateParser {
    mutating func subscriptLink() throws -> TemplateExpression.Link? {
        let line = line
        if take(.symbol(.dot)) {
            return .init(line: line, form: try attribute())
        }
        if take(.symbol(.leftBracket)) {
            let form = try nested { try $0.subscripted() }
            if peek.kind == .symbol(.comma) {
                throw unsupported("a subscript with several items", line: self.line)
            }
            try expect(.symbol(.rightBracket), "\"]\"")
            return .init(line: line, form: form)
        }
        if peek.kind == .symbol(.leftParenthesis) {
            return .init(line: line, form: .call(try arguments()))
        }
        return nil
    }

    private mutating func attribute() throws -> TemplateExpression.LinkForm {
        if case .integer(let position) = peek.kind {
            let line = next().line
            return .item(TemplateExpression(line: line, form: .literal(.integer(position))))
        }
        let name = try expectName("the name of an attribute")
        guard peek.kind == .symbol(.leftParenthesis) else { return .attribute(name) }
        return .method(name, try arguments())
    }

    private mutating func subscripted() throws -> TemplateExpression.LinkForm {
        var parts: [TemplateExpression?] = [nil]
        while peek.kind != .symbol(.rightBracket), peek.kind != .symbol(.comma) {
            if parts.count < 3, take(.symbol(.colon)) {
                parts.append(nil)
            } else if parts[parts.count - 1] == nil {
                parts[parts.count - 1] = try expression()
            } else {
                throw unexpected("\"]\"")
            }
        }
        if parts.count == 1 {
            guard let item = parts[0] else { throw unexpected("an expression") }
            return .item(item)
        }
        return .slice(parts[0], parts[1], parts.count == 3 ? parts[2] : nil)
    }

    mutating func filterLink() throws -> TemplateExpression.Link? {
        let line = line
        if take(.symbol(.pipe)) {
            var link = try namedFilter()
            link.line = line
            return link
        }
        if peek.kind == .symbol(.leftParenthesis) {
            return .init(line: line, form: .call(try arguments()))
        }
        if takeName("is") {
            let isNegated = takeName("not")
            let name = try dottedName("the name of a test")
            if !TemplateVocabulary.tests.contains(name) {
                noteUnknown("the test \"\(TemplateError.excerpt(name))\"", line: line)
            }
            return .init(
                line: line, form: .test(name, try testArguments(), isNegated: isNegated))
        }
        return nil
    }

    /// `name(arguments)` or `name`
    mutating func namedFilter() throws -> TemplateExpression.Link {
        let line = line
        let name = try dottedName("the name of a filter")
        if !TemplateVocabulary.filters.contains(name) {
            noteUnknown("the filter \"\(TemplateError.excerpt(name))\"", line: line)
        }
        let isCall = peek.kind == .symbol(.leftParenthesis)
        return .init(
            line: line, form: .filter(name, isCall ? try arguments() : TemplateArguments()))
    }

    private mutating func dottedName(_ expected: String) throws -> String {
        var name = try expectName(expected)
        while take(.symbol(.dot)) { name += "." + (try expectName(expected)) }
        return name
    }

    /// A test takes its arguments in parentheses, or one without them: `is divisibleby 3`.
    private mutating func testArguments() throws -> TemplateArguments {
        switch peek.kind {
        case .symbol(.leftParenthesis):
            return try arguments()
        case .name("else"), .name("or"), .name("and"):
            return TemplateArguments()
        case .name("is"):
            throw syntax(.chainedTests)
        case .name, .string, .integer, .float, .symbol(.leftBracket), .symbol(.leftBrace):
            return TemplateArguments(positional: [try nested { try $0.testArgument() }])
        default:
            return TemplateArguments()
        }
    }
}
