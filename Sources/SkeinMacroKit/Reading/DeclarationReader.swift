/// Reads the one declaration that the compiler hands over.
struct DeclarationReader {
    private var cursor: TokenCursor
    private var declaration = Declaration()

    /// - Throws: `Refusal` for texts nested too deeply, or if there is no declaration.
    static func read(_ source: String) throws(Refusal) -> Declaration {
        var reader = DeclarationReader(cursor: try TokenCursor(source))
        try reader.head()
        var body = reader.cursor.inside()
        while body.next != nil { reader.member(&body) }
        return reader.declaration
    }

    private init(cursor: TokenCursor) { self.cursor = cursor }

    /// Everything before the body.
    private mutating func head() throws(Refusal) {
        _ = cursor.attributes()
        declaration.access = Self.access(cursor.modifiers())
        guard let keyword = cursor.takeWord() else { throw Refusal(.noDeclaration, at: 0) }
        declaration.keyword = keyword.text
        declaration.nameOffset = cursor.offset
        let isNameless = ["init", "deinit", "subscript", "func"].contains(keyword.text)
        guard let name = cursor.takeWord() ?? (isNameless ? keyword : nil) else {
            throw Refusal(.noDeclaration, at: keyword.range.lowerBound)
        }
        declaration.name = Name(name.text)
        // An extension names a type of any form.
        while cursor.take(mark: ".") { _ = cursor.takeWord() }
        if cursor.isMark("<") {
            declaration.genericOffset = cursor.offset
            cursor.stepOverAngle()
        }
        if cursor.take(mark: ":") {
            repeat {
                let type = cursor.type(insteadOfSelf: declaration.name)
                declaration.inherited.append(type.wrapped)
            } while cursor.take(mark: ",")
        }
        while cursor.next != nil, !cursor.isMark("{") { cursor.step() }
    }

    private static func access(_ modifiers: [String]) -> String {
        modifiers.first { TokenCursor.accessWords.contains($0) } ?? ""
    }

    /// Reads one member, or steps over what is none.
    private mutating func member(_ body: inout TokenCursor) {
        if body.next?.text == "#" {
            condition(&body)
            return
        }
        let attributes = body.attributes()
        let modifiers = body.modifiers()
        guard let keyword = body.next else { return strayGuides(attributes) }
        switch keyword.text {
        case "var", "let":
            body.step()
            variables(&body, keyword.text == "let", modifiers, attributes)
        case "case":
            body.step()
            strayGuides(attributes)
            cases(&body)
        default:
            strayGuides(attributes)
            body.step()
            name(after: keyword, modifiers, body)
            Self.stepOverRest(of: keyword, &body)
        }
    }

    private mutating func strayGuides(_ attributes: [Declaration.Attribute]) {
        declaration.strayGuides += attributes.filter { $0.name == "Guide" }.map(\.offset)
    }

    /// `#if` and its kin, or a macro that stands alone.
    private mutating func condition(_ body: inout TokenCursor) {
        let offset = body.offset
        body.step()
        let word = body.takeWord()?.text
        if word == "if", declaration.conditionOffset == nil {
            declaration.conditionOffset = offset
        }
        if body.next?.startsLine == false { body.stepOverExpression() }
    }

    /// Notes what a function, an initialiser or a type is called, and its parameters.
    private mutating func name(after keyword: Token, _ modifiers: [String], _ body: TokenCursor) {
        guard keyword.kind == .word, Self.keywordsOfMembers.contains(keyword.text) else { return }
        var body = body
        let isInit = keyword.text == "init"
        let offset = isInit ? keyword.range.lowerBound : body.offset
        guard let word = isInit ? keyword : body.takeWord() else { return }
        var member = Declaration.Member(
            keyword: keyword.text, name: Name(word.text),
            isOfType: modifiers.contains("static") || modifiers.contains("class"), offset: offset)
        if !member.isType {
            if body.isMark("?") || body.isMark("!") { body.step() }
            if body.isMark("<") { body.stepOverAngle() }
            if body.isMark("(") {
                var inner = body.inside()
                while inner.next != nil { member.parameters.append(value(&inner)) }
            }
        }
        declaration.members.append(member)
    }

    private static let keywordsOfMembers: Set<String> = [
        "func", "init", "struct", "enum", "class", "actor", "protocol", "typealias",
    ]

