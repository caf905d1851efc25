extension Refusal {
    /// What is wrong and what to do about it: the compiler's error at the user's place.
    var explained: String {
        switch reason {
        case .wrongKind, .genericType, .condition, .emptyEnum, .noDeclaration, .localType,
            .hidden, .tooDeep, .argumentNotLiteral:
            ofDeclaration
        case .noType, .destructured, .tuple, .function, .twiceOptional, .actorState:
            ofProperty
        case .reservedName, .ownMember, .hidesModule, .hidesType: ofName
        case .twoGuides, .guideOnComputed, .guideOnLazy, .guideOnStatic, .guideOnConstant,
            .guideOnID, .strayGuide, .longPattern:
            ofGuide
        case .duplicateCase, .typeLabel, .sameLabels: ofCase
        case .unreadMessage, .longMessage, .unknownRequest, .unknownMacro: ofWire
        }
    }

    private var ofDeclaration: String {
        switch reason {
        case .wrongKind(let keyword):
            "@Generable cannot be on a declaration with '\(keyword)'; put it on a struct, an enum "
                + "or an actor"
        case .genericType(let name):
            "@Generable cannot be on the generic type '\(name)', which has no single schema; "
                + "declare a type for each use"
        case .condition:
            "@Generable does not know which side of '#if' holds; put '#if' around the whole type, "
                + "or the members that depend on it into an extension"
        case .emptyEnum(let name):
            "@Generable needs a value to generate; give the enum '\(name)' a case"
        case .noDeclaration: "@Generable found no declaration that it can read"
        case .localType(let name):
            "@Generable needs an extension, and types inside of functions have none; declare "
                + "'\(name)' outside of the function"
        case .hidden(let name):
            "@Generable adds an extension to the file, which does not see '\(name)'; write "
                + "fileprivate in place of private"
        case .tooDeep:
            "@Generable does not read strings inside the interpolations of \(MacroLimits.textDepth)"
                + " strings; name a part of them as a constant"
        case .argumentNotLiteral(let label):
            "@Generable has to know '\(label)' when it is expanded; write true or false"
        default: ""
        }
    }

    private var ofProperty: String {
        switch reason {
        case .noType(let property):
            "@Generable does not see inferred types; write '\(property): Type'"
        case .destructured:
            "@Generable needs a name for each property; declare them one by one"
        case .tuple(let what):
            "a tuple cannot be generated; declare a @Generable struct for \(what)"
        case .function(let what):
            "a function cannot be generated; \(what) can be a method, a computed property or a "
                + "constant with a value"
        case .twiceOptional(let what):
            "a missing value is nil, and nothing tells two kinds of nil apart; make \(what) "
                + "optional once"
        case .actorState(let property):
            "a @Generable actor has constants only, because its content is read from anywhere; "
                + "write 'let \(property)', or use a struct"
        default: ""
        }
    }

    private var ofName: String {
        switch reason {
        case .reservedName(let name):
            "@Generable adds a member '\(name)'; give this one another name"
        case .ownMember(let name):
            "@Generable adds '\(name)' itself; give this one another name or label, or remove "
                + "@Generable and conform to Generable by hand"
        case .hidesModule(let name):
            "what @Generable adds names the module '\(name)', which this name hides; choose "
                + "another one"
        case .hidesType(let name):
            "inside of this declaration '\(name)' is a member and hides the type of that name; give "
                + "the member another name"
        default: ""
        }
    }

    private var ofGuide: String {
        switch reason {
        case .twoGuides(let property):
            "'\(property)' has two guides; write one @Guide that lists all of them"
        case .guideOnComputed(let property):
            "'\(property)' is computed, so nothing is generated for it; remove @Guide"
        case .guideOnLazy(let property):
            "'\(property)' is lazy, so nothing is generated for it; remove @Guide or 'lazy'"
        case .guideOnStatic(let property):
            "'\(property)' belongs to the type, so nothing is generated for it; remove @Guide"
        case .guideOnConstant(let property):
            "'\(property)' has its value already, so nothing is generated for it; remove @Guide, or "
                + "write 'var' to make this value a default"
        case .guideOnID(let property):
            "'\(property)' is the identity of generated content, and no model writes it; remove "
                + "@Guide"
        case .strayGuide: "@Guide belongs on a stored property; remove it here"
        case .longPattern:
            "a pattern in a guide stands on one line, since the space of a longer literal counts "
                + "for nothing"
        default: ""
        }
    }

    private var ofCase: String {
        switch reason {
        case .duplicateCase(let name):
            "two cases are called '\(name)' and would be one in JSON; give one another name"
        case .typeLabel(let name):
            "'type' names the case in JSON; give this value of '\(name)' another label"
        case .sameLabels(let name, let key):
            "two values of '\(name)' would be '\(key)' in JSON; give each its own label"
        default: ""
        }
    }

    private var ofWire: String {
        switch reason {
        case .unreadMessage:
            "SkeinMacros cannot read the compiler's message; this version is tested with Swift 6.3"
        case .longMessage:
            "the declaration and what is around it take more than \(MacroLimits.messageBytes) bytes "
                + "as JSON, which SkeinMacros does not read; declare a part of it elsewhere"
        case .unknownRequest(let name):
            "SkeinMacros does not know the compiler's request '\(name)'; this version is tested "
                + "with Swift 6.3"
        case .unknownMacro(let name): "SkeinMacros has no macro '\(name)'"
        default: ""
        }
    }
}
