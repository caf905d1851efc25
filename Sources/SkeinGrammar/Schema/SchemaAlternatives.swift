import SkeinJSON

/// What a combination of schemas means: a union of alternatives, each of which is a list of schema
/// objects whose own keywords all apply.
///
/// `$ref` and `allOf` join lists, `anyOf` and `oneOf` make alternatives; nothing of them is left.
final class SchemaAlternatives {
    typealias ID = SchemaDocument.ID
    /// Schema objects, in the order in which they are met, each once.
    typealias Alternative = [ID]

    let document: SchemaDocument
    let budget: WorkBudget
    let machines: TextMachines
    let drops: KeywordDrops
    private var keywords: [ID: SchemaKeywords] = [:]
    private var known: [ID: [Alternative]] = [:]
    /// Schemas that are being expanded.
    private var open: Set<ID> = []
    /// Schemas of names that are being looked at.
    private var openNames: Set<ID> = []

    init(_ document: SchemaDocument, _ demand: Demand = Demand(), mode: SchemaMode = .strict) {
        drops = KeywordDrops(mode)
        self.document = document
        budget = WorkBudget(demand)
        machines = TextMachines(budget)
    }

    /// The keywords of a schema object.
    func keywords(of id: ID) throws(GrammarError) -> SchemaKeywords {
        if let known = keywords[id] { return known }
        let read = try SchemaKeywords(id, self)
        keywords[id] = read
        return read
    }

    /// What satisfies all of some schemas; no alternative: nothing does.
    func alternatives(of schemas: [ID]) throws(GrammarError) -> [Alternative] {
        var product: [Alternative] = [[]]
        for schema in schemas {
            product = try self.product(
                product, try alternatives(of: schema), at: document[schema].pointer)
        }
        return product
    }

    /// Whether the name of a property satisfies schemas.
    ///
    /// - Throws: `GrammarError` if that depends on itself: a schema may state its own names.
    func allowsName(_ name: String, _ names: [ID]) throws(GrammarError) -> Bool {
        guard openNames.isDisjoint(with: names) else {
            let pointer = names.first.map { document[$0].pointer } ?? ""
            throw .unsupported(pointer: pointer, reason: .circular)
        }
        // Each stands in the names of the one before.
        guard openNames.count < GrammarLimits.referenceDepth else {
            throw .tooLarge(
                what: .references, limit: GrammarLimits.referenceDepth,
                pointer: names.first.map { document[$0].pointer } ?? "")
        }
        openNames.formUnion(names)
        defer { openNames.subtract(names) }
        return try SchemaCheck(schemas: self).accepts(.text(name), names)
    }

    private func alternatives(of id: ID) throws(GrammarError) -> [Alternative] {
        if let known = known[id] { return known }
        let schema = document[id]
        if case .bool(let allows) = schema.value { return allows ? [[]] : [] }
        guard open.insert(id).inserted else {
            throw .unsupported(pointer: schema.pointer, reason: .circular)
        }
        guard open.count <= GrammarLimits.referenceDepth else {
            throw .tooLarge(
                what: .references, limit: GrammarLimits.referenceDepth, pointer: schema.pointer)
        }
        defer { open.remove(id) }
        let own = try keywords(of: id)
        var result: [Alternative] = [[id]]
        func join(_ other: [Alternative]) throws(GrammarError) {
            result = try product(result, other, at: schema.pointer)
        }
        if let reference = own.reference { try join(try alternatives(of: reference)) }
        for member in own.allOf { try join(try alternatives(of: member)) }
        for members in [own.anyOf, own.oneOf] {
            guard let members else { continue }
            var union: [Alternative] = []
            for member in members {
                union += try alternatives(of: member)
                try budget.spend(1, at: schema.pointer)
            }
            try join(Self.unique(union))
        }
        known[id] = result
        return result
    }

    private func product(
        _ a: [Alternative], _ b: [Alternative], at pointer: String
    ) throws(GrammarError) -> [Alternative] {
        guard a.count * b.count <= GrammarLimits.alternatives else {
            throw .tooLarge(
                what: .alternatives, limit: GrammarLimits.alternatives, pointer: pointer)
        }
        let length = (a.map(\.count).max() ?? 0) + (b.map(\.count).max() ?? 0)
        try budget.spend(1 + a.count * b.count * (1 + length) / 16, at: pointer)
        return Self.unique(
            a.flatMap { x in
                let known = Set(x)
                return b.map { y in x + y.filter { !known.contains($0) } }
            })
    }

    private static func unique(_ alternatives: [Alternative]) -> [Alternative] {
        var seen: Set<Alternative> = []
        return alternatives.filter { seen.insert($0).inserted }
    }
}
