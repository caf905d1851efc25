import SkeinJSON

/// The keywords of one schema object, read and checked. What applies to another place (`$ref`, `allOf`,
/// `anyOf`, `oneOf`) is listed; the rest says what a value must be.
struct SchemaKeywords {
    typealias ID = SchemaDocument.ID

    struct Types: OptionSet, Hashable {
        let rawValue: UInt8

        static let null = Types(rawValue: 1)
        static let boolean = Types(rawValue: 2)
        static let object = Types(rawValue: 4)
        static let array = Types(rawValue: 8)
        static let number = Types(rawValue: 16)
        static let string = Types(rawValue: 32)
        static let all = Types(rawValue: 63)
    }

    /// One name of `patternProperties`.
    struct PropertyPattern {
        /// nil: no name is known to match it, as it was left out.
        var text: String?
        let pointer: String
        let schema: ID
    }

    let id: ID
    var pointer = ""
    /// nil: not stated.
    var types: Types?
    /// Whether numbers must be whole: `integer` without `number`.
    var isInteger = false
    /// Types that some keyword is about.
    var mentioned: Types = []
    var reference: ID?
    var allOf: [ID] = []
    var anyOf: [ID]?
    var oneOf: [ID]?
    /// `enum`, or one value of `const`; nil: any.
    var values: ListedValues?
    var constant: JSONValue?

    var properties: [(name: String, schema: ID)] = []
    private(set) var propertyPlaces: [[UInt8]: ID] = [:]
    var statesProperties = false
    var required: [String] = []
    var additional: ID?
    /// Whether additional properties are forbidden.
    var isClosed = false
    var patternProperties: [PropertyPattern] = []
    var propertyNames: ID?
    var leastProperties = 0
    var mostProperties: Int?

    var prefix: [ID] = []
    var items: ID?
    var isUnique = false
    var leastItems = 0
    var mostItems: Int?

    var bounds = NumberBounds()

    var leastLength = 0
    var mostLength: Int?
    var patterns: [String] = []
    var formats: [TextFormat] = []
}

extension SchemaKeywords {
    /// The schema of a declared property.
    func property(_ name: String) -> ID? { propertyPlaces[Array(name.utf8)] }

    /// Reads the schema object `id`.
    ///
    /// - Throws: `GrammarError` with the keyword's pointer.
    init(_ id: ID, _ schemas: SchemaAlternatives) throws(GrammarError) {
        self.id = id
        let document = schemas.document
        let schema = document[id]
        pointer = schema.pointer
        guard let fields = schema.value.fields else {
            throw .badKeyword(pointer: pointer, expected: "a schema: an object, true or false")
        }
        // Every part of a schema has a pointer, and names may be long.
        try schemas.budget.spend(
            1 + (fields.count + (schema.value["properties"]?.fields?.count ?? 0))
                * (64 + pointer.utf8.count) / 1024,
            at: pointer)
        for field in fields {
            let place = pointer + "/" + SchemaDocument.escaped(field.name)
            let reader = KeywordReader(value: field.value, pointer: place, document: document)
            if let refused = RefusedKeyword.all[field.name] {
                try refused.refuse(reader, schemas.drops)
            } else {
                try read(field.name, reader, schemas)
            }
        }
        if let order = schema.value["x-order"]?.list { sortProperties(order) }
        if let constant {
            let isListed = values.map { $0.forms.contains(constant.normalForm) } ?? true
            values = ListedValues(isListed ? [constant] : [])
        }
    }

    /// Puts properties in the order of `x-order`, which Apple's `Generable` writes because its encoder
    /// keeps none. Those that it does not name follow as they are declared.
    private mutating func sortProperties(_ order: [JSONValue]) {
        var ranks: [[UInt8]: Int] = [:]
        for name in order.compactMap(\.string) where ranks[Array(name.utf8)] == nil {
            ranks[Array(name.utf8)] = ranks.count
        }
        let places = properties.enumerated().map { place, property in
            (ranks[Array(property.name.utf8)] ?? ranks.count, place)
        }
        properties = places.sorted { $0 < $1 }.map { properties[$0.1] }
    }

    private mutating func read(
        _ name: String, _ reader: KeywordReader, _ schemas: SchemaAlternatives
    ) throws(GrammarError) {
        switch name {
        case "$ref":
            let reference = try reader.string()
            self.reference = try reader.document.target(of: reference, at: reader.pointer)
        case "$id":
            guard !pointer.isEmpty else { break }
            let error = GrammarError.unsupported(pointer: reader.pointer, reason: .keyword)
            // References inside would lead somewhere else without it.
            let own = reader.document[id].value
            try schemas.budget.spend(1 + own.size / 64, at: pointer)
            if own.mentions("$ref") { throw error }
            try schemas.drops.drop(error)
        case "type": try readTypes(reader)
        case "allOf": allOf = try reader.schemas()
        case "anyOf": anyOf = try reader.schemas()
        case "oneOf": oneOf = try reader.schemas()
        case "enum":
            let list = try reader.list()
            guard list.count <= GrammarLimits.values else {
                throw .tooLarge(
                    what: .values, limit: GrammarLimits.values, pointer: reader.pointer)
            }
            values = ListedValues(list)
        case "const": constant = reader.value
        case "properties", "required", "additionalProperties", "minProperties", "maxProperties",
            "patternProperties", "propertyNames":
            try readObject(name, reader, schemas)
        case "prefixItems", "items", "minItems", "maxItems", "uniqueItems":
            try readArray(name, reader)
        case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
            mentioned.insert(.number)
            try readNumber(name, reader, schemas.drops)
        case "minLength", "maxLength", "pattern", "format":
            try readString(name, reader, schemas)
        default: break
        }
    }

