import SkeinJSON

/// Lists.
extension SchemaCompiler {
    mutating func array(
        _ shape: ValueShape.ArrayShape, _ from: Node, _ to: Node
    ) throws(GrammarError) {
        // Items after the listed ones are only written if something says what they are, or if there
        // must be some.
        var most = shape.most
        if !shape.statesRest, !shape.prefix.isEmpty {
            most = min(most ?? .max, max(shape.prefix.count, shape.least))
        }
        if let most, most < shape.least { return }
        if let pointer = shape.uniquePointer, most ?? .max > 1 {
            if try uniqueItems(shape, from, to) { return }
            try schemas.drops.drop(.unsupported(pointer: pointer, reason: .keyword))
        }
        let open = builder.node()
        builder.edge(from, UInt8(ascii: "["), open)
        if shape.least == 0 { builder.edge(open, UInt8(ascii: "]"), to) }
        if most == 0 { return }
        // From here on, one more item is like the one before.
        let alike = max(shape.prefix.count + 1, shape.least, 1)
        let counted = max(most ?? 0, shape.least) - shape.prefix.count > builder.unrolled
        var next = open
        var index = 0
        while !builder.isTooLarge {
            let after = builder.node()
            call(next, shape.schemas(at: index), after)
            index += 1
            if index >= shape.least { builder.edge(after, UInt8(ascii: "]"), to) }
            if let most, index >= most { return }
            if counted, index > shape.prefix.count {
                let end = builder.node()
                builder.edge(end, UInt8(ascii: "]"), to)
                return further(
                    shape.rest, after, end, least: max(1, shape.least - index),
                    most: most.map { $0 - index })
            }
            let comma = builder.node()
            builder.edge(after, UInt8(ascii: ","), comma)
            next = space(comma)
            if most == nil, index >= alike {
                call(next, shape.rest, after)
                return
            }
        }
    }

    /// From one node to another by more items like the ones before.
    private mutating func further(
        _ ids: [ID], _ from: Node, _ to: Node, least: Int, most: Int?
    ) {
        guard let range = TickRange(least, most) else { return builder.refuse() }
        let loop: NetworkBuilder.Subnetwork
        if let known = loops[ids] {
            loop = known
        } else {
            let round = builder.subnetwork(.text)
            let comma = builder.node()
            builder.edge(round.start, UInt8(ascii: ","), comma)
            call(space(comma), ids, round.end)
            loop = builder.loop(round)
            loops[ids] = loop
        }
        builder.call(from, loop, to, range)
    }

    /// A list in which each of a few values comes at most once: a state for each set of them.
    ///
    /// - Returns: false, and nothing is written, if its items may be others.
    private mutating func uniqueItems(
        _ shape: ValueShape.ArrayShape, _ from: Node, _ to: Node
    ) throws(GrammarError) -> Bool {
        guard shape.prefix.isEmpty, let values = try fewValues(of: shape.rest) else { return false }
        let items = values.map { value in
            let item = builder.subnetwork(.text)
            literal(value, item.start, item.end)
            return item
        }
        let most = min(shape.most ?? .max, items.count)
        let nodes = (0..<1 << items.count).map { _ in builder.node() }
        builder.edge(from, UInt8(ascii: "["), nodes[0])
        for (written, node) in nodes.enumerated() where written.nonzeroBitCount <= most {
            if written.nonzeroBitCount >= shape.least { builder.edge(node, UInt8(ascii: "]"), to) }
            if written.nonzeroBitCount == most { continue }
            let next = written == 0 ? node : comma(after: node)
            for (index, item) in items.enumerated() where written >> index & 1 == 0 {
                builder.call(next, item, nodes[written | 1 << index])
            }
        }
        return true
    }

    /// All values that satisfy schemas, if they are `GrammarLimits.uniqueValues` at most.
    private func fewValues(of ids: [ID]) throws(GrammarError) -> [JSONValue]? {
        var found: [JSONValue] = []
        let check = SchemaCheck(schemas: schemas)
        for alternative in try schemas.alternatives(of: ids) {
            let shape = try ValueShape(alternative, schemas)
            var values = shape.values?.values ?? []
            if shape.values == nil {
                guard shape.meant.isSubset(of: [.null, .boolean]) else { return nil }
                if shape.meant.contains(.boolean) { values = [.bool(true), .bool(false)] }
                if shape.meant.contains(.null) { values.append(.null) }
            }
            for value in values where try check.accepts(value, shape) { found.append(value) }
        }
        let different = ListedValues(found).values
        return different.count <= GrammarLimits.uniqueValues ? different : nil
    }
}
