/// Filters, `value|name(arguments)`, as jinja2/filters.py (3.1.6) has them.
extension TemplateInterpreter {
    mutating func filter(
        _ name: String, _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        switch name {
        case "trim":
            let characters = try bind(arguments, ["chars"], name)[0]
            return .text(try strip(try text(of: value), .both, characters, for: name))
        case "string", "upper", "lower", "safe", "capitalize":
            _ = try bind(arguments, [], name)
            let text = try text(of: value)
            if name == "string" { return .text(text) }
            return .text(name == "safe" ? text.marked(true) : try recased(text, name))
        case "length", "count":
            _ = try bind(arguments, [], name)
            return .integer(try length(of: value))
        case "join":
            return try join(value, arguments)
        case "default", "d":
            return try defaulted(value, arguments)
        case "first", "last":
            _ = try bind(arguments, [], name)
            return try end(of: value, isFirst: name == "first")
        case "list":
            _ = try bind(arguments, [], name)
            return .list(try collection(try items(of: value)))
        case "items":
            _ = try bind(arguments, [], name)
            return try pairs(value)
        case "select", "reject":
            return try select(value, arguments, keeps: name == "select", attribute: nil)
        case "selectattr", "rejectattr":
            return try selectByAttribute(value, arguments, keeps: name == "selectattr")
        case "tojson":
            return try toJSON(value, arguments)
        default:
            return try filterMore(name, value, arguments)
        }
    }

    private mutating func length(of value: TemplateValue) throws -> Int {
        switch value {
        case .undefined: return 0
        case .text(let text):
            try charge(bytes: text.bytes.count)
            return UTF8Scalars.count(text.bytes)
        case .list(let collection), .tuple(let collection): return collection.items.count
        case .mapping(let mapping): return mapping.keys.count
        case .iterator(let iterator) where iterator.isView: return iterator.items.count
        case .loop(let loop): return try length(of: loop)
        default: throw fault(.operand(function: "length", type: value.typeName))
        }
    }

    private mutating func join(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        let bound = try bind(arguments, ["d", "attribute"], "join")
        let attribute = try optionalText(bound[1], for: "join")
        let separator = try text(of: bound[0] ?? .text(TemplateText()))
        var result = TemplateText()
        for (index, item) in try items(of: value).enumerated() {
            if index > 0 { try append(separator, to: &result) }
            let part = try attribute.map { try descend($0, into: item) } ?? item
            try append(try text(of: part), to: &result)
        }
        return .text(result)
    }

    private func defaulted(
        _ value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        let bound = try bind(arguments, ["default_value", "boolean"], "default")
        let replacement = bound[0] ?? .text(TemplateText())
        if case .undefined = value { return replacement }
        return bound[1]?.isTrue == true && !value.isTrue ? replacement : value
    }

    private mutating func end(of value: TemplateValue, isFirst: Bool) throws -> TemplateValue {
        let nothing = TemplateValue.undefined(
            hint: "No \(isFirst ? "first" : "last") item, sequence was empty.")
        switch value {
        case .text(let text):
            if text.isEmpty { return nothing }
            // The first one is taken as a loop would, the last one by its index.
            if isFirst {
                let end = UTF8Scalars.length(lead: text.bytes[0])
                return .text(text.slice(0..<end).marked(false))
            }
            let start = UTF8Scalars.start(before: text.bytes.count, in: text.bytes)
            return .text(text.slice(start..<text.bytes.count))
        case .iterator(let iterator) where isFirst:
            return iterator.next() ?? nothing
        case .iterator(let iterator) where !iterator.isView:
            throw fault(.operand(function: "last", type: value.typeName))
        default:
            let items = try items(of: value)
            return (isFirst ? items.first : items.last) ?? nothing
        }
    }

    private mutating func pairs(_ value: TemplateValue) throws -> TemplateValue {
        switch value {
        case .undefined: return generator([])
        case .mapping(let mapping): return generator(try pairs(of: mapping))
        default: throw fault(.operand(function: "items", type: value.typeName))
        }
    }

    func generator(_ items: [TemplateValue]) -> TemplateValue {
        .iterator(TemplateIterator(items, isView: false))
    }

    /// The items whose test has the wanted result; without a test, their truth.
    private mutating func select(
        _ value: TemplateValue, _ arguments: Arguments, keeps wanted: Bool, attribute: TemplateText?
    ) throws -> TemplateValue {
        var testArguments = arguments.positional[...]
        var testName: String?
        if let first = testArguments.popFirst() {
            guard case .text(let name) = first, TemplateVocabulary.tests.contains(name.string)
            else { throw unsupported("a test that is not known by name") }
            testName = name.string
        }
        guard arguments.keywords.isEmpty else { throw fault(.arguments(function: "select")) }
        guard value.isTrue else { return generator([]) }
        var kept: [TemplateValue] = []
        for item in try items(of: value) {
            let subject = try attribute.map { try descend($0, into: item) } ?? item
            let passes =
                try testName.map { try test($0, subject, Array(testArguments)) } ?? subject.isTrue
            if passes == wanted { kept.append(item) }
        }
        return generator(kept)
    }

    private mutating func selectByAttribute(
        _ value: TemplateValue, _ arguments: Arguments, keeps wanted: Bool
    ) throws -> TemplateValue {
        guard case .text(let attribute)? = arguments.positional.first else {
            throw fault(.arguments(function: wanted ? "selectattr" : "rejectattr"))
        }
        var rest = arguments
        rest.positional.removeFirst()
        return try select(value, rest, keeps: wanted, attribute: attribute)
    }

    /// `a.b.0` as a path of items.
    mutating func descend(
        _ path: TemplateText, into value: TemplateValue
    ) throws -> TemplateValue {
        var value = value
        for range in path.split(separator: TemplateText("."), limit: TemplateLimits.items) {
            let part = path.slice(range)
            let isNumber = !part.isEmpty && part.bytes.allSatisfy(\.isDigit)
            let index = isNumber ? Int(part.string) : nil
            // What a namespace or a loop holds may differ from variant to variant.
            value = try concrete(item(index.map { .integer($0) } ?? .text(part), of: value))
        }
        return value
    }
}
