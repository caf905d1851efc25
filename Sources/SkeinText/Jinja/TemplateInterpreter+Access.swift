/// Attributes, items and slices.
extension TemplateInterpreter {
    /// `value.name`: in Jinja2 an attribute of the object first, then the item of this name.
    mutating func attribute(_ name: String, of value: TemplateValue) throws -> TemplateValue {
        switch value {
        case .undefined(let hint):
            throw undefined(hint)
        case .mapping(let mapping):
            if Self.mappingAttributes.contains(name) { return .function(name) }
            if let found = try lookUp(TemplateText(name), in: mapping) { return found }
        case .namespace(let namespace):
            if let found = namespace.attributes[name] { return found }
        case .loop(let loop):
            if let found = try attribute(name, of: loop) { return found }
        case .text:
            if TemplateVocabulary.textMethods.contains(name) { return .function(name) }
        case .list, .tuple:
            if TemplateVocabulary.listMethods.contains(name) { return .function(name) }
        default: break
        }
        return .undefined(
            hint:
                "'\(Self.objectName(of: value))' has no attribute '\(TemplateError.excerpt(name))'")
    }

    /// `value[key]`: the item first, then the attribute of this name, else undefined.
    mutating func item(_ key: TemplateValue, of value: TemplateValue) throws -> TemplateValue {
        if case .undefined(let hint) = value { throw undefined(hint) }
        if case .text(let text) = key {
            try charge(bytes: text.bytes.count)
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
            let count = UTF8Scalars.count(text.bytes)
            if index >= 0 ? index < count : index >= -count {
                let start = text.offset(ofScalar: index < 0 ? index + count : index)
                let end = start + UTF8Scalars.length(lead: text.bytes[start])
                return .text(text.slice(start..<end))
            }
        case .mapping(let mapping):
            if let integer = TemplateMapping.key(of: key),
                let found = try lookUp(integer, in: mapping)
            {
                return found
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
            return .text(try slice(text, from, to, step))
        case .list(let items):
            return .list(try slice(items, from, to, step))
        case .tuple(let items):
            return .tuple(try slice(items, from, to, step))
        default:
            throw fault(.operand(function: "a slice", type: value.typeName))
        }
    }

    private mutating func slice(
        _ text: TemplateText, _ from: Int?, _ to: Int?, _ step: Int
    ) throws -> TemplateText {
        try charge(bytes: text.bytes.count)
        let count = UTF8Scalars.count(text.bytes)
        guard let positions = Self.positions(count: count, from, to, step) else {
            throw fault(.zeroSliceStep)
        }
        if step == 1 {
            let start = text.offset(ofScalar: positions.first)
            let end = text.offset(ofScalar: positions.end)
            return text.slice(start..<max(start, end))
        }
        try charge(text.bytes.count)
        let ranges = text.scalarRanges
        var result = TemplateText().marked(text.isMarkup)
        for position in positions.all { result.append(text.slice(ranges[position])) }
        return result
    }

    private mutating func slice(
        _ items: TemplateCollection, _ from: Int?, _ to: Int?, _ step: Int
    ) throws -> TemplateCollection {
        guard let positions = Self.positions(count: items.items.count, from, to, step) else {
            throw fault(.zeroSliceStep)
        }
        return try collection(positions.all.map { items.items[$0] })
    }

    /// The positions of a Python slice.
    private struct Positions {
        var first: Int
        var end: Int
        var step: Int
        var all: StrideTo<Int> { stride(from: first, to: end, by: step) }
    }

    /// The positions of a Python slice in a sequence of `count`, nil for step 0.
    private static func positions(
        count: Int, _ from: Int?, _ to: Int?, _ step: Int
    ) -> Positions? {
        if step == 0 { return nil }
        func clamped(_ bound: Int) -> Int {
            let position = bound < 0 ? bound + count : bound
            return step > 0 ? min(max(position, 0), count) : min(max(position, -1), count - 1)
        }
        return Positions(
            first: from.map(clamped) ?? (step > 0 ? 0 : count - 1),
            end: to.map(clamped) ?? (step > 0 ? count : -1),
            // A step longer than the sequence takes one item; this one cannot overflow.
            step: min(max(step, -count - 1), count + 1))
    }

    private mutating func attribute(
        _ name: String, of loop: TemplateLoop
    ) throws -> TemplateValue? {
        if let value = try growingAttribute(name, of: loop) { return value }
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
        case "depth0": return .integer(loop.depth)
        case "depth": return .integer(loop.depth + 1)
        case "cycle", "changed": return .function(name)
        default: return nil
        }
    }

    /// Python's methods of dicts. `dict.name` is a method before it is an item, as in Python.
    static let mappingAttributes: Set<String> = [
        "clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault",
        "update", "values",
    ]

    private static func objectName(of value: TemplateValue) -> String {
        if case .none = value { return "None" }
        return "\(value.typeName) object"
    }
}