    /// Steps over the rest of a function, a type, an alias ...
    private static func stepOverRest(of keyword: Token, _ body: inout TokenCursor) {
        guard keyword.kind == .word, keywordsWithBody.contains(keyword.text) else {
            if keyword.text == "typealias" { body.stepOverExpression() }
            return
        }
        while body.next != nil, !body.isMark(";") {
            let isBody = body.isMark("{")
            if body.isOpeningBracket { body.stepOverBracket() } else { body.step() }
            if isBody { return }
        }
    }

    private static let keywordsWithBody: Set<String> = [
        "func", "init", "deinit", "subscript", "struct", "enum", "class", "actor", "protocol",
        "extension", "operator", "precedencegroup",
    ]
}

// MARK: Properties

extension DeclarationReader {
    /// The names after `var` or `let`: `a: Int = 1, b, c: String`.
    private mutating func variables(
        _ body: inout TokenCursor, _ isConstant: Bool, _ modifiers: [String],
        _ attributes: [Declaration.Attribute]
    ) {
        let first = declaration.properties.count
        repeat {
            let offset = body.offset
            let start = body.place
            if body.isMark("(") { body.stepOverBracket() } else { _ = body.takeWord() }
            guard body.place > start else { break }
            let name = Name(body.source(start..<body.place))
            var property = Declaration.Property(
                name: name, type: nil, isConstant: isConstant, hasValue: false, storage: .stored,
                access: Self.access(modifiers), attributes: attributes, offset: offset)
            if body.take(mark: ":") {
                property.type = body.type(insteadOfSelf: declaration.name)
            }
            if body.take(mark: "=") {
                property.hasValue = true
                // Observers behind a value look like a trailing closure and are passed with it.
                body.stepOverExpression()
            }
            if body.isMark("{") {
                if !property.hasValue, !Self.areObservers(body.inside()) {
                    property.storage = .computed
                }
                body.stepOverBracket()
            }
            if modifiers.contains("lazy") { property.storage = .lazy }
            if modifiers.contains("static") || modifiers.contains("class") {
                property.storage = .ofType
            }
            declaration.properties.append(property)
        } while body.take(mark: ",")
        shareTypes(from: first)
    }

    private static func areObservers(_ accessors: TokenCursor) -> Bool {
        var accessors = accessors
        _ = accessors.attributes()
        return accessors.isWord("didSet") || accessors.isWord("willSet")
    }

    /// In `let a, b: Int` both are integers.
    private mutating func shareTypes(from first: Int) {
        var type: TypeText?
        for place in declaration.properties.indices.reversed() where place >= first {
            if let own = declaration.properties[place].type {
                type = own
            } else if declaration.properties[place].hasValue {
                type = nil
            } else {
                declaration.properties[place].type = type
            }
        }
    }
}

// MARK: Cases

extension DeclarationReader {
    /// The names after `case`: `a, b(Int, label: String), c = "raw"`.
    private mutating func cases(_ body: inout TokenCursor) {
        repeat {
            let offset = body.offset
            guard let word = body.takeWord() else { return }
            var element = Declaration.Case(
                name: Name(word.text), rawValue: nil, values: [], offset: offset)
            if body.isMark("(") {
                var inner = body.inside()
                while inner.next != nil { element.values.append(value(&inner)) }
                body.stepOverBracket()
            }
            if body.take(mark: "=") {
                let start = body.place
                body.stepOverExpression()
                element.rawValue = body.source(start..<body.place)
            }
            declaration.cases.append(element)
        } while body.take(mark: ",")
    }

    /// `label: Type = value`, `_ name: Type` or `Type`, and the comma behind it.
    private func value(_ inner: inout TokenCursor) -> Declaration.Value {
        let offset = inner.offset
        var label: Name?
        if let first = inner.next, first.kind == .word {
            let isPair = inner.peek(1)?.kind == .word && inner.isMark(":", at: 2)
            if isPair || inner.isMark(":", at: 1) {
                label = first.text == "_" ? nil : Name(first.text)
                for _ in 0..<(isPair ? 3 : 2) { inner.step() }
            }
        }
        let start = inner.place
        let type = inner.type(insteadOfSelf: declaration.name)
        if inner.take(mark: "=") { inner.stepOverExpression() }
        // Whatever else stands there, the cursor goes on.
        if !inner.take(mark: ","), inner.place == start || inner.next != nil { inner.step() }
        return Declaration.Value(label: label, type: type, offset: offset)
    }
}
