/// Asks whether a declaration can be generated, and tells everything that stands in the way.
struct GenerableCheck {
    /// All refusals of a declaration, in the order of its source.
    struct Refusals: Error {
        var list: [Refusal]
    }

    let declaration: Declaration
    /// What stands around it, the nearest first.
    let surroundings: [Declaration]
    /// Whether all of that is of a form that the reader knows.
    private let knowsSurroundings: Bool
    private var refusals: [Refusal] = []

    /// - Parameters:
    ///   - declaration: what is written.
    ///   - attribute: `@Generable(...)` as it is written.
    ///   - attributeOffset: where it stands, in bytes from the declaration's beginning.
    ///   - surroundings: the declarations around it, the nearest first.
    /// - Returns: what the expansions are written from.
    /// - Throws: what has to be mended first.
    static func type(
        of declaration: Declaration, attribute: String, attributeOffset: Int,
        surroundings: [String]
    ) throws(Refusals) -> GenerableType {
        // `judgeSurroundings` refuses what is of no known form.
        let read = surroundings.compactMap { try? DeclarationReader.read($0) }
        var check = GenerableCheck(
            declaration: declaration, surroundings: read,
            knowsSurroundings: read.count == surroundings.count)
        let type = check.type(attribute: attribute, at: attributeOffset)
        guard check.refusals.isEmpty else {
            let sorted = check.refusals.sorted { $0.offset < $1.offset }
            throw Refusals(list: Array(sorted.prefix(MacroLimits.refusals)))
        }
        return type
    }

    private init(
        declaration: Declaration, surroundings: [Declaration], knowsSurroundings: Bool
    ) {
        self.declaration = declaration
        self.surroundings = surroundings
        self.knowsSurroundings = knowsSurroundings
    }

    mutating func refuse(_ reason: Refusal.Reason, at offset: Int) {
        refusals.append(Refusal(reason, at: offset))
    }

    private mutating func type(attribute: String, at offset: Int) -> GenerableType {
        var type = GenerableType(
            name: declaration.name, access: access,
            isActor: declaration.keyword == "actor",
            sendability: declaration.sendability, writesNil: false, shape: .record([]))
        guard ["struct", "enum", "actor"].contains(declaration.keyword) else {
            refuse(.wrongKind(keyword: declaration.keyword), at: declaration.nameOffset)
            return type
        }
        judgeSurroundings()
        judgeNames()
        if let offset = declaration.genericOffset {
            refuse(.genericType(name: declaration.name.plain), at: offset)
        }
        if let offset = declaration.conditionOffset { refuse(.condition, at: offset) }
        for offset in declaration.strayGuides { refuse(.strayGuide, at: offset) }
        readArguments(of: attribute, at: offset, into: &type)
        let properties = checkedProperties(isActor: type.isActor)
        type.shape = declaration.keyword == "enum" ? enumShape() : .record(properties)
        return type
    }

    /// A type in an extension that is public is public, too.
    private var access: String {
        switch declaration.access {
        case "public", "open": return "public "
        case "package": return "package "
        case "":
            guard let around = surroundings.first, around.keyword == "extension",
                around.access == "public" || around.access == "package"
            else { return "" }
            return around.access + " "
        default: return ""
        }
    }

    /// The compiler writes the extension at the end of the file, where it has to find the type.
    private mutating func judgeSurroundings() {
        let kinds = ["struct", "enum", "class", "actor", "protocol", "extension"]
        // What cannot be read is a closure or the like.
        if !knowsSurroundings || surroundings.contains(where: { !kinds.contains($0.keyword) }) {
            refuse(.localType(name: declaration.name.plain), at: declaration.nameOffset)
        } else if let hidden = ([declaration] + surroundings).dropLast().first(where: {
            $0.access == "private"
        }) {
            refuse(.hidden(name: hidden.name.plain), at: declaration.nameOffset)
        }
    }

    private mutating func readArguments(
        of attribute: String, at offset: Int, into type: inout GenerableType
    ) {
        var cursor: TokenCursor
        do throws(Refusal) {
            cursor = try TokenCursor(attribute)
        } catch {
            return refuse(error.reason, at: offset &+ error.offset)
        }
        for argument in cursor.attributes().first?.arguments ?? [] {
            switch argument.label {
            case "description": type.description = argument.source
            case let label? where label.hasPrefix("representNil"):
                type.writesNil = argument.source == "true"
                if !["true", "false"].contains(argument.source) {
                    refuse(.argumentNotLiteral(label: label), at: offset &+ argument.offset)
                }
            default: break
            }
        }
    }
}

// MARK: Properties

