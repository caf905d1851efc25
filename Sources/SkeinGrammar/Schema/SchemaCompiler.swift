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
    /// The first bounds within which there are numbers, but none that is written.
    private var unwritten: GrammarError?
    private var texts: [TextRule: NetworkBuilder.Subnetwork] = [:]
    /// By what their items must be.
    var loops: [[ID]: NetworkBuilder.Subnetwork] = [:]
    private var countedTexts: [ScalarMachine: NetworkBuilder.Subnetwork] = [:]
    var bodies: TextBodies

    /// What a schema was compiled to.
    struct Result: Sendable {
        let network: ByteNetwork
        /// Keywords that were left out, at most `GrammarLimits.droppedKeywords` of them.
        let dropped: [DroppedKeyword]
        let droppedCount: Int
    }

    /// The network of a schema of which nothing is left out.
    static func network(
        of source: [UInt8], _ demand: Demand = Demand(),
        unrolled: Int = GrammarLimits.unrolledCount
    ) throws(GrammarError) -> ByteNetwork {
        try result(of: source, .strict, demand, unrolled: unrolled).network
    }

    /// `unrolled`: up to where a number of characters or items has a state for each of them.
    static func result(
        of source: [UInt8], _ mode: SchemaMode, _ demand: Demand = Demand(),
        unrolled: Int = GrammarLimits.unrolledCount
    ) throws(GrammarError) -> Result {
        try demand.making { () throws(GrammarError) in
            let document = SchemaDocument(try GrammarJSON.read(source))
            var compiler = SchemaCompiler(
                SchemaAlternatives(document, demand, mode: mode), unrolled: unrolled)
            let network = try compiler.network(of: document.whole)
            let drops = compiler.schemas.drops
            return Result(network: network, dropped: drops.keywords, droppedCount: drops.count)
        }
    }

    private init(_ schemas: SchemaAlternatives, unrolled: Int) {
        self.schemas = schemas
        builder = NetworkBuilder(schemas.budget.demand, unrolled: unrolled)
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
        do throws(GrammarError) {
            return try ByteNetwork(builder, document: document, schemas.budget.demand)
        } catch {
            guard case .empty = error, let unwritten else { throw error }
            throw unwritten
        }
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
                try text(shape.text, at: pointer, body, to)
            }
            if shape.meant.contains(.array) { try array(shape.array, from, to) }
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
                    if areDisjoint { continue }
                    // Without its condition it is `anyOf`.
                    try schemas.drops.drop(
                        .overlap(
                            pointer: schemas.document[id].pointer + "/oneOf", first: index,
                            second: other))
                }
            }
        }
    }

    private mutating func number(
        _ bounds: NumberBounds, at pointer: String, _ from: Node, _ to: Node
    ) throws(GrammarError) {
        if let known = numbers[bounds] { return builder.call(from, known, to) }
        try schemas.budget.spend(4 + 2 * (bounds.divisor?.value ?? 0), at: pointer)
        let subnetwork = builder.subnetwork(.text)
        var held = bounds
        while true {
            do throws(NumberFlaw) {
                try builder.number(held, from: subnetwork.start, to: subnetwork.end)
                break
            } catch {
                guard case .bound(let bound) = error else {
                    if !held.isEmpty, !held.isInteger, held.divisor == nil, unwritten == nil {
                        unwritten = .unsupported(pointer: pointer, reason: .digits)
                    }
                    break
                }
                let isMinimum = held.minimum == bound
                let isExclusive = isMinimum ? held.isMinimumExclusive : held.isMaximumExclusive
                let keyword = isMinimum ? "inimum" : "aximum"
                let name = isExclusive ? "exclusiveM" + keyword : "m" + keyword
                let place = schemas.drops.isLenient ? "\(pointer)/\(name)" : pointer
                try schemas.drops.drop(.unsupported(pointer: place, reason: .digits))
                if isMinimum { held.minimum = nil } else { held.maximum = nil }
            }
        }
        numbers[bounds] = subnetwork
        builder.call(from, subnetwork, to)
    }

    /// From behind a string's first quote to behind its last one.
    mutating func text(
        _ rule: TextRule, at pointer: String, _ from: Node, _ to: Node
    ) throws(GrammarError) {
        if rule.isPlain {
            if let most = rule.most, most < rule.least { return }
            return bodies.call(from, least: rule.least, most: rule.most, to, &builder)
        }
        if let known = texts[rule] { return builder.call(from, known, to) }
        let language = try language(of: rule, at: pointer)
        let quote = UInt8(ascii: "\"")
        if language.isCounted {
            guard let range = TickRange(language.least, language.most) else {
                return builder.refuse()
            }
            // Texts of other lengths share it.
            let text =
                countedTexts[language.machine]
                ?? builder.counting(
                    language.machine, escaping: true, closing: quote, sets: &sets)
            countedTexts[language.machine] = text
            return builder.call(from, text, to, range)
        }
        let subnetwork = builder.subnetwork(.text)
        let end = builder.node()
        builder.machine(
            language.machine, from: subnetwork.start, to: end, escaping: true, sets: &sets)
        builder.edge(end, quote, subnetwork.end)
        texts[rule] = subnetwork
        builder.call(from, subnetwork, to)
    }

    /// The language of a rule, or of what is left of it without conditions for which there is no
    /// machine together.
    private func language(
        of rule: TextRule, at pointer: String
    ) throws(GrammarError) -> TextMachines.Language {
        var rule = rule
        while true {
            do throws(GrammarError) {
                return try schemas.machines.language(rule, unrolled: builder.unrolled)
            } catch {
                guard case .tooLarge(.machine, let limit, _) = error, schemas.drops.isLenient
                else { throw error }
                func drop(_ pointer: String) throws(GrammarError) {
                    try schemas.drops.drop(
                        .tooLarge(what: .machine, limit: limit, pointer: pointer))
                }
                if rule.least > 0 || rule.most != nil {
                    if rule.least > 0 { try drop(pointer + "/minLength") }
                    if rule.most != nil { try drop(pointer + "/maxLength") }
                    (rule.least, rule.most) = (0, nil)
                } else if rule.patterns.count + rule.formats.count > 1,
                    let last = rule.patterns.popLast()
                {
                    try drop(last.pointer)
                } else {
                    throw error
                }
            }
        }
    }

    /// At most one space.
    mutating func space(_ from: Node) -> Node {
        let node = builder.node()
        builder.edge(from, UInt8(ascii: " "), node)
        builder.skip(from, node)
        return node
    }
}
