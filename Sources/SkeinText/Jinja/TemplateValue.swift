/// A value while a template runs. It behaves like the Python value that Jinja2 would hold.
enum TemplateValue {
    /// The value of an unknown name, attribute or item. It is false, empty and prints as nothing;
    /// most operations on it fail with `hint`.
    case undefined(hint: String)
    case none
    case bool(Bool)
    case integer(Int)
    /// An integer that is too large for the other: written and passed on, but nothing is computed
    /// with it. Its digits, with a minus before them or not.
    case longInteger(String)
    case float(Double)
    case text(TemplateText)
    case list(TemplateCollection)
    case tuple(TemplateCollection)
    case mapping(TemplateMapping)
    /// A generator, or the view of a mapping.
    case iterator(TemplateIterator)
    case namespace(TemplateNamespace)
    case loop(TemplateLoop)
    case macro(TemplateMacro)
    /// A function's or a method's name, without a call.
    case function(String)
    /// A list that is longer in some variants than in others (`TemplateVariants`).
    case growing(TemplateGrowth)
    /// An integer or a truth that depends on the variant.
    case varying(TemplateVarying)

    /// Python's name of the type.
    var typeName: String {
        switch self {
        case .undefined: "Undefined"
        case .none: "NoneType"
        case .bool: "bool"
        case .integer, .longInteger: "int"
        case .float: "float"
        case .text: "str"
        case .list: "list"
        case .tuple: "tuple"
        case .mapping: "dict"
        case .iterator: "generator"
        case .namespace: "Namespace"
        case .loop: "LoopContext"
        case .macro: "Macro"
        case .function: "function"
        case .growing: "list"
        case .varying(let varying): varying.isBool ? "bool" : "int"
        }
    }

    /// Python's truth of the value, which must be the same in all variants: others are asked of
    /// `TemplateInterpreter.truth`.
    var isTrue: Bool {
        switch self {
        case .undefined, .none: false
        case .bool(let value): value
        case .integer(let value): value != 0
        case .longInteger: true
        case .float(let value): value != 0
        case .text(let text): !text.isEmpty
        case .list(let items), .tuple(let items): !items.items.isEmpty
        case .mapping(let mapping): !mapping.keys.isEmpty
        case .iterator(let iterator): !iterator.isView || !iterator.items.isEmpty
        case .namespace, .loop, .macro, .function: true
        case .growing, .varying: preconditionFailure("a value that was not made concrete")
        }
    }

    /// The value of an integer or a boolean; booleans are numbers in Python.
    var number: Int? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): value
        default: nil
        }
    }

    /// The value of a number of any type.
    var real: Double? {
        if case .float(let value) = self { return value }
        return number.map(Double.init)
    }

    /// Whether it changes, or can be used up, and is the same thing under each of its names.
    var isReference: Bool {
        switch self {
        case .iterator, .namespace, .loop, .macro: true
        default: false
        }
    }

    /// How deeply lists and mappings are nested in this value.
    var depth: Int {
        switch self {
        case .list(let items), .tuple(let items): items.depth
        case .mapping(let mapping): mapping.depth
        default: 0
        }
    }

    /// This value and all values inside it, counted as often as they occur.
    var weight: Int {
        switch self {
        case .list(let items), .tuple(let items): items.weight
        case .mapping(let mapping): mapping.weight
        default: 1
        }
    }
}

/// The items of a list or tuple. `TemplateInterpreter.collection` makes them within the limits.
struct TemplateCollection {
    var items: [TemplateValue]
    var depth: Int
    var weight: Int
}

/// A dict with texts or integers as keys, in the order of insertion. Lookups are linear: messages
/// have two keys.
struct TemplateMapping {
    /// A key that is an integer has a first byte that no text has; `keyValue` gives it back.
    var keys: [TemplateText]
    var values: [TemplateValue]
    var depth: Int
    var weight: Int

    private static let integerMark: UInt8 = 0xFF

    /// nil for a value that is no key. Python finds `1` and `true` equal.
    static func key(of value: TemplateValue) -> TemplateText? {
        if case .text(let text) = value { return text }
        guard let number = value.number ?? value.real.flatMap({ Int(exactly: $0) }) else {
            return nil
        }
        return TemplateText(bytes: [integerMark] + Array(String(number).utf8))
    }

    static func keyValue(_ key: TemplateText) -> TemplateValue {
        guard key.bytes.first == integerMark else { return .text(key) }
        return .integer(Int(String(decoding: key.bytes.dropFirst(), as: UTF8.self)) ?? 0)
    }

