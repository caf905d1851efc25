import SkeinJSON

/// Objects.
extension SchemaCompiler {
    /// How many properties that are not declared are written.
    private struct Count {
        var least: Int
        var most: Int?
    }

    /// Two tracks run side by side: nothing is written yet, and something is, so that the next
    /// property needs a comma. Leaving out an optional property keeps the track.
    mutating func object(
        _ shape: ObjectShape, of alternative: SchemaAlternatives.Alternative,
        _ from: Node, _ to: Node
    ) throws(GrammarError) {
        let others = try shape.others(schemas)
        guard let count = try count(of: shape, hasOthers: !others.isEmpty) else { return }
        let open = builder.node()
        builder.edge(from, UInt8(ascii: "{"), open)
        var nothing: Node? = open
        var something: Node?
        for property in shape.properties {
            let isImpossible = property.schemas == [SchemaDocument.nothing]
            if isImpossible && !property.isRequired { continue }
            let written = builder.node()
            let key = builder.node()
            if let nothing { builder.edge(nothing, UInt8(ascii: "\""), key) }
            if let something { builder.edge(comma(after: something), UInt8(ascii: "\""), key) }
            let colon = builder.node()
            builder.text(key, JSONValue.quoted(property.name).utf8.dropFirst(), colon)
            value(after: colon, property.schemas, written)
            if property.isRequired {
                nothing = nil
            } else if let something {
                builder.skip(something, written)
            }
            something = written
        }
        if !others.isEmpty, count.most ?? 1 > 0 {
            let pair = builder.subnetwork(.text)
            let key = builder.node()
            builder.edge(pair.start, UInt8(ascii: "\""), key)
            for other in others {
                let colon = builder.node()
                try name(other.pattern, of: shape, alternative, key, colon)
                value(after: colon, other.schemas, pair.end)
            }
            let written = builder.node()
            if let nothing { pairs(pair, nothing, isFirst: true, count, written) }
            if let something { pairs(pair, something, isFirst: false, count, written) }
            if count.least > 0 { nothing = nil }
            something = written
        }
        for node in [nothing, something] {
            if let node { builder.edge(node, UInt8(ascii: "}"), to) }
        }
    }

    mutating func comma(after node: Node) -> Node {
        let comma = builder.node()
        builder.edge(node, UInt8(ascii: ","), comma)
        return space(comma)
    }

    private mutating func value(after key: Node, _ schemas: [ID], _ to: Node) {
        let colon = builder.node()
        builder.edge(key, UInt8(ascii: ":"), colon)
        call(space(colon), schemas, to)
    }

    /// From one node to another by as many pairs as there may be.
    private mutating func pairs(
        _ pair: NetworkBuilder.Subnetwork, _ from: Node, isFirst: Bool, _ count: Count, _ to: Node
    ) {
        if count.least == 0, !isFirst { builder.skip(from, to) }
        guard let most = count.most else {
            builder.call(isFirst ? from : comma(after: from), pair, to)
            return builder.call(comma(after: to), pair, to)
        }
        let first = builder.node()
        builder.call(isFirst ? from : comma(after: from), pair, first)
        builder.skip(first, to)
        guard most > 1 else { return }
        guard most > builder.unrolled else {
            var here = first
            var count = 1
            // Also if they are wanted no longer.
            while count < most, !builder.isTooLarge {
                let next = builder.node()
                builder.call(comma(after: here), pair, next)
                builder.skip(next, to)
                here = next
                count += 1
            }
            return
        }
        guard let range = TickRange(1, most - 1) else { return builder.refuse() }
        let round = builder.subnetwork(.text)
        builder.call(comma(after: round.start), pair, round.end)
        builder.call(first, builder.loop(round), to, range)
    }

    /// The rest of a name that is not declared, from behind its first quote.
    private mutating func name(
        _ pattern: TextRule.Pattern?, of shape: ObjectShape,
        _ alternative: SchemaAlternatives.Alternative, _ from: Node, _ to: Node
    ) throws(GrammarError) {
        func rule(_ rule: TextRule) -> TextRule {
            var rule = rule
            rule.excluded = shape.properties.map { $0.name.unicodeScalars.map(\.value) }
            if let pattern, !rule.patterns.contains(pattern) { rule.patterns.append(pattern) }
            return rule
        }
        let pointer = alternative.last.map { schemas.document[$0].pointer } ?? ""
        if shape.names.isEmpty { return try text(rule(TextRule()), at: pointer, from, to) }
        let place = shape.names.first.map { schemas.document[$0].pointer } ?? pointer
        for names in try schemas.alternatives(of: shape.names) {
            let allowed = try ValueShape(names, schemas)
            guard let values = allowed.values else {
                if allowed.types.contains(.string) {
                    try text(rule(allowed.text), at: place, from, to)
                }
                continue
            }
            for case .text(let name) in values.values {
                guard try SchemaCheck(schemas: schemas).accepts(.text(name), allowed),
                    try schemas.machines.accepts(name, rule(TextRule())),
                    !shape.properties.contains(where: { $0.name.isSame(as: name) })
                else { continue }
                builder.text(from, JSONValue.quoted(name).utf8.dropFirst(), to)
            }
        }
    }

    /// The number of properties that are not declared, so that all together are as many as there may be.
    /// A name may come twice, so more than one of them cannot be asked for.
    ///
    /// nil: no object satisfies it.
    private func count(
        of shape: ObjectShape, hasOthers: Bool
    ) throws(GrammarError) -> Count? {
        let required = shape.properties.count(where: \.isRequired)
        let declared = shape.properties.count {
            $0.isRequired || $0.schemas != [SchemaDocument.nothing]
        }
        var count = Count(least: 0, most: nil)
        if shape.least > required {
            if hasOthers, declared == required { count.least = 1 }
            if shape.least > required + count.least {
                try schemas.drops.drop(
                    .unsupported(pointer: shape.leastPointer, reason: .keyword))
            }
        }
        if let most = shape.most {
            if most < required { return nil }
            if most < declared {
                try schemas.drops.drop(
                    .unsupported(pointer: shape.mostPointer, reason: .keyword))
            } else {
                count.most = most - declared
            }
        }
        return count.least > count.most ?? .max ? nil : count
    }
}
