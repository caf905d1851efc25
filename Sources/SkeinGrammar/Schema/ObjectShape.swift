import SkeinJSON

/// What an object must be, of all schema objects that apply to it.
struct ObjectShape {
    typealias ID = SchemaDocument.ID

    struct Property {
        var name: String
        var schemas: [ID]
        var isRequired = false
    }

    /// Properties that are not declared.
    struct Others {
        /// What their names match; nil: anything, as nothing is said, or the expression was left out.
        var pattern: TextRule.Pattern?
        /// What their values must be.
        var schemas: [ID]
    }

    /// In the order in which they are declared, then those that are only required.
    private(set) var properties: [Property] = []
    /// What other properties must be; nil: there are none.
    private var additional: [ID]?
    /// What names must be.
    private(set) var names: [ID] = []
    private(set) var least = 0
    private(set) var most: Int?
    private(set) var leastPointer = ""
    private(set) var mostPointer = ""
    private let all: [SchemaKeywords]

    init() { all = [] }

    init(_ all: [SchemaKeywords], _ schemas: SchemaAlternatives) throws(GrammarError) {
        self.all = all
        names = all.compactMap(\.propertyNames)
        var places: [[UInt8]: Int] = [:]
        let required = all.flatMap(\.required)
        for name in all.flatMap({ $0.properties.map(\.name) }) + required {
            if places[Array(name.utf8)] != nil { continue }
            places[Array(name.utf8)] = properties.count
            let own = try self.schemas(of: name, schemas)
            // What one of them neither declares nor allows.
            properties.append(Property(name: name, schemas: own ?? [SchemaDocument.nothing]))
        }
        for name in required {
            if let place = places[Array(name.utf8)] { properties[place].isRequired = true }
        }
        if !all.contains(where: \.isClosed) {
            additional = all.compactMap(\.additional)
        }
        for keywords in all {
            if keywords.leastProperties > least {
                least = keywords.leastProperties
                leastPointer = keywords.pointer + "/minProperties"
            }
            if let count = keywords.mostProperties, count < most ?? .max {
                most = count
                mostPointer = keywords.pointer + "/maxProperties"
            }
        }
    }

    /// What is written of properties that are not declared: where nothing says what they are, only an
    /// object without declared properties has some. Where some are stated by their names, others have
    /// to match none of these, and are not written.
    func others(_ schemas: SchemaAlternatives) throws(GrammarError) -> [Others] {
        var found: [Others] = []
        for keywords in all {
            for pattern in keywords.patternProperties {
                if let others = try others(pattern, of: keywords, schemas) { found.append(others) }
            }
        }
        guard !all.contains(where: { !$0.patternProperties.isEmpty }), let additional,
            !additional.isEmpty || !all.contains(where: \.statesProperties)
        else { return found }
        return [Others(schemas: additional)]
    }

    /// What the value of a property must be; nil: there is none of this name.
    func schemas(
        of name: String, _ schemas: SchemaAlternatives
    ) throws(GrammarError) -> [ID]? {
        if !names.isEmpty {
            guard try schemas.allowsName(name, names) else { return nil }
        }
        var found: [ID] = []
        for keywords in all {
            var own = keywords.property(name).map { [$0] } ?? []
            for pattern in keywords.patternProperties {
                if try matches(name, pattern, of: keywords, schemas) { own.append(pattern.schema) }
            }
            if own.isEmpty {
                if keywords.isClosed { return nil }
                if let additional = keywords.additional { own = [additional] }
            }
            found += own
        }
        return found
    }

    private func matches(
        _ name: String, _ pattern: SchemaKeywords.PropertyPattern, of owner: SchemaKeywords,
        _ schemas: SchemaAlternatives
    ) throws(GrammarError) -> Bool {
        guard let text = pattern.text else { return owner.property(name) == nil }
        var rule = TextRule()
        rule.patterns = [TextRule.Pattern(text: text, pointer: pattern.pointer)]
        return try schemas.machines.accepts(name, rule)
    }

    /// Those that match a pattern and satisfy whatever may be asked of them elsewhere: some that are
    /// valid are not written.
    private func others(
        _ pattern: SchemaKeywords.PropertyPattern, of owner: SchemaKeywords,
        _ schemas: SchemaAlternatives
    ) throws(GrammarError) -> Others? {
        let text = pattern.text.map { TextRule.Pattern(text: $0, pointer: pattern.pointer) }
        var found = Others(pattern: text, schemas: [pattern.schema])
        for keywords in all {
            if keywords.id != owner.id {
                if keywords.isClosed { return nil }
                if let additional = keywords.additional { found.schemas.append(additional) }
            }
            for other in keywords.patternProperties where other.pointer != pattern.pointer {
                if try overlap(pattern, other, schemas) { found.schemas.append(other.schema) }
            }
        }
        return found
    }

    /// Whether some name may match both.
    private func overlap(
        _ first: SchemaKeywords.PropertyPattern, _ second: SchemaKeywords.PropertyPattern,
        _ schemas: SchemaAlternatives
    ) throws(GrammarError) -> Bool {
        guard let text = first.text, let other = second.text else { return true }
        return try schemas.machines.overlap(
            TextRule.Pattern(text: text, pointer: first.pointer),
            TextRule.Pattern(text: other, pointer: second.pointer))
    }
}
