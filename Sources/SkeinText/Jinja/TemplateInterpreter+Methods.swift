/// Methods of texts and mappings, `value.name(arguments)`, as Python has them.
extension TemplateInterpreter {
    /// `value.name(arguments)`
    mutating func call(
        _ name: String, of value: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        switch value {
        case .text(let text) where TemplateVocabulary.textMethods.contains(name):
            try charge(bytes: text.bytes.count)
            return try call(name, of: text, arguments)
        case .mapping(let mapping) where TemplateVocabulary.mappingMethods.contains(name):
            return try call(name, of: mapping, arguments)
        case .mapping where Self.mappingAttributes.contains(name):
            // transformers' sandbox refuses what changes a value.
            throw unsupported("the method \"\(name)\", which changes a dict")
        case .list(let items) where TemplateVocabulary.listMethods.contains(name),
            .tuple(let items) where TemplateVocabulary.listMethods.contains(name):
            return try call(name, of: items, arguments)
        case .list where Self.listChanges.contains(name):
            throw unsupported("the method \"\(name)\", which changes a list")
        case .loop(let loop) where TemplateVocabulary.loopMethods.contains(name):
            return try call(name, of: loop, arguments)
        default:
            return try call(try attribute(name, of: value), arguments)
        }
    }

    private static let listChanges: Set<String> = [
        "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort",
    ]

    private mutating func call(
        _ name: String, of items: TemplateCollection, _ arguments: Arguments
    ) throws -> TemplateValue {
        if name == "copy" { return .list(items) }
        let wanted = try bind(arguments, [], "\(name)()", positionalOnly: 1, required: 1)[0]
        var count = 0
        for (index, item) in items.items.enumerated() where try equals(item, wanted ?? .none) {
            if name == "index" { return .integer(index) }
            count += 1
        }
        if name == "index" { throw fault(.arguments(function: "index()")) }
        return .integer(count)
    }

    private mutating func call(
        _ name: String, of loop: TemplateLoop, _ arguments: Arguments
    ) throws -> TemplateValue {
        let values = arguments.positional
        if name == "cycle" {
            guard !values.isEmpty else { throw fault(.arguments(function: "loop.cycle()")) }
            if loop.reversedPlace != nil { throw SharedTemplateRun.Flaw.notShared }
            return values[loop.index0 % values.count]
        }
        // What it was called with last is not the same in all variants.
        if loop.reversedPlace != nil { throw SharedTemplateRun.Flaw.notShared }
        // Another run's copy of a namespace or a generator is another one.
        if needsCopy, values.contains(where: \.isReference) {
            throw SharedTemplateRun.Flaw.notShared
        }
        let last = loop.lastChanged
        loop.lastChanged = values
        guard let last, last.count == values.count else { return .bool(true) }
        for (one, other) in zip(last, values) where try !equals(one, other) { return .bool(true) }
        return .bool(false)
    }

    private mutating func call(
        _ name: String, of text: TemplateText, _ arguments: Arguments
    ) throws -> TemplateValue {
        switch name {
        case "strip", "lstrip", "rstrip":
            let characters = try bind(arguments, [], "\(name)()", positionalOnly: 1)[0]
            let sides: TemplateText.Sides =
                name == "strip" ? .both : name == "lstrip" ? .left : .right
            return .text(try strip(text, sides, characters, for: name))
        case "startswith", "endswith":
            let affix = try bind(arguments, [], "\(name)()", positionalOnly: 1, required: 1)[0]
            return .bool(try hasAffix(text, affix ?? .none, isPrefix: name == "startswith"))
        case "split":
            return try split(text, arguments)
        case "upper", "lower", "capitalize", "title":
            _ = try bind(arguments, [], "\(name)()")
            return .text(try recased(text, name))
        case "format":
            return .text(try formatted(text, arguments))
        default:
            return try callMore(name, of: text, arguments)
        }
    }

