/// Builds statements from tokens, with the grammar of jinja2/parser.py (3.1.6).
struct TemplateParser {
    private let tokens: [TemplateToken]
    private var index = 0
    private var depth = 0
    private let name: String
    /// Loops around the current statement, in the same macro.
    private var loops = 0
    /// Which of the names that a macro may accept have been used since the macro began.
    private var specialNames: Set<String> = []
    /// `if` statements around the current one.
    private var branches = 0
    /// Filters and tests that do not exist. Jinja refuses a template for them, but in a branch only
    /// when the branch is taken.
    var unknownNames: [TemplateError] = []

    /// The statements of a whole template.
    static func statements(
        of tokens: [TemplateToken], name: String
    ) throws -> [TemplateStatement] {
        var parser = TemplateParser(tokens: tokens, name: name)
        let body = try parser.body(until: [], opening: nil)
        if let unknown = parser.unknownNames.first { throw unknown }
        return body.statements
    }

    private init(tokens: [TemplateToken], name: String) {
        self.tokens = tokens
        self.name = name
    }

    // MARK: - Statements

    /// The block that a body belongs to.
    struct Opening {
        var tag: String
        var line: Int
    }

    /// Statements up to a tag in `ends`, whose name is taken and returned. The name is empty at the
    /// end of the template, which only a body without an opening may reach.
    private mutating func body(
        until ends: Set<String>, opening: Opening?
    ) throws -> (statements: [TemplateStatement], end: String) {
        var statements: [TemplateStatement] = []
        while true {
            let token = next()
            switch token.kind {
            case .text(let bytes):
                statements.append(.text(TemplateText(bytes: bytes)))
            case .outputBegin:
                statements.append(.output(try tuple()))
                try expect(.outputEnd, "\"}}\"")
            case .tagBegin:
                let tag = try expectName("the name of a tag")
                if ends.contains(tag) { return (statements, tag) }
                statements.append(try nested { try $0.statement(tag, line: token.line) })
                try expect(.tagEnd, "\"%}\"")
            default:
                guard let opening else { return (statements, "") }
                throw TemplateError.syntax(
                    .unclosedBlock(tag: opening.tag), line: opening.line, template: name)
            }
        }
    }

    /// The rest of the opening tag, then a body.
    mutating func block(
        _ opening: Opening, until ends: Set<String>
    ) throws -> (statements: [TemplateStatement], end: String) {
        _ = take(.symbol(.colon))
        try expect(.tagEnd, "\"%}\"")
        return try body(until: ends, opening: opening)
    }

    /// The statement `tag`, without the closing bracket of its last tag.
    private mutating func statement(_ tag: String, line: Int) throws -> TemplateStatement {
        let opening = Opening(tag: tag, line: line)
        switch tag {
        case "if": return try choice(opening)
        case "for": return try loop(opening)
        case "set": return try assignment(opening)
        case "generation":
            return .generation(try outsideLoops { try $0.block(opening, until: ["endgeneration"]) })
        case "macro": return .macro(try macro(opening))
        case "call": return try callBlock(opening)
        case "filter": return try filterBlock(opening)
        case "with": return try with(opening)
        case "break", "continue":
            guard loops > 0 else {
                throw TemplateError.syntax(.unexpectedTag(tag), line: line, template: name)
            }
            return .interruption(isBreak: tag == "break")
        case "elif", "else", "endif", "endfor", "endset", "endgeneration", "endmacro", "endcall",
            "endfilter", "endwith", "endraw":
            throw TemplateError.syntax(.unexpectedTag(tag), line: line, template: name)
        default:
            throw unsupported("{% \(TemplateError.excerpt(tag)) %}", line: line)
        }
    }

    private mutating func choice(_ opening: Opening) throws -> TemplateStatement {
        var branches: [TemplateBranch] = []
        self.branches += 1
        defer { self.branches -= 1 }
        while true {
            let test = try tuple(allowsConditional: false)
            let body = try block(opening, until: ["elif", "else", "endif"])
            branches.append(TemplateBranch(test: test, body: body.statements))
            if body.end == "elif" { continue }
            let otherwise = body.end == "else" ? try block(opening, until: ["endif"]) : nil
            return .choice(branches, otherwise: otherwise?.statements ?? [])
        }
    }

    private mutating func loop(_ opening: Opening) throws -> TemplateStatement {
        let target = try target(allowsAttribute: false)
        guard takeName("in") else { throw unexpected("\"in\"") }
        let items = try tuple(allowsConditional: false)
        let filter = takeName("if") ? try expression() : nil
        let isRecursive = takeName("recursive")
        loops += 1
        let body = try block(opening, until: ["else", "endfor"])
        loops -= 1
        let otherwise = body.end == "else" ? try block(opening, until: ["endfor"]) : nil
        return .loop(
            TemplateLoopSyntax(
                target: target, items: items, filter: filter, body: body.statements,
                otherwise: otherwise?.statements ?? [], isRecursive: isRecursive))
    }

