/// Attributes, items, slices and methods.
extension TemplateInterpreter {
    /// `value.name`: in Jinja2 an attribute of the object first, then the item of this name.
    mutating func attribute(_ name: String, of value: TemplateValue) throws -> TemplateValue {
        switch value {
        case .undefined(let hint):
            throw undefined(hint)
        case .mapping(let mapping):
            try refuseMethod(name, of: value)
            if let found = try lookUp(TemplateText(name), in: mapping) { return found }
        case .namespace(let namespace):
            if let found = namespace.attributes[name] { return found }
        case .loop(let loop):
            if let found = try attribute(name, of: loop) { return found }
        default:
            try refuseMethod(name, of: value)
        }
        return .undefined(
            hint: "'\(Self.objectName(of: value))' has no attribute '\(quoted(name))'")
    }

    /// `value[key]`: the item first, then the attribute of this name. What is not there is undefined.
    mutating func item(_ key: TemplateValue, of value: TemplateValue) throws -> TemplateValue {
        if case .undefined(let hint) = value { throw undefined(hint) }
        if case .text(let text) = key {
            if case .mapping(let mapping) = value, let found = try lookUp(text, in: mapping) {
                return found
            }
            return try attribute(text.string, of: value)
        }
        guard let index = key.number else {
            return .undefined(hint: "\(Self.objectName(of: value)) has no such element")
        }
        switch value {
        case .list(let collection), .tuple(let collection):
            let count = collection.items.count
            if index >= 0 ? index < count : index >= -count {
                return collection.items[index < 0 ? index + count : index]
            }
        case .text(let text):
            try charge(bytes: text.bytes.count)
            let ranges = text.scalarRanges
            if index >= 0 ? index < ranges.count : index >= -ranges.count {
                return .text(text.slice(ranges[index < 0 ? index + ranges.count : index]))
            }
        default: break
        }
        return .undefined(hint: "\(Self.objectName(of: value)) has no element \(index)")
    }

    /// `value[from:to:step]` of a text, list or tuple.
    mutating func slice(
        _ value: TemplateValue, from: Int?, to: Int?, step: Int
    ) throws -> TemplateValue {
        switch value {
        case .undefined(let hint):
            throw undefined(hint)
        case .text(let text):
            try charge(bytes: text.bytes.count)
            let ranges = text.scalarRanges
            guard let indices = Self.indices(count: ranges.count, from, to, step) else {
                throw fault(.zeroSliceStep)
            }
            if step == 1, let first = indices.first, let last = indices.last {
                return .text(text.slice(ranges[first].lowerBound..<ranges[last].upperBound))
            }
            try charge(indices.count)
            var result = TemplateText()
            for index in indices { result.append(text.slice(ranges[index])) }
            return .text(result)
        case .list(let items):
            return .list(try slice(items, from, to, step))
        case .tuple(let items):
            return .tuple(try slice(items, from, to, step))
        default:
            throw fault(.operand(function: "a slice", type: value.typeName))
        }
    }

    private mutating func slice(
        _ items: TemplateCollection, _ from: Int?, _ to: Int?, _ step: Int
    ) throws -> TemplateCollection {
        guard let indices = Self.indices(count: items.items.count, from, to, step) else {
            throw fault(.zeroSliceStep)
        }
        return try collection(indices.map { items.items[$0] })
    }

    /// The positions of a Python slice in a sequence of `count`, nil for step 0.
    private static func indices(count: Int, _ from: Int?, _ to: Int?, _ step: Int) -> [Int]? {
        if step == 0 { return nil }
        func clamped(_ bound: Int) -> Int {
            let position = bound < 0 ? bound + count : bound
            return step > 0 ? min(max(position, 0), count) : min(max(position, -1), count - 1)
        }
        let first = from.map(clamped) ?? (step > 0 ? 0 : count - 1)
        let end = to.map(clamped) ?? (step > 0 ? count : -1)
        // A step longer than the sequence takes one item; this one cannot overflow.
        let stride = min(max(step, -count - 1), count + 1)
        return Array(Swift.stride(from: first, to: end, by: stride))
    }