    var keyValues: [TemplateValue] { keys.map(Self.keyValue) }

    var hasIntegerKeys: Bool { keys.contains { $0.bytes.first == Self.integerMark } }

    init(keys: [TemplateText], values: [TemplateValue]) {
        self.keys = keys
        self.values = values
        depth = 1 + (values.map(\.depth).max() ?? 0)
        weight = 1 + values.reduce(0) { $0 + $1.weight }
    }

    func value(of key: TemplateText) -> TemplateValue? {
        keys.firstIndex(of: key).map { values[$0] }
    }
}

/// Something that can be iterated but not indexed: a generator, which gives each item once, or the
/// view of a mapping, which gives all of them each time.
final class TemplateIterator {
    let items: [TemplateValue]
    let isView: Bool
    private var position: Int
    /// Whether an item changes, or can be used up.
    private let hasInner: Bool

    convenience init(_ items: [TemplateValue], isView: Bool) {
        let hasInner = items.contains(where: \.isReference)
        self.init(items, isView: isView, position: 0, hasInner: hasInner)
    }

    private init(_ items: [TemplateValue], isView: Bool, position: Int, hasInner: Bool) {
        self.items = items
        self.isView = isView
        self.position = position
        self.hasInner = hasInner
    }

    /// The remaining items. A generator has none afterwards.
    func drain() -> [TemplateValue] {
        if isView { return items }
        defer { position = items.count }
        return Array(items[position...])
    }

    /// An iterator that goes on where this one is; nil if its items cannot be copied.
    func copied() -> TemplateIterator? {
        if isView { return self }
        if hasInner { return nil }
        return TemplateIterator(items, isView: false, position: position, hasInner: false)
    }

    /// Takes one item; a view always gives its first.
    func next() -> TemplateValue? {
        guard position < items.count else { return nil }
        if !isView { position += 1 }
        return items[isView ? 0 : position - 1]
    }
}

/// `namespace(...)`: the one value that a template can change, also from within a loop.
final class TemplateNamespace {
    var attributes: [String: TemplateValue]

    init(_ attributes: [String: TemplateValue]) {
        self.attributes = attributes
    }
}

/// A running `for` loop, which templates see as `loop`. Items are filtered only when they are
/// needed, as in Jinja2: a filter may look at a namespace that the body changes.
final class TemplateLoop {
    /// The items to take, from `position` on.
    var source: [TemplateValue]
    var position = 0
    /// The loop's `if`; nil once all items are filtered.
    var filter: TemplateExpression?
    /// What `source` is of, if it has more items in some variants than in others.
    var growth: TemplateGrowth?
    /// The place of the current item, when the loop goes through `growth` from its end.
    var reversedPlace: Int?
    let syntax: TemplateLoopSyntax
    var target: TemplateTarget { syntax.target }
    /// The number of frames outside the loop: the filter sees these and the target.
    let outerFrames: Int
    /// How many calls of `loop()` this one is inside of.
    let depth: Int
    /// The arguments of the last call of `loop.changed()`.
    var lastChanged: [TemplateValue]?

    /// Number of the current iteration.
    var index0 = -1
    var previous: TemplateValue?
    var current: TemplateValue?
    /// The item after the current one, once something has asked for it.
    var ahead: TemplateValue?

    init(
        source: [TemplateValue], syntax: TemplateLoopSyntax, outerFrames: Int, depth: Int
    ) {
        self.source = source
        self.syntax = syntax
        filter = syntax.filter
        self.outerFrames = outerFrames
        self.depth = depth
    }

    /// A loop that goes on where this one is.
    func copied() -> TemplateLoop {
        let copy = TemplateLoop(
            source: source, syntax: syntax, outerFrames: outerFrames, depth: depth)
        copy.filter = filter
        copy.growth = growth
        copy.position = position
        copy.lastChanged = lastChanged
        copy.index0 = index0
        copy.previous = previous
        copy.current = current
        copy.ahead = ahead
        return copy
    }
}

/// A macro, or what a `call` block hands to one as `caller`.
final class TemplateMacro {
    let syntax: TemplateMacroSyntax
    /// How many of the caller's frames the body sees, from the outermost one.
    let visibleFrames: Int
    /// The frames that the body sees instead: those of the `call` block.
    let frames: [[String: TemplateValue]]?

    init(
        _ syntax: TemplateMacroSyntax, visibleFrames: Int,
        frames: [[String: TemplateValue]]? = nil
    ) {
        self.syntax = syntax
        self.visibleFrames = visibleFrames
        self.frames = frames
    }
}