    private mutating func assignment(_ opening: Opening) throws -> TemplateStatement {
        let target = try target(allowsAttribute: true)
        if take(.symbol(.assign)) { return .assignment(target, try tuple()) }
        var filters: [TemplateExpression.Link] = []
        while peek.kind == .symbol(.pipe), let link = try filterLink() { filters.append(link) }
        let body = try block(opening, until: ["endset"])
        return .capture(target, line: opening.line, filters: filters, body.statements)
    }

    mutating func target(allowsAttribute: Bool) throws -> TemplateTarget {
        if take(.symbol(.leftParenthesis)) {
            let inner = try target(allowsAttribute: false)
            try expect(.symbol(.rightParenthesis), "\")\"")
            return inner
        }
        let first = try assignableName()
        if allowsAttribute, take(.symbol(.dot)) {
            return .attribute(namespace: first, try expectName("the name of an attribute"))
        }
        guard peek.kind == .symbol(.comma) else { return .name(first) }
        var names = [first]
        while take(.symbol(.comma)), peekName != nil, peekName != "in" {
            names.append(try assignableName())
        }
        return .names(names)
    }

    mutating func assignableName() throws -> String {
        let line = line
        let target = try expectName("the name of a variable")
        let constants: Set<String> = ["true", "false", "none", "True", "False", "None"]
        if constants.contains(target) || TemplateVocabulary.reservedWords.contains(target) {
            throw TemplateError.syntax(.cannotAssign(to: target), line: line, template: name)
        }
        // Jinja2 forbids this inside loops, the only place where it could be of use.
        if target == "loop" { throw unsupported("assignment to \"loop\"", line: line) }
        return target
    }

    /// Parses what becomes a function of its own, so that no loop outside can be left from it.
    mutating func outsideLoops(
        _ parse: (inout TemplateParser) throws -> (statements: [TemplateStatement], end: String)
    ) throws -> [TemplateStatement] {
        let outer = loops
        loops = 0
        defer { loops = outer }
        return try parse(&self).statements
    }

    /// The body of a macro, and which special names it uses.
    mutating func macroBody(
        _ opening: Opening, until end: String
    ) throws -> (statements: [TemplateStatement], accepted: Set<String>) {
        let outer = specialNames
        specialNames = []
        defer { specialNames.formUnion(outer) }
        let statements = try outsideLoops { try $0.block(opening, until: [end]) }
        return (statements, specialNames)
    }

    mutating func note(_ name: String) {
        if name == "varargs" || name == "kwargs" || name == "caller" { specialNames.insert(name) }
    }

    // MARK: - Tokens

    var peek: TemplateToken { tokens[index] }
    var line: Int { tokens[index].line }

    /// The current token's name; nil for another token.
    var peekName: String? {
        if case .name(let name) = tokens[index].kind { return name }
        return nil
    }

    /// The token after the current one.
    var lookahead: TemplateToken { tokens[min(index + 1, tokens.count - 1)] }

    /// Takes a token. The last one, `.end`, can be taken any number of times.
    @discardableResult
    mutating func next() -> TemplateToken {
        let token = tokens[index]
        if index < tokens.count - 1 { index += 1 }
        return token
    }

    mutating func take(_ kind: TemplateToken.Kind) -> Bool {
        guard tokens[index].kind == kind else { return false }
        next()
        return true
    }

    mutating func takeName(_ name: String) -> Bool { take(.name(name)) }

    mutating func expect(_ kind: TemplateToken.Kind, _ expected: String) throws {
        guard take(kind) else { throw unexpected(expected) }
    }

    mutating func expectName(_ expected: String) throws -> String {
        guard let name = peekName else { throw unexpected(expected) }
        next()
        return name
    }

    // MARK: - Errors and limits

    func unexpected(_ expected: String) -> TemplateError {
        .syntax(
            .unexpectedToken(found: peek.described, expected: expected), line: line, template: name)
    }

    var templateName: String { name }

    func syntax(_ fault: TemplateError.SyntaxFault) -> TemplateError {
        .syntax(fault, line: line, template: name)
    }

    mutating func noteUnknown(_ construct: String, line: Int) {
        if branches == 0 { unknownNames.append(unsupported(construct, line: line)) }
    }

    func unsupported(_ construct: String, line: Int) -> TemplateError {
        .unsupported(construct: construct, line: line, template: name)
    }

    /// Parses something nested: all recursion comes through here.
    mutating func nested<Node>(_ parse: (inout TemplateParser) throws -> Node) throws -> Node {
        guard depth < TemplateLimits.nesting else {
            throw TemplateError.limit(
                .nesting(TemplateLimits.nesting), line: line, template: name)
        }
        depth += 1
        defer { depth -= 1 }
        return try parse(&self)
    }
}
