/// Whether a value satisfies schemas, as JSON Schema has it.
///
/// Used for the values of `enum` and `const`, which must also satisfy their neighbours, and to tell
/// members of `oneOf` apart.
struct SchemaCheck {
    typealias ID = SchemaDocument.ID

    let schemas: SchemaAlternatives

    func accepts(_ value: JSONText, _ ids: [ID]) throws(GrammarError) -> Bool {
        for alternative in try schemas.alternatives(of: ids) {
            let shape = try ValueShape(alternative, schemas)
            if try accepts(value, shape), try isExclusive(value, alternative) { return true }
        }
        return false
    }

    /// Whether exactly one member of each `oneOf` accepts a value.
    private func isExclusive(
        _ value: JSONText, _ alternative: SchemaAlternatives.Alternative
    ) throws(GrammarError) -> Bool {
        for id in alternative {
            guard let members = try schemas.keywords(of: id).oneOf else { continue }
            var count = 0
            for member in members where try accepts(value, [member]) { count += 1 }
            guard count == 1 else { return false }
        }
        return true
    }

    func accepts(_ value: JSONText, _ shape: ValueShape) throws(GrammarError) -> Bool {
        if let values = shape.values, !values.contains(where: { $0.isEqual(to: value) }) {
            return false
        }
        switch value {
        case .null: return shape.types.contains(.null)
        case .bool: return shape.types.contains(.boolean)
        case .number(let text):
            guard let number = ExactDecimal(json: text) else { return false }
            return shape.types.contains(.number) && shape.bounds.contains(number)
        case .text(let text):
            guard shape.types.contains(.string) else { return false }
            return try schemas.machines.accepts(text, shape.text)
        case .list(let items):
            guard shape.types.contains(.array), items.count >= shape.array.least,
                items.count <= shape.array.most ?? .max
            else { return false }
            for (index, item) in items.enumerated() {
                guard try accepts(item, shape.array.schemas(at: index)) else { return false }
            }
            return true
        case .object(let fields):
            let object = shape.object
            guard shape.types.contains(.object), fields.count >= object.least,
                fields.count <= object.most ?? .max
            else { return false }
            var places: [[UInt8]: ValueShape.ObjectShape.Property] = [:]
            for property in object.properties { places[Array(property.name.utf8)] = property }
            for field in fields {
                let property = places.removeValue(forKey: Array(field.name.utf8))
                guard let schemas = property?.schemas ?? object.additional else { return false }
                guard try accepts(field.value, schemas) else { return false }
            }
            return !places.values.contains(where: \.isRequired)
        }
    }
}
