/// Whether no value can satisfy two schemas together.
///
/// For `oneOf`: each member's values are written as they are, so no member may accept another's.
/// "No" also stands for "cannot be told": types, bounds, lengths, constants and required properties
/// are compared, four levels deep.
struct SchemaDisjointness {
    typealias ID = SchemaDocument.ID

    let schemas: SchemaAlternatives
    private static let levels = 4

    func areDisjoint(_ a: [ID], _ b: [ID], level: Int = levels) throws(GrammarError) -> Bool {
        guard level > 0 else { return false }
        let others = try shapes(of: b)
        for shape in try shapes(of: a) {
            for other in others {
                guard try areDisjoint(shape, other, level) else { return false }
            }
        }
        return true
    }

    private func shapes(of ids: [ID]) throws(GrammarError) -> [ValueShape] {
        var shapes: [ValueShape] = []
        for alternative in try schemas.alternatives(of: ids) {
            shapes.append(try ValueShape(alternative, schemas))
        }
        return shapes
    }

    private func areDisjoint(
        _ a: ValueShape, _ b: ValueShape, _ level: Int
    ) throws(GrammarError) -> Bool {
        let check = SchemaCheck(schemas: schemas)
        for (listed, other) in [(a, b), (b, a)] {
            guard let values = listed.values else { continue }
            for value in values {
                if try check.accepts(value, listed), try check.accepts(value, other) {
                    return false
                }
            }
            return true
        }
        let common = a.types.intersection(b.types)
        if common.contains(.null) || common.contains(.boolean) { return false }
        if common.contains(.number), a.bounds.intersection(b.bounds)?.isEmpty != true {
            return false
        }
        if common.contains(.string), try !areDisjoint(a.text, b.text) { return false }
        if common.contains(.array), try !areDisjoint(a.array, b.array, level) { return false }
        if common.contains(.object), try !areDisjoint(a.object, b.object, level) { return false }
        return true
    }

    private func areDisjoint(_ a: TextRule, _ b: TextRule) throws(GrammarError) -> Bool {
        var both = a
        both.least = max(a.least, b.least)
        both.most = [a.most, b.most].compactMap(\.self).min()
        if let most = both.most, most < both.least { return true }
        both.patterns += b.patterns.filter { !a.patterns.contains($0) }
        both.formats += b.formats.filter { !a.formats.contains($0) }
        if both.isPlain { return false }
        return try schemas.machines.machine(both).isEmpty
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
        _ a: ValueShape.ObjectShape, _ b: ValueShape.ObjectShape, _ level: Int
    ) throws(GrammarError) -> Bool {
        for (one, other) in [(a, b), (b, a)] {
            for property in one.properties where property.isRequired {
                let found = other.properties.first { $0.name.isSame(as: property.name) }
                guard let schemas = found?.schemas ?? other.additional else { return true }
                let isApart = try areDisjoint(property.schemas, schemas, level: level - 1)
                if isApart { return true }
            }
        }
        return false
    }
}
