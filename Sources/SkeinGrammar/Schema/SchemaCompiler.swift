/// Turns a JSON Schema (draft 2020-12) into a network of the texts that it allows.
///
/// Texts are compact JSON: properties in the order in which they are declared, at most one space
/// after `:` and `,`. Each combination of schemas that a value must satisfy is one subnetwork, so
/// that recursion needs no special treatment.
struct SchemaCompiler {
    typealias ID = SchemaDocument.ID
    typealias Node = NetworkBuilder.Node

    var builder: NetworkBuilder
    let schemas: SchemaAlternatives
    var sets = ScalarSubnetworks()
    private var values: [[ID]: NetworkBuilder.Subnetwork] = [:]
    /// Combinations whose subnetworks are still empty.
    private var waiting: [[ID]] = []
    private var numbers: [NumberBounds: NetworkBuilder.Subnetwork] = [:]
    private var texts: [TextRule: NetworkBuilder.Subnetwork] = [:]
    var bodies: TextBodies

    static func network(
        of source: [UInt8], _ demand: Demand = Demand()
    ) throws(GrammarError) -> ByteNetwork {
        try demand.making { () throws(GrammarError) in
            let document = SchemaDocument(try GrammarJSON.read(source))
            var compiler = SchemaCompiler(SchemaAlternatives(document, demand))
            return try compiler.network(of: document.whole)
        }
    }

    private init(_ schemas: SchemaAlternatives) {
        self.schemas = schemas
        builder = NetworkBuilder(schemas.budget.demand)
        bodies = TextBodies(&builder)
    }

    private mutating func network(of id: ID) throws(GrammarError) -> ByteNetwork {
        let document = builder.subnetwork(.document)
        call(document.start, [id], document.end)
        while let next = waiting.popLast() {
            guard let subnetwork = values[next] else { continue }
            try fill(subnetwork, next)
            guard !builder.isTooLarge else {
                let pointer = next.last.map { schemas.document[$0].pointer } ?? ""
                throw .tooLarge(what: .nodes, limit: GrammarLimits.nodes, pointer: pointer)
            }
        }
        return try ByteNetwork(builder, document: document, schemas.budget.demand)
    }

    /// From one node to another by a value that satisfies all of some schemas.
    mutating func call(_ from: Node, _ ids: [ID], _ to: Node) {
        var seen: Set<ID> = []
        let key = ids.filter { seen.insert($0).inserted }
        if let known = values[key] { return builder.call(from, known, to) }
        let subnetwork = builder.subnetwork(.value)
        values[key] = subnetwork
        waiting.append(key)
        builder.call(from, subnetwork, to)
    }

    private mutating func fill(
        _ subnetwork: NetworkBuilder.Subnetwork, _ ids: [ID]
    ) throws(GrammarError) {
        guard values.count <= GrammarLimits.conjunctions else {
            throw .tooLarge(what: .subschemas, limit: GrammarLimits.conjunctions, pointer: "")
        }
        let (from, to) = (subnetwork.start, subnetwork.end)
        for alternative in try schemas.alternatives(of: ids) {
            try checkExclusive(alternative)
            let shape = try ValueShape(alternative, schemas)
            let pointer = alternative.last.map { schemas.document[$0].pointer } ?? ""
            if let values = shape.values {
                try write(values.values, of: shape, from, to)
                continue
            }
            if shape.meant.contains(.null) { builder.text(from, "null".utf8, to) }
            if shape.meant.contains(.boolean) {
                builder.text(from, "true".utf8, to)
                builder.text(from, "false".utf8, to)
            }
            if shape.meant.contains(.number) { try number(shape.bounds, at: pointer, from, to) }
            if shape.meant.contains(.string) {
                let body = builder.node()
                builder.edge(from, UInt8(ascii: "\""), body)
                try text(shape.text, body, to)
            }
            if shape.meant.contains(.array) { array(shape.array, from, to) }
            if shape.meant.contains(.object) {
                try object(shape.object, of: alternative, from, to)
            }
        }
    }

    /// Refuses a `oneOf` whose members may accept the same value.
    private func checkExclusive(
        _ alternative: SchemaAlternatives.Alternative
    ) throws(GrammarError) {
        let disjointness = SchemaDisjointness(schemas: schemas)
        for id in alternative {
            let members = try schemas.keywords(of: id).oneOf ?? []
            for (index, member) in members.enumerated() {
                for other in members.indices.dropFirst(index + 1) {
                    let areDisjoint = try disjointness.areDisjoint(
                        [member], [members[other]], base: [id])
                    guard areDisjoint else {
                        throw .overlap(
                            pointer: schemas.document[id].pointer + "/oneOf", first: index,
                            second: other)
                    }
                }
            }
        }
    }

    private mutating func number(
        _ bounds: NumberBounds, at pointer: String, _ from: Node, _ to: Node
    ) throws(GrammarError) {
        if let known = numbers[bounds] { return builder.call(from, known, to) }
        try schemas.budget.spend(4 + 2 * (bounds.divisor ?? 0), at: pointer)
        let subnetwork = builder.subnetwork(.text)
        numbers[bounds] = subnetwork
        builder.call(from, subnetwork, to)
        do {
            try builder.number(bounds, from: subnetwork.start, to: subnetwork.end)
        } catch {
            switch error {
            case .empty: return
            case .bound: throw .unsupported(pointer: pointer, reason: .digits)
            case .divisor: throw .unsupported(pointer: pointer, reason: .divisor)
            }
        }
    }

    /// From behind a string's first quote to behind its last one.
    mutating func text(_ rule: TextRule, _ from: Node, _ to: Node) throws(GrammarError) {
        if rule.isPlain {
            if let most = rule.most, most < rule.least { return }
            return builder.call(
                from, bodies.body(least: rule.least, most: rule.most, &builder), to)
        }
        if let known = texts[rule] { return builder.call(from, known, to) }
        let subnetwork = builder.subnetwork(.text)
        let quote = builder.node()
        builder.machine(
            try schemas.machines.machine(rule), from: subnetwork.start, to: quote, escaping: true,
            sets: &sets)
        builder.edge(quote, UInt8(ascii: "\""), subnetwork.end)
        texts[rule] = subnetwork
        builder.call(from, subnetwork, to)
    }

    /// At most one space.
    mutating func space(_ from: Node) -> Node {
        let node = builder.node()
        builder.edge(from, UInt8(ascii: " "), node)
        builder.skip(from, node)
        return node
    }
}
