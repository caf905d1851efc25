// Names that mean something else inside of an expansion, or that an expansion declares itself.
extension GenerableCheck {
    mutating func judgeNames() {
        judgeModules()
        judgeMembers()
        judgeTypeNames()
    }

    private var isRecord: Bool { declaration.keyword != "enum" }

    // MARK: Modules

    /// An expansion names its types by their modules, which a member or a type hides.
    private mutating func judgeModules() {
        let named = declaration.properties.map { ($0.name, $0.offset) }
        let cases = declaration.cases.map { ($0.name, $0.offset) }
        let members = declaration.members.map { ($0.name, $0.offset) }
        for (name, offset) in named + cases + members where name.plain == Library.module {
            refuse(.hidesModule(name: name.plain), at: offset)
        }
        // Only the partial type of a record names protocols of Swift, where types alone hide it.
        let modules = isRecord ? [Library.module, "Swift"] : [Library.module]
        for member in declaration.members
        where member.isType && member.name.plain == "Swift" && isRecord {
            refuse(.hidesModule(name: "Swift"), at: member.offset)
        }
        for around in [declaration] + surroundings
        where around.keyword != "extension" && modules.contains(around.name.plain) {
            refuse(.hidesModule(name: around.name.plain), at: declaration.nameOffset)
        }
    }

    // MARK: Members that an expansion adds

    private var addedToValues: Set<String> {
        isRecord
            ? ["generatedContent", "asPartiallyGenerated", "PartiallyGenerated"]
            : ["generatedContent"]
    }

    private var addedToType: Set<String> {
        isRecord ? ["generationSchema", "PartiallyGenerated"] : ["generationSchema"]
    }

    private mutating func judgeMembers() {
        for property in declaration.properties {
            let name = property.name.plain
            switch property.storage {
            case .stored where addedToValues.contains(name),
                .lazy where addedToValues.contains(name):
                refuse(.reservedName(name: name), at: property.offset)
            case .computed where addedToValues.contains(name),
                .ofType where addedToType.contains(name):
                refuse(.ownMember(name: name), at: property.offset)
            default: break
            }
        }
        for element in declaration.cases where addedToType.contains(element.name.plain) {
            refuse(.reservedName(name: element.name.plain), at: element.offset)
        }
        for member in declaration.members {
            if let name = nameOfAdded(member) { refuse(.ownMember(name: name), at: member.offset) }
        }
    }

    /// What a function, an initialiser or a type is called if an expansion adds the same.
    private func nameOfAdded(_ member: Declaration.Member) -> String? {
        let name = member.name.plain
        switch member.keyword {
        case "func":
            let added = member.isOfType ? addedToType : addedToValues
            return member.parameters.isEmpty && added.contains(name) ? "\(name)()" : nil
        case "init":
            guard member.parameters.count == 1, let only = member.parameters.first,
                only.label == nil, !only.type.isOptional,
                Self.namesOfContent.contains(only.type.wrapped)
            else { return nil }
            return "init(_:)"
        default: return name == "PartiallyGenerated" ? name : nil
        }
    }

    private static let namesOfContent: Set<String> = [
        "GeneratedContent", "SkeinSessions.GeneratedContent", "Skein.GeneratedContent",
        "FoundationModels.GeneratedContent",
    ]

    // MARK: Types

    /// A schema names the types of values in expressions, where a member of the same name hides
    /// them: `var ID: ID`, `case Cat(Cat)`.
    private mutating func judgeTypeNames() {
        var used: Set<String> = []
        for property in declaration.properties where property.isExpanded {
            used.formUnion(property.type?.names ?? [])
        }
        for value in declaration.cases.flatMap(\.values) { used.formUnion(value.type.names) }
        for property in declaration.properties where used.contains(property.name.plain) {
            refuse(.hidesType(name: property.name.plain), at: property.offset)
        }
        for element in declaration.cases where used.contains(element.name.plain) {
            refuse(.hidesType(name: element.name.plain), at: element.offset)
        }
    }
}

extension Declaration.Property {
    /// Stored, and not a constant that has its value.
    fileprivate var isExpanded: Bool { storage == .stored && !(isConstant && hasValue) }
}