    private mutating func attribute(
        _ name: String, of loop: TemplateLoop
    ) throws -> TemplateValue? {
        switch name {
        case "index0": return .integer(loop.index0)
        case "index": return .integer(loop.index0 + 1)
        case "first": return .bool(loop.index0 == 0)
        case "last": return .bool(try peek(loop) == nil)
        case "length": return .integer(try length(of: loop))
        case "revindex0": return .integer(try length(of: loop) - loop.index0 - 1)
        case "revindex": return .integer(try length(of: loop) - loop.index0)
        case "previtem": return loop.previous ?? .undefined(hint: "there is no previous item")
        case "nextitem": return try peek(loop) ?? .undefined(hint: "there is no next item")
        case "cycle", "changed", "depth", "depth0": throw unsupported("loop.\(name)")
        default: return nil
        }
    }

    /// A method without a call is a value in Python, of no use to a template and absent here.
    private func refuseMethod(_ name: String, of value: TemplateValue) throws {
        let isMethod =
            switch value {
            case .mapping: Self.mappingAttributes.contains(name)
            case .text: TemplateVocabulary.textMethods.contains(name)
            default: false
            }
        if isMethod { throw unsupported("the method \"\(quoted(name))\" without a call") }
    }

    private static let mappingAttributes: Set<String> = [
        "clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault",
        "update", "values",
    ]

    private static func objectName(of value: TemplateValue) -> String {
        if case .none = value { return "None" }
        return "\(value.typeName) object"
    }

    // MARK: - Methods

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
        default:
            if case .undefined(let hint) = try attribute(name, of: value) { throw undefined(hint) }
            throw fault(.notCallable(quoted(name)))
        }
    }

    private mutating func call(
        _ name: String, of text: TemplateText, _ arguments: Arguments
    ) throws -> TemplateValue {
        switch name {
        case "strip", "lstrip", "rstrip":
            let characters = try bind(arguments, [], "\(name)()", positionalOnly: 1)[0]
            let sides: TemplateText.Sides =
                name == "strip" ? .both : name == "lstrip" ? .left : .right
            return .text(
                text.stripped(sides, characters: try optionalText(characters, for: name)))
        case "startswith", "endswith":
            let affix = try bind(arguments, [], "\(name)()", positionalOnly: 1, required: 1)[0]
            return .bool(try hasAffix(text, affix ?? .none, isPrefix: name == "startswith"))
        case "split":
            return try split(text, arguments)
        case "upper", "lower":
            _ = try bind(arguments, [], "\(name)()")
            return .text(name == "upper" ? text.uppercased() : text.lowercased())
        default:
            throw fault(.notCallable(name))
        }
    }

    /// The text in an optional argument, nil where it is none or absent.
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
        var limit: Int?
        if let value = bound[1] {
            guard let number = value.number else {
                throw fault(.operand(function: "split", type: value.typeName))
            }
            limit = number < 0 ? nil : number
        }
        if separator?.isEmpty == true { throw fault(.emptySeparator) }
        try charge(bytes: separator?.bytes.count ?? 0)
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
            guard case .text(let key)? = bound[0] else { return bound[1] ?? .none }
            return try lookUp(key, in: mapping) ?? bound[1] ?? .none
        }
        _ = try bind(arguments, [], "\(name)()")
        switch name {
        case "keys": return try view(mapping.keys.map { .text($0) })
        case "values": return try view(mapping.values)
        default: return try view(try pairs(of: mapping))
        }
    }

    /// The `(key, value)` tuples of a mapping.
    mutating func pairs(of mapping: TemplateMapping) throws -> [TemplateValue] {
        var pairs: [TemplateValue] = []
        for (key, value) in zip(mapping.keys, mapping.values) {
            pairs.append(.tuple(try collection([.text(key), value])))
        }
        return pairs
    }

    private mutating func view(_ items: [TemplateValue]) throws -> TemplateValue {
        .iterator(TemplateIterator(try collection(items).items, isView: true))
    }
}
