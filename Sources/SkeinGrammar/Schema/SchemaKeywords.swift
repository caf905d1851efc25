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
    var leastProperties = 0
    var mostProperties: Int?

    var prefix: [ID] = []
    var items: ID?
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

    /// Keywords that this version cannot enforce, with the values that ask for nothing.
    private static let refused: [String: @Sendable (JSONValue) -> Bool] = [
        "not": isFalse, "if": never, "then": never, "else": never,
        "dependentRequired": isEmpty, "dependentSchemas": isEmpty, "dependencies": isEmpty,
        "patternProperties": isEmpty, "propertyNames": isTrue, "contains": never,
        "uniqueItems": isFalse, "unevaluatedItems": isTrue, "unevaluatedProperties": isTrue,
        "$dynamicRef": never, "$recursiveRef": never, "additionalItems": isTrue,
    ]

    @Sendable private static func never(_ value: JSONValue) -> Bool { false }
    @Sendable private static func isFalse(_ value: JSONValue) -> Bool {
        if case .bool(false) = value { return true }
        return false
    }
    @Sendable private static func isTrue(_ value: JSONValue) -> Bool {
        if case .bool(true) = value { return true }
        return value.fields?.isEmpty ?? false
    }
    @Sendable private static func isEmpty(_ value: JSONValue) -> Bool {
        value.fields?.isEmpty ?? false
    }

    /// Reads the schema object `id`.
    ///
    /// - Throws: `GrammarError` with the keyword's pointer.
    init(_ id: ID, _ document: SchemaDocument, _ budget: WorkBudget) throws(GrammarError) {
        let schema = document[id]
        pointer = schema.pointer
        guard let fields = schema.value.fields else {
            throw .badKeyword(pointer: pointer, expected: "a schema: an object, true or false")
        }
        // Every part of a schema has a pointer, and names may be long.
        try budget.spend(
            1 + (fields.count + (schema.value["properties"]?.fields?.count ?? 0))
                * (64 + pointer.utf8.count) / 1024,
            at: pointer)
        for field in fields {
            let place = pointer + "/" + SchemaDocument.escaped(field.name)
            if let asksNothing = Self.refused[field.name] {
                guard asksNothing(field.value) else {
                    throw .unsupported(pointer: place, reason: .keyword)
                }
                continue
            }
            try read(
                field.name,
                KeywordReader(value: field.value, pointer: place, document: document))
        }
        if let constant {
            let isListed = values.map { $0.forms.contains(constant.normalForm) } ?? true
            values = ListedValues(isListed ? [constant] : [])
        }
    }

    private mutating func read(
        _ name: String, _ reader: KeywordReader
    ) throws(GrammarError) {
        switch name {
        case "$ref":
            let reference = try reader.string()
            self.reference = try reader.document.target(of: reference, at: reader.pointer)
        case "$id":
            guard pointer.isEmpty else {
                throw .unsupported(pointer: reader.pointer, reason: .keyword)
            }
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
        case "properties", "required", "additionalProperties", "minProperties", "maxProperties":
            mentioned.insert(.object)
            try readObject(name, reader)
        case "prefixItems", "items", "minItems", "maxItems":
            mentioned.insert(.array)
            try readArray(name, reader)
        case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
            mentioned.insert(.number)
            try readNumber(name, reader)
        case "minLength", "maxLength", "pattern", "format":
            try readString(name, reader)
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
        _ name: String, _ reader: KeywordReader
    ) throws(GrammarError) {
        switch name {
        case "properties":
            statesProperties = true
            properties = try reader.namedSchemas()
            for (name, schema) in properties { propertyPlaces[Array(name.utf8)] = schema }
        case "required": required = try reader.strings()
        case "minProperties": leastProperties = try reader.count()
        case "maxProperties": mostProperties = try reader.count()
        default:
            let schema = try reader.schema()
            if Self.isFalse(reader.value) { isClosed = true } else { additional = schema }
        }
    }

    private mutating func readArray(
        _ name: String, _ reader: KeywordReader
    ) throws(GrammarError) {
        switch name {
        case "prefixItems": prefix = try reader.schemas()
        case "minItems": leastItems = try reader.count()
        case "maxItems": mostItems = try reader.count()
        default: items = try reader.schema()
        }
    }

    private mutating func readNumber(
        _ name: String, _ reader: KeywordReader
    ) throws(GrammarError) {
        let number = try reader.number()
        var stated = NumberBounds()
        switch name {
        case "multipleOf":
            guard number > ExactDecimal(0) else {
                throw .badKeyword(pointer: reader.pointer, expected: "a number above 0")
            }
            guard let divisor = number.integer, divisor <= GrammarLimits.divisor else {
                throw .unsupported(pointer: reader.pointer, reason: .divisor)
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
        guard let both = bounds.intersection(stated) else {
            throw .unsupported(pointer: reader.pointer, reason: .divisor)
        }
        bounds = both
    }

    /// Formats of numbers, which OpenAPI has: notes, not conditions.
    private static let noted: Set<String> = [
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "uint", "int",
        "float", "double", "decimal",
    ]

    private mutating func readString(
        _ name: String, _ reader: KeywordReader
    ) throws(GrammarError) {
        switch name {
        case "minLength": leastLength = try reader.count()
        case "maxLength": mostLength = try reader.count()
        case "pattern": patterns = [try reader.string()]
        default:
            let name = try reader.string()
            if Self.noted.contains(name) { return }
            guard let format = TextFormat(rawValue: name) else {
                throw .unsupported(pointer: reader.pointer, reason: .format(name))
            }
            formats = [format]
        }
        mentioned.insert(.string)
    }
}

extension ExactDecimal {
    /// The value of a whole number that is no larger than `Int` holds.
    var integer: Int? { isInteger && fitsBounds ? Int(description) : nil }
}

/// One keyword's value.
struct KeywordReader {
    let value: JSONValue
    let pointer: String
    let document: SchemaDocument

    private func bad(_ expected: String) -> GrammarError {
        .badKeyword(pointer: pointer, expected: expected)
    }

    func string() throws(GrammarError) -> String {
        guard let string = value.string else { throw bad("a string") }
        return string
    }

    func list() throws(GrammarError) -> [JSONValue] {
        guard let list = value.list else { throw bad("a list") }
        return list
    }

    func strings() throws(GrammarError) -> [String] {
        let strings = try list().compactMap(\.string)
        guard strings.count == value.list?.count else { throw bad("a list of strings") }
        return strings
    }

    /// A whole number from 0, written as one or as 2.0.
    func count() throws(GrammarError) -> Int {
        guard case .number(let text) = value, let number = ExactDecimal(json: text),
            let count = number.integer, count >= 0
        else { throw bad("a whole number from 0 to \(Int.max)") }
        return count
    }

    func number() throws(GrammarError) -> ExactDecimal {
        guard case .number(let text) = value, let number = ExactDecimal(json: text) else {
            throw bad("a number")
        }
        return number
    }

    private static func isSchema(_ value: JSONValue) -> Bool {
        switch value {
        case .bool, .object: true
        default: false
        }
    }

    func schema() throws(GrammarError) -> SchemaDocument.ID {
        guard Self.isSchema(value) else { throw bad("a schema: an object, true or false") }
        return document.number(of: value, at: pointer)
    }

    func schemas() throws(GrammarError) -> [SchemaDocument.ID] {
        guard let list = value.list, !list.isEmpty, list.allSatisfy(Self.isSchema) else {
            throw bad("a list of schemas")
        }
        return list.enumerated().map { document.number(of: $1, at: "\(pointer)/\($0)") }
    }

    func namedSchemas() throws(GrammarError) -> [(
        name: String, schema: SchemaDocument.ID
    )] {
        guard let fields = value.fields, fields.allSatisfy({ Self.isSchema($0.value) }) else {
            throw bad("an object of schemas")
        }
        return fields.map {
            let place = pointer + "/" + SchemaDocument.escaped($0.name)
            return ($0.name, document.number(of: $0.value, at: place))
        }
    }
}
