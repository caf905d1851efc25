/// The schema of a Parquet file: columns as trees, and their leaves, which the file stores.
struct Schema {
    /// What is needed of a leaf to read its levels and values.
    struct Leaf {
        let physical: SchemaElement.Physical
        let mostDefinition: Int
        let mostRepetition: Int
    }

    private(set) var columns: [SchemaNode] = []
    private(set) var leaves: [Leaf] = []

    /// - Parameters:
    ///   - elements: as the file has them; the first is the root.
    ///   - reader: of the footer, for problems.
    /// - Throws: `TableProblem.damaged`, `.tooManyColumns`, `.tooLarge`, `.sameName`, `.emptyName`.
    init(
        _ elements: [SchemaElement], _ reader: ThriftReader
    ) throws(TableProblem) {
        guard let root = elements.first, root.physical == nil, root.children > 0 else {
            throw reader.damaged("has a schema without columns")
        }
        guard root.children <= Limits.columns else { throw .tooManyColumns(limit: Limits.columns) }
        var builder = Builder(elements: elements, reader: reader)
        // By UTF-8: two names that are one to Swift are two columns.
        var places: [[UInt8]: Int] = [:]
        for column in 1...root.children {
            let node = try builder.node(Levels(definition: 0, repetition: 0, depth: 1))
            guard !node.name.isEmpty else { throw .emptyName(column: column) }
            if let other = places.updateValue(column, forKey: Array(node.name.utf8)) {
                throw .sameName(node.name, columns: [other, column])
            }
            columns.append(node)
        }
        guard builder.next == elements.count else {
            throw reader.damaged("has a schema with too many elements")
        }
        leaves = builder.leaves
    }

    /// Levels of the element above.
    private struct Levels {
        var definition: Int
        var repetition: Int
        var depth: Int
    }

    private struct Builder {
        let elements: [SchemaElement]
        let reader: ThriftReader
        var next = 1
        var leaves: [Leaf] = []

        func damaged(_ problem: String) -> TableProblem { reader.damaged(problem) }

        /// Takes the next element.
        mutating func take(_ levels: Levels) throws(TableProblem) -> SchemaElement {
            guard next < elements.count else { throw damaged("has a schema with too few elements") }
            guard levels.depth <= Limits.schemaDepth else {
                throw .tooLarge(
                    part: "levels of the schema", limit: Limits.schemaDepth, found: levels.depth)
            }
            defer { next += 1 }
            return elements[next]
        }

        /// The next element and all beneath it.
        mutating func node(_ above: Levels) throws(TableProblem) -> SchemaNode {
            let element = try take(above)
            guard element.repetition == .repeated else {
                var levels = above
                if element.repetition == .optional { levels.definition += 1 }
                return try value(element, levels)
            }
            // Without a list around it: a list that is never null.
            return try list(named: element.name, present: above.definition, of: element, above)
        }

        /// A list of the repeated element that was taken, each of which is a value.
        mutating func list(
            named name: String, present: Int, of element: SchemaElement, _ above: Levels
        ) throws(TableProblem) -> SchemaNode {
            let levels = inside(above)
            let first = leaves.count
            let value = try value(element, levels)
            return SchemaNode(
                name: name, present: present, leaves: first..<leaves.count,
                kind: .list(
                    element: value, filled: levels.definition, repetition: levels.repetition))
        }

        func inside(_ above: Levels) -> Levels {
            Levels(
                definition: above.definition + 1, repetition: above.repetition + 1,
                depth: above.depth + 1)
        }

        /// A value whose element was taken, with its own levels.
        mutating func value(
            _ element: SchemaElement, _ levels: Levels
        ) throws(TableProblem) -> SchemaNode {
            let first = leaves.count
            let kind: SchemaNode.Kind
            if let physical = element.physical {
                guard element.children == 0 else { throw damaged("has a leaf with children") }
                leaves.append(
                    Leaf(
                        physical: physical, mostDefinition: levels.definition,
                        mostRepetition: levels.repetition))
                kind = leaf(physical, element.meaning)
            } else if element.meaning == .list {
                kind = try listGroup(element, levels)
            } else {
                let fields = try fields(element, levels)
                switch element.meaning {
                case .none: kind = .structure(fields)
                case .map: kind = .refused("MAP")
                case .other(let name): kind = .refused(name)
                default: throw damaged("has a group with the annotation of a leaf")
                }
            }
            return SchemaNode(
                name: element.name, present: levels.definition, leaves: first..<leaves.count,
                kind: kind)
        }

        mutating func fields(
            _ element: SchemaElement, _ levels: Levels
        ) throws(TableProblem) -> [SchemaNode] {
            guard (1...Limits.columns).contains(element.children) else {
                throw damaged("has a group of \(element.children) fields")
            }
            var below = levels
            below.depth += 1
            var fields: [SchemaNode] = []
            for _ in 0..<element.children { fields.append(try node(below)) }
            return fields
        }

        /// The group of a list: with one repeated child, which is the element itself or a group around it.
        ///
        /// Logical Types of apache/parquet-format, "Lists" and its rules for old files.
        mutating func listGroup(
            _ element: SchemaElement, _ levels: Levels
        ) throws(TableProblem) -> SchemaNode.Kind {
            var below = levels
            below.depth += 1
            guard element.children == 1 else { throw damaged("has a list of more than one child") }
            let child = try take(below)
            guard child.repetition == .repeated else {
                throw damaged("has a list that is not repeated")
            }
            let isElement =
                child.physical != nil || child.children != 1 || child.meaning == .list
                || child.name == "array" || child.name == element.name + "_tuple"
            let inside = inside(below)
            let node: SchemaNode
            if isElement {
                node = try value(child, inside)
            } else if next < elements.count, elements[next].repetition == .repeated {
                // The group's one field is a list of its own: the group is the element.
                node = try value(child, inside)
            } else {
                node = try self.node(inside)
            }
            return .list(
                element: node, filled: inside.definition, repetition: inside.repetition)
        }

        func leaf(
            _ physical: SchemaElement.Physical, _ meaning: SchemaElement.Meaning
        ) -> SchemaNode.Kind {
            if case .other(let name) = meaning { return .refused(name) }
            let isSigned = meaning != .integer(signed: false)
            switch physical {
            case .boolean: return .leaf(.boolean)
            case .int32: return .leaf(.int32(signed: isSigned))
            case .int64: return .leaf(.int64(signed: isSigned))
            case .int96: return .refused("INT96")
            case .float: return .leaf(.float)
            case .double: return .leaf(.double)
            case .bytes: return .leaf(meaning == .json ? .json : .text)
            case .fixedBytes: return .refused("FIXED_LEN_BYTE_ARRAY")
            }
        }
    }
}
