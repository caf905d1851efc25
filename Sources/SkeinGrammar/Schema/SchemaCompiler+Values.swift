import SkeinJSON

/// Values that are listed: `enum` and `const`.
extension SchemaCompiler {
    /// Writes those values that satisfy the rest of their schema.
    mutating func write(
        _ values: [JSONValue], of shape: ValueShape, _ from: Node, _ to: Node
    ) throws(GrammarError) {
        let check = SchemaCheck(schemas: schemas)
        var words = WordTrie(from)
        for value in values where try check.accepts(value, shape) {
            switch value {
            case .list, .object: literal(value, from, to)
            default: words.insert(Array(word(value).utf8), to, &builder)
            }
        }
    }

    /// A value that has no parts, as it is written: a number without an exponent where that is short.
    private func word(_ value: JSONValue) -> String {
        guard case .number(let text) = value, let number = ExactDecimal(json: text),
            number.isPlain
        else { return value.written }
        return number.description
    }

    /// One value with its optional spaces.
    mutating func literal(_ value: JSONValue, _ from: Node, _ to: Node) {
        func sequence<Item>(
            _ items: [Item], _ marks: String,
            _ write: (inout SchemaCompiler, Item, Node, Node) -> Void
        ) {
            let marks = Array(marks.utf8)
            var here = builder.node()
            builder.edge(from, marks[0], here)
            for (index, item) in items.enumerated() {
                if index > 0 {
                    let comma = builder.node()
                    builder.edge(here, UInt8(ascii: ","), comma)
                    here = space(comma)
                }
                let next = builder.node()
                write(&self, item, here, next)
                here = next
            }
            builder.edge(here, marks[1], to)
        }
        switch value {
        case .list(let items): sequence(items, "[]") { $0.literal($1, $2, $3) }
        case .object(let fields):
            sequence(fields, "{}") { compiler, field, from, to in
                let key = compiler.builder.node()
                compiler.builder.text(from, (JSONValue.quoted(field.name) + ":").utf8, key)
                compiler.literal(field.value, compiler.space(key), to)
            }
        default: builder.text(from, word(value).utf8, to)
        }
    }
}

/// Words that share their beginnings.
private struct WordTrie {
    private struct Step: Hashable {
        var node: NetworkBuilder.Node
        var byte: UInt8
    }

    private let root: NetworkBuilder.Node
    private var steps: [Step: NetworkBuilder.Node] = [:]

    init(_ root: NetworkBuilder.Node) {
        self.root = root
    }

    /// Adds a word, which is not empty.
    mutating func insert(
        _ word: [UInt8], _ end: NetworkBuilder.Node, _ builder: inout NetworkBuilder
    ) {
        var here = root
        for byte in word.dropLast() {
            let step = Step(node: here, byte: byte)
            if let next = steps[step] {
                here = next
            } else {
                let next = builder.node()
                builder.edge(here, byte, next)
                steps[step] = next
                here = next
            }
        }
        if let last = word.last { builder.edge(here, last, end) }
    }
}
