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

        func schemas(at index: Int) -> [ID] { index < prefix.count ? prefix[index] : rest }
    }

    struct ObjectShape {
        struct Property {
            var name: String
            var schemas: [ID]
            var isRequired = false
        }

        /// In the order in which they are declared, then those that are only required.
        var properties: [Property] = []
        /// What other properties must be; nil: there are none.
        var additional: [ID]?
        /// Whether others are written at all: where nothing says what they are, only an object
        /// without declared properties has some.
        var writesAdditional = false
        var least = 0
        var most: Int?
        /// The pointer of `minProperties` or `maxProperties`.
        var countPointer = ""
    }

    /// Merges schema objects.
    ///
    /// - Throws: `GrammarError`.
    init(
        _ alternative: SchemaAlternatives.Alternative, _ schemas: SchemaAlternatives
    ) throws(GrammarError) {
        var all: [SchemaKeywords] = []
        for id in alternative { all.append(try schemas.keywords(of: id)) }
        let names = all.reduce(0) { $0 + $1.properties.count + $1.required.count }
        try schemas.budget.spend(1 + names * all.count / 32, at: all.last?.pointer ?? "")
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
                values = values?.intersection(listed) ?? listed
                try schemas.budget.spend(1 + listed.values.count / 16, at: keywords.pointer)
            }
            guard let merged = bounds.intersection(keywords.bounds) else {
                throw .unsupported(pointer: keywords.pointer + "/multipleOf", reason: .divisor)
            }
            bounds = merged
            bounds.isInteger = bounds.isInteger || keywords.isInteger
        }
        meant = statesTypes || mentioned.isEmpty ? types : types.intersection(mentioned)
        text = try TextRule(all)
        array = Self.array(all)
        object = Self.object(all)
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
        }
        return shape
    }

    private static func object(_ all: [SchemaKeywords]) -> ObjectShape {
        var shape = ObjectShape()
        var places: [[UInt8]: Int] = [:]
        let required = all.flatMap(\.required)
        for name in all.flatMap({ $0.properties.map(\.name) }) + required {
            if places[Array(name.utf8)] != nil { continue }
            places[Array(name.utf8)] = shape.properties.count
            var property = ObjectShape.Property(name: name, schemas: [])
            for keywords in all {
                if let own = keywords.property(name) {
                    property.schemas.append(own)
                } else if let additional = keywords.additional {
                    property.schemas.append(additional)
                }
            }
            // What one of them neither declares nor allows.
            if all.contains(where: { $0.isClosed && $0.property(name) == nil }) {
                property.schemas = [SchemaDocument.nothing]
            }
            shape.properties.append(property)
        }
        for name in required {
            if let place = places[Array(name.utf8)] { shape.properties[place].isRequired = true }
        }
        if !all.contains(where: \.isClosed) {
            shape.additional = all.compactMap(\.additional)
            shape.writesAdditional =
                shape.additional?.isEmpty == false || !all.contains(where: \.statesProperties)
        }
        for keywords in all {
            if keywords.leastProperties > shape.least {
                shape.least = keywords.leastProperties
                shape.countPointer = keywords.pointer + "/minProperties"
            }
            if let most = keywords.mostProperties, most < shape.most ?? .max {
                shape.most = most
                shape.countPointer = keywords.pointer + "/maxProperties"
            }
        }
        return shape
    }
}
