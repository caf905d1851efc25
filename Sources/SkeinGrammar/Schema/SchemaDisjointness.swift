import SkeinJSON

/// Whether no value can satisfy two schemas together.
///
/// For `oneOf`: each member's values are written as they are, so no member may accept another's.
/// "No" also stands for "cannot be told": types, bounds, lengths, constants and required properties
/// are compared, four levels deep; patterns and formats are not.
struct SchemaDisjointness {
    typealias ID = SchemaDocument.ID

    let schemas: SchemaAlternatives
    private static let levels = 4

    /// - Throws: `GrammarError` of the schemas, or of too much work.
    ///
    /// `base`: a schema object whose own keywords apply to both.
    func areDisjoint(
        _ a: [ID], _ b: [ID], base: [ID] = [], level: Int = levels
    ) throws(GrammarError) -> Bool {
        guard level > 0 else { return false }
        let others = try shapes(of: b, base)
        for shape in try shapes(of: a, base) {
            for other in others {
                guard try areDisjoint(shape, other, level) else { return false }
            }
        }
        return true
    }

    private func shapes(of ids: [ID], _ base: [ID]) throws(GrammarError) -> [ValueShape] {
        var shapes: [ValueShape] = []
        for alternative in try schemas.alternatives(of: ids) {
            shapes.append(
                try ValueShape(base + alternative.filter { !base.contains($0) }, schemas))
        }
        return shapes
    }

    private func areDisjoint(
        _ a: ValueShape, _ b: ValueShape, _ level: Int
    ) throws(GrammarError) -> Bool {
        let check = SchemaCheck(schemas: schemas, isLenient: true)
        for (listed, other) in [(a, b), (b, a)] {
            guard let values = listed.values else { continue }
            for value in values.values {
                if try check.accepts(value, listed), try check.accepts(value, other) {
                    return false
                }
            }
            return true
        }
        let common = a.types.intersection(b.types)
        if common.contains(.null) || common.contains(.boolean) { return false }
        if common.contains(.number), !areDisjoint(a.bounds, b.bounds) { return false }
        if common.contains(.string), !areDisjoint(a.text, b.text) { return false }
        if common.contains(.array), try !areDisjoint(a.array, b.array, level) { return false }
        if common.contains(.object), try !areDisjoint(a.object, b.object, level) { return false }
        return true
    }

    /// By length alone: formats need not be checked by who reads the value, and dialects of patterns
    /// differ.
    private func areDisjoint(_ a: TextRule, _ b: TextRule) -> Bool {
        guard let most = [a.most, b.most].compactMap(\.self).min() else { return false }
        return most < max(a.least, b.least)
    }

    /// Bounds are compared as they are if a reader of doubles cannot take two of them for one.
    private func areDisjoint(_ a: NumberBounds, _ b: NumberBounds) -> Bool {
        let bounds = [a.minimum, a.maximum, b.minimum, b.maximum].compactMap(\.self)
        guard bounds.allSatisfy({ $0.digits.count <= GrammarLimits.significantDigits }) else {
            return false
        }
        return a.intersection(b)?.isEmpty == true
    }

    private func areDisjoint(
        _ a: ValueShape.ArrayShape, _ b: ValueShape.ArrayShape, _ level: Int
    ) throws(GrammarError) -> Bool {
        let least = max(a.least, b.least)
        if let most = [a.most, b.most].compactMap(\.self).min(), most < least { return true }
        for index in 0..<min(least, max(a.prefix.count, b.prefix.count) + 1) {
            let isApart = try areDisjoint(
                a.schemas(at: index), b.schemas(at: index), level: level - 1)
            if isApart { return true }
        }
        return false
    }

    private func areDisjoint(
        _ a: ObjectShape, _ b: ObjectShape, _ level: Int
    ) throws(GrammarError) -> Bool {
        for (one, other) in [(a, b), (b, a)] {
            for property in one.properties where property.isRequired {
                let found = other.properties.first { $0.name.isSame(as: property.name) }
                var ids = found?.schemas
                if ids == nil { ids = try other.schemas(of: property.name, schemas) }
                guard let ids else { return true }
                let isApart = try areDisjoint(property.schemas, ids, level: level - 1)
                if isApart { return true }
            }
        }
        return false
    }
}
