/// What one alternative of a schema allows, with the keywords of all its schema objects merged.
struct ValueShape {
    typealias ID = SchemaDocument.ID
    typealias Types = SchemaKeywords.Types

    /// Types that are allowed, as JSON Schema has it: keywords of other types say nothing.
    private(set) var types: Types
    /// `types`, or, where no type, `enum` or `const` is stated, the types that keywords are about.
    private(set) var meant: Types
    /// nil: any; else values of which each must satisfy the rest.
    private(set) var values: ListedValues?
    private(set) var bounds = NumberBounds()
    private(set) var text = TextRule()
    private(set) var array = ArrayShape()
    private(set) var object = ObjectShape()

    struct ArrayShape {
        var prefix: [[ID]] = []
        /// For items after `prefix`.
        var rest: [ID] = []
        var statesRest = false
        var least = 0
        var most: Int?
        /// The pointer of `uniqueItems` where it is true.
        var uniquePointer: String?

        func schemas(at index: Int) -> [ID] { index < prefix.count ? prefix[index] : rest }
    }

    /// Merges schema objects.
    ///
    /// - Throws: `GrammarError`.
    init(
        _ alternative: SchemaAlternatives.Alternative, _ schemas: SchemaAlternatives
    ) throws(GrammarError) {
        var all: [SchemaKeywords] = []
        for id in alternative { all.append(try schemas.keywords(of: id)) }
        let parts = all.reduce(0) {
            $0 + $1.properties.count + $1.required.count + $1.prefix.count
        }
        try schemas.budget.spend(
            1 + all.count / 16 + parts * all.count / 32, at: all.last?.pointer ?? "")
        types = .all
        var mentioned: Types = []
        var statesTypes = false
        for keywords in all {
            if let stated = keywords.types {
                types.formIntersection(stated)
                statesTypes = true
            }
            mentioned.formUnion(keywords.mentioned)
            if let listed = keywords.values {
                statesTypes = true
                let bytes = values?.formBytes ?? 0
                values = values?.intersection(listed) ?? listed
                try schemas.budget.spend(
                    1 + listed.values.count / 16 + bytes / 256, at: keywords.pointer)
            }
            var own = keywords.bounds
            if bounds.intersection(own) == nil {
                try schemas.drops.drop(
                    .unsupported(pointer: keywords.pointer + "/multipleOf", reason: .divisor))
                own.divisor = nil
            }
            bounds = bounds.intersection(own) ?? bounds
            bounds.isInteger = bounds.isInteger || keywords.isInteger
        }
        meant = statesTypes || mentioned.isEmpty ? types : types.intersection(mentioned)
        text = try TextRule(all)
        array = Self.array(all)
        object = try ObjectShape(all, schemas)
    }

    private static func array(_ all: [SchemaKeywords]) -> ArrayShape {
        var shape = ArrayShape()
        let longest = all.reduce(0) { max($0, $1.prefix.count) }
        shape.prefix = (0..<longest).map { index in
            all.compactMap { index < $0.prefix.count ? $0.prefix[index] : $0.items }
        }
        shape.rest = all.compactMap(\.items)
        shape.statesRest = !shape.rest.isEmpty
        for keywords in all {
            shape.least = max(shape.least, keywords.leastItems)
            if let most = keywords.mostItems { shape.most = min(shape.most ?? most, most) }
            if keywords.isUnique { shape.uniquePointer = keywords.pointer + "/uniqueItems" }
        }
        return shape
    }
}
