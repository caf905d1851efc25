import SkeinJSON

/// Arrays and objects.
extension SchemaCompiler {
    mutating func array(_ shape: ValueShape.ArrayShape, _ from: Node, _ to: Node) {
        // Items after the listed ones are only written if something says what they are, or if there
        // must be some.
        var most = shape.most
        if !shape.statesRest, !shape.prefix.isEmpty {
            most = min(most ?? .max, max(shape.prefix.count, shape.least))
        }
        if let most, most < shape.least { return }
        let open = builder.node()
        builder.edge(from, UInt8(ascii: "["), open)
        if shape.least == 0 { builder.edge(open, UInt8(ascii: "]"), to) }
        if most == 0 { return }
        // From here on, one more item is like the one before.
        let alike = max(shape.prefix.count + 1, shape.least, 1)
        var next = open
        var index = 0
        while !builder.isTooLarge {
            let after = builder.node()
            call(next, shape.schemas(at: index), after)
            index += 1
            if index >= shape.least { builder.edge(after, UInt8(ascii: "]"), to) }
            if let most, index >= most { return }
            let comma = builder.node()
            builder.edge(after, UInt8(ascii: ","), comma)
            next = space(comma)
            if most == nil, index >= alike {
                call(next, shape.rest, after)
                return
            }
        }
    }

    /// Two tracks run side by side: nothing is written yet, and something is, so that the next
    /// property needs a comma. Leaving out an optional property keeps the track.
    mutating func object(
        _ shape: ValueShape.ObjectShape, of alternative: SchemaAlternatives.Alternative,
        _ from: Node, _ to: Node
    ) throws(GrammarError) {
        try checkCounts(shape)
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
        if shape.writesAdditional, let additional = shape.additional {
            let written = builder.node()
            let key = builder.node()
            if let nothing { builder.edge(nothing, UInt8(ascii: "\""), key) }
            if let something { builder.skip(something, written) }
            builder.edge(comma(after: written), UInt8(ascii: "\""), key)
            var names = TextRule()
            names.excluded = shape.properties.map { $0.name.unicodeScalars.map(\.value) }
            let colon = builder.node()
            try text(names, key, colon)
            value(after: colon, additional, written)
            something = written
        }
        for node in [nothing, something] {
            if let node { builder.edge(node, UInt8(ascii: "}"), to) }
        }
    }

    private mutating func comma(after node: Node) -> Node {
        let comma = builder.node()
        builder.edge(node, UInt8(ascii: ","), comma)
        return space(comma)
    }

    private mutating func value(after key: Node, _ schemas: [ID], _ to: Node) {
        let colon = builder.node()
        builder.edge(key, UInt8(ascii: ":"), colon)
        call(space(colon), schemas, to)
    }

    /// The number of properties is not counted: it must follow from the rest.
    private func checkCounts(_ shape: ValueShape.ObjectShape) throws(GrammarError) {
        let required = shape.properties.count(where: \.isRequired)
        let most = shape.writesAdditional ? Int.max : shape.properties.count
        guard shape.least <= required, most <= shape.most ?? .max else {
            throw .unsupported(pointer: shape.countPointer, reason: .keyword)
        }
    }
}
