/// Macros, and blocks that are handed to a macro or a filter.
extension TemplateParser {
    mutating func macro(_ opening: Opening) throws -> TemplateMacroSyntax {
        let name = try assignableName()
        guard peek.kind == .symbol(.leftParenthesis) else { throw unexpected("\"(\"") }
        var macro = try signature(name)
        (macro.body, macro.accepted) = try macroBody(opening, until: "endmacro")
        return macro
    }

    /// `(a, b=1)`
    private mutating func signature(_ name: String) throws -> TemplateMacroSyntax {
        var macro = TemplateMacroSyntax(name: name, parameters: [], defaults: [])
        try expect(.symbol(.leftParenthesis), "\"(\"")
        while !take(.symbol(.rightParenthesis)) {
            if !macro.parameters.isEmpty { try expect(.symbol(.comma), "\",\" or \")\"") }
            macro.parameters.append(try assignableName())
            if take(.symbol(.assign)) {
                macro.defaults.append(try expression())
            } else if !macro.defaults.isEmpty {
                throw unexpected("\"=\" and a default")
            }
        }
        return macro
    }

    mutating func callBlock(_ opening: Opening) throws -> TemplateStatement {
        var caller = TemplateMacroSyntax(name: "caller", parameters: [], defaults: [])
        if peek.kind == .symbol(.leftParenthesis) { caller = try signature("caller") }
        let line = line
        let call = try expression()
        guard case .chain(_, let links) = call.form, let last = links.last else {
            throw TemplateError.syntax(
                .unexpectedToken(found: "no call", expected: "a call"), line: line,
                template: templateName)
        }
        switch last.form {
        case .call, .method: break
        default: throw unexpected("a call")
        }
        (caller.body, caller.accepted) = try macroBody(opening, until: "endcall")
        return .callBlock(call, caller: caller)
    }

    mutating func filterBlock(_ opening: Opening) throws -> TemplateStatement {
        var links = [try namedFilter()]
        while peek.kind == .symbol(.pipe), let link = try filterLink() { links.append(link) }
        return .filtered(links, try outsideLoops { try $0.block(opening, until: ["endfilter"]) })
    }

    mutating func with(_ opening: Opening) throws -> TemplateStatement {
        var assignments: [(target: TemplateTarget, value: TemplateExpression)] = []
        while peek.kind != .tagEnd {
            if !assignments.isEmpty { try expect(.symbol(.comma), "\",\"") }
            // A list of names would take the comma before the next assignment.
            let target = TemplateTarget.name(try assignableName())
            try expect(.symbol(.assign), "\"=\"")
            assignments.append((target, try expression()))
        }
        return .with(assignments, try block(opening, until: ["endwith"]).statements)
    }
}