extension GenerableCheck {
    /// Tells what is wrong with the properties, and gives those that are generated.
    private mutating func checkedProperties(isActor: Bool) -> [GeneratedProperty] {
        var generated: [GeneratedProperty] = []
        for property in declaration.properties {
            let guides = property.attributes.filter { $0.name == "Guide" }
            if guides.count > 1 {
                refuse(.twoGuides(property: property.name.plain), at: guides[1].offset)
            }
            if let reason = reasonAgainstGuide(of: property) {
                if let guide = guides.first { refuse(reason, at: guide.offset) }
                continue
            }
            guard !declaration.cases.isEmpty || declaration.keyword != "enum" else { continue }
            if let property = generatedProperty(property, guide: guides.first, isActor: isActor) {
                generated.append(property)
            }
        }
        return generated
    }

    /// Why a property is not generated, if it is not.
    private func reasonAgainstGuide(of property: Declaration.Property) -> Refusal.Reason? {
        let name = property.name.plain
        switch property.storage {
        case .computed: return .guideOnComputed(property: name)
        case .lazy: return .guideOnLazy(property: name)
        case .ofType: return .guideOnStatic(property: name)
        case .stored:
            return property.isConstant && property.hasValue ? .guideOnConstant(property: name) : nil
        }
    }

    private mutating func generatedProperty(
        _ property: Declaration.Property, guide: Declaration.Attribute?, isActor: Bool
    ) -> GeneratedProperty? {
        let name = property.name
        guard !name.written.hasPrefix("(") else {
            refuse(.destructured, at: property.offset)
            return nil
        }
        if isActor, !property.isConstant {
            refuse(.actorState(property: name.plain), at: property.offset)
        }
        guard let type = property.type else {
            refuse(.noType(property: name.written), at: property.offset)
            return nil
        }
        judge(type, what: "'\(name.plain)'", at: property.offset)
        var generated = GeneratedProperty(
            name: name, key: name.plain, type: type.wrapped, isOptional: type.isOptional,
            access: ["", "internal"].contains(property.access) ? "" : property.access + " ")
        if let guide, generated.isID { refuse(.guideOnID(property: name.plain), at: guide.offset) }
        for argument in guide?.arguments ?? [] {
            if argument.label == "description" {
                generated.description = argument.source
            } else {
                generated.guides.append(argument.guide)
            }
            if let offset = argument.longPattern { refuse(.longPattern, at: offset) }
        }
        return generated
    }

    private mutating func judge(_ type: TypeText, what: String, at offset: Int) {
        switch type.form {
        case .tuple: refuse(.tuple(what: what), at: offset)
        case .function: refuse(.function(what: what), at: offset)
        case .named:
            if type.optionals > 1 { refuse(.twiceOptional(what: what), at: offset) }
        }
    }
}

// MARK: Cases

extension GenerableCheck {
    private mutating func enumShape() -> GenerableType.Shape {
        if declaration.cases.isEmpty, declaration.conditionOffset == nil {
            refuse(.emptyEnum(name: declaration.name.plain), at: declaration.nameOffset)
        }
        var names: Set<String> = []
        for element in declaration.cases where !names.insert(element.name.plain).inserted {
            refuse(.duplicateCase(name: element.name.plain), at: element.offset)
        }
        guard declaration.cases.contains(where: { !$0.values.isEmpty }) else {
            let isText = ["String", "Swift.String"].contains(declaration.inherited.first ?? "")
            return .choice(
                declaration.cases.map { element in
                    let raw = isText ? element.rawValue : nil
                    return Choice(name: element.name, literal: raw ?? element.name.literal)
                })
        }
        return .union(
            declaration.cases.map {
                UnionCase(name: $0.name, values: values(of: $0))
            })
    }

    /// The values of a case with their keys: the label, or `value`, `value1`, ... in the order of
    /// those without one.
    private mutating func values(of element: Declaration.Case) -> [UnionValue] {
        var unlabelled = 0
        var keys: Set<String> = []
        return element.values.map { value in
            var key = value.label?.plain ?? "value"
            if value.label == nil {
                if unlabelled > 0 { key += "\(unlabelled)" }
                unlabelled += 1
            }
            let name = element.name.plain
            if key == "type" {
                refuse(.typeLabel(name: name), at: value.offset)
            } else if !keys.insert(key).inserted {
                refuse(.sameLabels(case: name, key: key), at: value.offset)
            }
            judge(value.type, what: "'\(key)' of '\(name)'", at: value.offset)
            return UnionValue(
                label: value.label,
                property: GeneratedProperty(
                    name: Name(key), key: key, type: value.type.wrapped,
                    isOptional: value.type.isOptional))
        }
    }
}
