import SkeinJSON

/// Whether a value satisfies schemas, as JSON Schema has it.
///
/// Used for the values of `enum` and `const`, which must also satisfy their neighbours, and to tell
/// members of `oneOf` apart.
struct SchemaCheck {
    typealias ID = SchemaDocument.ID

    let schemas: SchemaAlternatives
    /// Whether a value counts as accepted where judges may differ: by the dialect of a pattern, by
    /// whether formats are checked, by reading numbers as doubles. Else it does not.
    var isLenient = false

    func accepts(_ value: JSONValue, _ ids: [ID]) throws(GrammarError) -> Bool {
        for alternative in try schemas.alternatives(of: ids) {
            let shape = try ValueShape(alternative, schemas)
            if try accepts(value, shape), try isExclusive(value, alternative) { return true }
        }
        return false
    }

    /// Whether exactly one member of each `oneOf` accepts a value.
    private func isExclusive(
        _ value: JSONValue, _ alternative: SchemaAlternatives.Alternative
    ) throws(GrammarError) -> Bool {
        for id in alternative {
            guard let members = try schemas.keywords(of: id).oneOf else { continue }
            let other = SchemaCheck(schemas: schemas, isLenient: true)
            var certain = 0
            var possible = 0
            for member in members {
                if try accepts(value, [member]) { certain += 1 }
                if try other.accepts(value, [member]) { possible += 1 }
            }
            guard isLenient ? possible > 0 : certain == 1 && possible == 1 else { return false }
        }
        return true
    }

    func accepts(_ value: JSONValue, _ shape: ValueShape) throws(GrammarError) -> Bool {
        try schemas.budget.spend(1, at: "")
        if let values = shape.values, try !lists(values, value) { return false }
        switch value {
        case .null: return shape.types.contains(.null)
        case .bool: return shape.types.contains(.boolean)
        case .number(let text):
            guard let number = ExactDecimal(json: text) else { return false }
            guard shape.types.contains(.number) else { return false }
            if isLenient, number.digits.count > GrammarLimits.significantDigits { return true }
            return shape.bounds.contains(number)
        case .text(let text):
            guard shape.types.contains(.string) else { return false }
            var rule = shape.text
            if isLenient {
                rule.patterns = []
                rule.formats = []
            }
            return try schemas.machines.accepts(text, rule)
        case .list(let items):
            guard shape.types.contains(.array), items.count >= shape.array.least,
                items.count <= shape.array.most ?? .max
            else { return false }
            if shape.array.uniquePointer != nil {
                let forms = items.map(\.normalForm)
                try spend(formBytes: forms.reduce(0) { $0 + $1.count })
                guard Set(forms).count == items.count else { return false }
            }
            for (index, item) in items.enumerated() {
                guard try accepts(item, shape.array.schemas(at: index)) else { return false }
            }
            return true
        case .object(let fields):
            let object = shape.object
            guard shape.types.contains(.object), fields.count >= object.least,
                fields.count <= object.most ?? .max
            else { return false }
            var places: [[UInt8]: ObjectShape.Property] = [:]
            for property in object.properties { places[Array(property.name.utf8)] = property }
            for field in fields {
                let property = places.removeValue(forKey: Array(field.name.utf8))
                var ids = property?.schemas
                if ids == nil { ids = try object.schemas(of: field.name, schemas) }
                guard let ids, try accepts(field.value, ids) else { return false }
            }
            return !places.values.contains(where: \.isRequired)
        }
    }

    private func lists(_ values: ListedValues, _ value: JSONValue) throws(GrammarError) -> Bool {
        let form = value.normalForm
        try spend(formBytes: form.count)
        if values.forms.contains(form) { return true }
        return isLenient && values.doubleForms.contains(value.asDoubles.normalForm)
    }

    /// A normal form takes some 50 ns for each byte, and in a lenient check there are two.
    private func spend(formBytes: Int) throws(GrammarError) {
        guard formBytes >= Self.formBytesPerUnit else { return }
        try schemas.budget.spend(formBytes / Self.formBytesPerUnit, at: "")
    }

    private static let formBytesPerUnit = 256
}
