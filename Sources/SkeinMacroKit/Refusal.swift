/// What cannot be generated, and where it stands in the declaration.
struct Refusal: Error, Equatable {
    enum Reason: Equatable {
        // The declaration.
        case wrongKind(keyword: String)
        case genericType(name: String)
        case condition
        case emptyEnum(name: String)
        case noDeclaration
        case localType(name: String)
        case hidden(name: String)
        case tooDeep
        case argumentNotLiteral(label: String)
        // Its properties.
        case noType(property: String)
        case destructured
        case tuple(what: String)
        case function(what: String)
        case twiceOptional(what: String)
        case actorState(property: String)
        // Its names.
        case reservedName(name: String)
        case ownMember(name: String)
        case hidesModule(name: String)
        case hidesType(name: String)
        // Its guides.
        case twoGuides(property: String)
        case guideOnComputed(property: String)
        case guideOnLazy(property: String)
        case guideOnStatic(property: String)
        case guideOnConstant(property: String)
        case guideOnID(property: String)
        case strayGuide
        case longPattern
        // Its cases.
        case duplicateCase(name: String)
        case typeLabel(name: String)
        case sameLabels(case: String, key: String)
        // The wire.
        case unreadMessage
        case longMessage
        case unknownRequest(String)
        case unknownMacro(String)
    }

    var reason: Reason
    /// In bytes from the declaration's beginning.
    var offset: Int

    init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