    private mutating func readTypes(_ reader: KeywordReader) throws(GrammarError) {
        let names: [String]
        if let name = reader.value.string {
            names = [name]
        } else {
            names = try reader.strings()
        }
        var types: Types = []
        var hasNumber = false
        for name in names {
            switch name {
            case "null": types.insert(.null)
            case "boolean": types.insert(.boolean)
            case "object": types.insert(.object)
            case "array": types.insert(.array)
            case "string": types.insert(.string)
            case "integer": types.insert(.number)
            case "number":
                types.insert(.number)
                hasNumber = true
            default:
                throw .badKeyword(
                    pointer: reader.pointer,
                    expected: "null, boolean, object, array, number, integer or string, or a list "
                        + "of these")
            }
        }
        self.types = types
        isInteger = !hasNumber && types.contains(.number)
    }

    private mutating func readObject(
        _ name: String, _ reader: KeywordReader, _ schemas: SchemaAlternatives
    ) throws(GrammarError) {
        switch name {
        case "patternProperties":
            // Without a name in it, it asks for nothing.
            if reader.value.fields?.isEmpty == true { return }
            try readPatterns(reader, schemas)
        case "propertyNames":
            if RefusedKeyword.isTrue(reader.value) { return }
            propertyNames = try reader.schema()
        case "properties":
            statesProperties = true
            properties = try reader.namedSchemas()
            for (name, schema) in properties { propertyPlaces[Array(name.utf8)] = schema }
        case "required": required = try reader.strings()
        case "minProperties": leastProperties = try reader.count()
        case "maxProperties": mostProperties = try reader.count()
        default:
            let schema = try reader.schema()
            if RefusedKeyword.isFalse(reader.value) { isClosed = true } else { additional = schema }
        }
        mentioned.insert(.object)
    }

    private mutating func readPatterns(
        _ reader: KeywordReader, _ schemas: SchemaAlternatives
    ) throws(GrammarError) {
        for (name, schema) in try reader.namedSchemas() {
            let place = reader.pointer + "/" + SchemaDocument.escaped(name)
            var pattern = PropertyPattern(text: name, pointer: place, schema: schema)
            if try !schemas.machines.holds(name, at: place, schemas.drops, "patternProperties") {
                pattern.text = nil
            }
            patternProperties.append(pattern)
        }
    }

    private mutating func readArray(
        _ name: String, _ reader: KeywordReader
    ) throws(GrammarError) {
        switch name {
        case "uniqueItems":
            isUnique = try reader.bool()
            guard isUnique else { return }
        case "prefixItems": prefix = try reader.schemas()
        case "minItems": leastItems = try reader.count()
        case "maxItems": mostItems = try reader.count()
        default: items = try reader.schema()
        }
        mentioned.insert(.array)
    }

    private mutating func readNumber(
        _ name: String, _ reader: KeywordReader, _ drops: KeywordDrops
    ) throws(GrammarError) {
        let number = try reader.number()
        var stated = NumberBounds()
        switch name {
        case "multipleOf":
            guard number > ExactDecimal(0) else {
                throw .badKeyword(pointer: reader.pointer, expected: "a number above 0")
            }
            guard let divisor = NumberDivisor(number) else {
                return try drops.drop(.unsupported(pointer: reader.pointer, reason: .divisor))
            }
            stated.divisor = divisor
        case "minimum": stated.minimum = number
        case "exclusiveMinimum":
            stated.minimum = number
            stated.isMinimumExclusive = true
        case "maximum": stated.maximum = number
        default:
            stated.maximum = number
            stated.isMaximumExclusive = true
        }
        // One of its divisors is missing.
        if let both = bounds.intersection(stated) { bounds = both }
    }

    /// Formats that OpenAPI has and that are notes, not conditions: which numbers a program keeps,
    /// that a text is hidden while it is typed, or stands for bytes.
    private static let noted: Set<String> = [
        "password", "binary",
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "uint", "int",
        "float", "double", "decimal",
    ]

    private mutating func readString(
        _ name: String, _ reader: KeywordReader, _ schemas: SchemaAlternatives
    ) throws(GrammarError) {
        switch name {
        case "minLength": leastLength = try reader.count()
        case "maxLength": mostLength = try reader.count()
        case "pattern":
            let pattern = try reader.string()
            if try schemas.machines.holds(pattern, at: reader.pointer, schemas.drops) {
                patterns = [pattern]
            }
        default:
            let name = try reader.string()
            if Self.noted.contains(name) { return }
            if let format = TextFormat(rawValue: name) {
                formats = [format]
            } else {
                try schemas.drops.drop(
                    .unsupported(pointer: reader.pointer, reason: .format(name)))
            }
        }
        mentioned.insert(.string)
    }
}