    /// `text` without `characters` at its `sides`; without white space if `characters` is none.
    mutating func strip(
        _ text: TemplateText, _ sides: TemplateText.Sides, _ characters: TemplateValue?,
        for function: String
    ) throws -> TemplateText {
        let characters = try optionalText(characters, for: function)
        try charge(bytes: text.bytes.count)
        try charge(characters?.bytes.count ?? 0)
        return text.stripped(sides, characters: characters)
    }

    /// `text` in upper or lower case. Unicode's mappings are slow, so each byte costs a step.
    mutating func recased(_ text: TemplateText, _ name: String) throws -> TemplateText {
        try charge(text.bytes.count)
        let result =
            switch name {
            case "upper": text.uppercased()
            case "lower": text.lowercased()
            case "capitalize": text.capitalized()
            default: text.titled()
            }
        return result.marked(text.isMarkup)
    }

    /// The text in an optional argument; nil when it is none or absent.
    func optionalText(_ value: TemplateValue?, for function: String) throws -> TemplateText? {
        switch value {
        case nil, .some(.none): return nil
        case .text(let text): return text
        case .some(let other): throw fault(.operand(function: function, type: other.typeName))
        }
    }

    /// `startswith` and `endswith` take a text or a tuple of texts.
    private mutating func hasAffix(
        _ text: TemplateText, _ affix: TemplateValue, isPrefix: Bool
    ) throws -> Bool {
        let candidates: [TemplateValue]
        if case .tuple(let tuple) = affix { candidates = tuple.items } else { candidates = [affix] }
        for candidate in candidates {
            guard case .text(let part) = candidate else {
                let function = isPrefix ? "startswith" : "endswith"
                throw fault(.operand(function: function, type: candidate.typeName))
            }
            try charge(bytes: part.bytes.count)
            if isPrefix ? text.hasPrefix(part) : text.hasSuffix(part) { return true }
        }
        return false
    }

    private mutating func split(
        _ text: TemplateText, _ arguments: Arguments
    ) throws -> TemplateValue {
        let bound = try bind(arguments, ["sep", "maxsplit"], "split()")
        let separator = try optionalText(bound[0], for: "split")
        // More cuts than a list may have items are not made: `collection` would refuse them.
        var limit = TemplateLimits.items
        if let value = bound[1] {
            guard let number = value.number else {
                throw fault(.operand(function: "split", type: value.typeName))
            }
            if number >= 0 { limit = min(limit, number) }
        }
        if separator?.isEmpty == true { throw fault(.emptySeparator) }
        try charge(separator?.bytes.count ?? 0)
        let parts =
            separator.map { text.split(separator: $0, limit: limit) }
            ?? text.splitAtSpace(limit: limit)
        return .list(try collection(parts.map { .text(text.slice($0)) }))
    }

    private mutating func call(
        _ name: String, of mapping: TemplateMapping, _ arguments: Arguments
    ) throws -> TemplateValue {
        if name == "get" {
            let bound = try bind(arguments, [], "get()", positionalOnly: 2, required: 1)
            guard let key = bound[0].flatMap({ TemplateMapping.key(of: $0) }) else {
                return bound[1] ?? .none
            }
            return try lookUp(key, in: mapping) ?? bound[1] ?? .none
        }
        _ = try bind(arguments, [], "\(name)()")
        if name == "copy" { return .mapping(mapping) }
        switch name {
        case "keys": return try view(mapping.keyValues)
        case "values": return try view(mapping.values)
        default: return try view(try pairs(of: mapping))
        }
    }

    /// The `(key, value)` tuples of a mapping.
    mutating func pairs(of mapping: TemplateMapping) throws -> [TemplateValue] {
        var pairs: [TemplateValue] = []
        for (key, value) in zip(mapping.keyValues, mapping.values) {
            pairs.append(.tuple(try collection([key, value])))
        }
        return pairs
    }

    private mutating func view(_ items: [TemplateValue]) throws -> TemplateValue {
        .iterator(TemplateIterator(try collection(items).items, isView: true))
    }
}
