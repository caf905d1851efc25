/// What a template sees of values that are not the same in all variants (`TemplateVariants`).
///
/// Few operations know such values: those that give the same for all variants, or that split them
/// into few. All others get a value that is made concrete first, so that the variants that have
/// another one are dropped.
extension TemplateInterpreter {
    /// Python's truth of a value; variants with the other one are dropped.
    mutating func truth(of value: TemplateValue) -> Bool {
        switch value {
        case .growing(let growth):
            variants?.decide(countIsAtLeast: growth.count(withItemAt: growth.first)) ?? false
        case .varying(let varying): decide(varying) { $0 != 0 }
        default: value.isTrue
        }
    }

    /// The value that the last variant has; variants with another one are dropped.
    mutating func concrete(_ value: TemplateValue) throws -> TemplateValue {
        switch value {
        case .growing(let growth):
            let items = growth.items[concretePlaces(of: growth)]
            try charge(items.count)
            return .list(
                try collection(growth.isReversed ? items.reversed() : Array(items)))
        case .varying(let varying):
            guard let variants else { return value }
            let number = varying.value(of: variants.last, variants.counts)
            _ = decide(varying) { $0 == number }
            return varying.isBool ? .bool(number != 0) : .integer(number)
        default: return value
        }
    }

    func isConcrete(_ value: TemplateValue) -> Bool {
        switch value {
        case .growing, .varying: false
        default: true
        }
    }

    mutating func concrete(all values: [TemplateValue]) throws -> [TemplateValue] {
        if values.allSatisfy(isConcrete) { return values }
        var result: [TemplateValue] = []
        for value in values { result.append(try concrete(value)) }
        return result
    }

    mutating func concrete(_ arguments: Arguments) throws -> Arguments {
        var arguments = arguments
        arguments.positional = try concrete(all: arguments.positional)
        for index in arguments.keywords.indices {
            arguments.keywords[index].value = try concrete(arguments.keywords[index].value)
        }
        return arguments
    }

    /// The arguments of a call: macros, namespaces and `range` take all values as they are.
    mutating func admitted(
        _ arguments: Arguments, for callee: TemplateValue
    ) throws -> Arguments {
        switch callee {
        case .macro, .function("namespace"), .function("range"): arguments
        default: try concrete(arguments)
        }
    }

    /// The places of the items that the last variant has; those with other counts are dropped.
    private mutating func concretePlaces(of growth: TemplateGrowth) -> Range<Int> {
        variants?.keepOneCount()
        return growth.places(count: variants?.mostMessages ?? 0)
    }

    private mutating func decide(_ varying: TemplateVarying, _ holds: (Int) -> Bool) -> Bool {
        varying.constant.map(holds) ?? variants?.decide(varying, holds) ?? false
    }

    // MARK: - Lists

    /// What a link makes of a list that grows, where that need not be told for each length apart.
    ///
    /// - Returns: nil if the value is another one, or has to be made concrete.
    mutating func followGrowing(
        _ link: TemplateExpression.Link, from value: TemplateValue
    ) throws -> TemplateValue? {
        guard case .growing(let growth) = value, variants != nil else { return nil }
        switch link.form {
        case .item(let expression):
            // What is looked for may drop variants, not what it is looked for in.
            guard case .literal(.integer(let index)) = expression.form else {
                return growth.isReversed ? nil : try item(at: expression, of: growth, link)
            }
            try charge(1)
            return growth.isReversed ? nil : item(index, of: growth)
        case .slice(let from, let to, let step):
            return try slice(growth, from, to, step)
        case .filter(let name, let arguments):
            guard arguments.positional.isEmpty, arguments.keywords.isEmpty else { return nil }
            switch name {
            case "length", "count": return length(of: growth)
            case "list" where !growth.isReversed:
                try charge(2 * growth.items.count)
                return value
            case "first", "last":
                guard !growth.isReversed, truth(of: value) else { return nil }
                return name == "first"
                    ? growth.items[growth.first] : growth.items[concretePlaces(of: growth)].last
            default: return nil
            }
        case .test(let name, let arguments, let isNegated):
            guard arguments.positional.isEmpty, arguments.keywords.isEmpty,
                Self.testsOfType.contains(name)
            else { return nil }
            let empty = TemplateCollection(items: [], depth: 1, weight: 1)
            return .bool(try test(name, .list(empty), []) != isNegated)
        default: return nil
        }
    }

    /// Tests that look at no list's items.
    private static let testsOfType: Set<String> = [
        "defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "boolean",
        "number", "integer", "float", "true", "false", "callable",
    ]

    private mutating func item(
        at expression: TemplateExpression, of growth: TemplateGrowth,
        _ link: TemplateExpression.Link
    ) throws -> TemplateValue? {
        let key = try concrete(try evaluate(expression))
        line = link.line
        if let index = key.number { return item(index, of: growth) }
        return try item(key, of: try concrete(.growing(growth)))
    }

    private mutating func item(_ index: Int, of growth: TemplateGrowth) -> TemplateValue {
        let nothing = TemplateValue.undefined(hint: "list object has no element \(index)")
        if index < 0 {
            let places = concretePlaces(of: growth)
            return index >= -places.count ? growth.items[places.upperBound + index] : nothing
        }
        guard index < growth.items.count - growth.first else { return nothing }
        let place = growth.first + index
        let isThere = variants?.decide(countIsAtLeast: growth.count(withItemAt: place)) == true
        return isThere ? growth.items[place] : nothing
    }

    private mutating func length(of growth: TemplateGrowth) -> TemplateValue? {
        guard truth(of: .growing(growth)) else { return .integer(0) }
        return TemplateVarying(messagesAnd: -growth.shift - growth.first).map { .varying($0) }
    }

    /// `list[from:]`, `list[from:to]` and `list[::-1]`.
    private mutating func slice(
        _ growth: TemplateGrowth, _ from: TemplateExpression?, _ to: TemplateExpression?,
        _ step: TemplateExpression?
    ) throws -> TemplateValue? {
        guard !growth.isReversed else { return nil }
        if from == nil, to == nil, let step, case .negative(let one) = step.form,
            case .literal(.integer(1)) = one.form
        {
            try charge(4 + 2 * growth.items.count)
            var reversed = growth
            reversed.isReversed = true
            return .growing(reversed)
        }
        // A bound that has to be evaluated is so once: here, or where this gives nil.
        guard step == nil, let from, to == nil, isSimple(from) else { return nil }
        let value = try evaluate(from)
        guard case .integer(let start) = value, start >= 0 else {
            return nil
        }
        try charge(2 * growth.items.count)
        var rest = growth
        rest.first = min(growth.first + min(start, growth.items.count), growth.items.count)
        return .growing(rest)
    }

    /// Whether evaluating an expression twice is as good as once.
    private func isSimple(_ expression: TemplateExpression) -> Bool {
        switch expression.form {
        case .literal, .name: true
        case .chain(let base, let links):
            isSimple(base)
                && links.allSatisfy { if case .attribute = $0.form { true } else { false } }
        case .arithmetic(let first, let operands):
            isSimple(first) && operands.allSatisfy { isSimple($0.value) }
        default: false
        }
    }

    /// `range(end)` and `range(start, end)` up to an end that varies with the messages.
    mutating func growingRange(_ arguments: Arguments) throws -> TemplateValue? {
        let values = arguments.positional
        guard arguments.keywords.isEmpty, values.count == 1 || values.count == 2, let variants,
            case .varying(let end)? = values.last, !end.isBool
        else { return nil }
        let first = values.count == 1 ? TemplateValue.integer(0) : values[0]
        let run = end.run(of: variants.last)
        guard run.scale == 1, case .integer(let start) = first, start.magnitude < 1 << 40,
            variants.active.allSatisfy({ end.run(of: $0).isSame(as: run) })
        else { return nil }
        let count = max(0, variants.mostMessages + run.constant - start)
        guard count <= TemplateLimits.items else { return nil }
        let items = try collection((0..<count).map { .integer(start + $0) }).items
        return .growing(TemplateGrowth(items: items, first: 0, shift: start - run.constant))
    }

    // MARK: - Loops

    /// What a loop over a list that grows says of itself, where it is not as in other loops.
    mutating func growingAttribute(
        _ name: String, of loop: TemplateLoop
    ) throws -> TemplateValue? {
        guard let growth = loop.growth, loop.filter == nil else { return nil }
        let offset = growth.shift + growth.first
        guard let place = loop.reversedPlace else {
            switch name {
            case "length": return messages(and: -offset)
            case "revindex0": return messages(and: -offset - loop.index0 - 1)
            case "revindex": return messages(and: -offset - loop.index0)
            default: return nil
            }
        }
        let count = growth.count(withItemAt: place)
        switch name {
        case "index0": return messages(and: -count)
        case "index": return messages(and: 1 - count)
        case "first": return .bool(variants?.decide(countIsAtLeast: count + 1) == false)
        case "last": return .bool(place == growth.first)
        case "length": return messages(and: -offset)
        case "revindex0": return .integer(place - growth.first)
        case "revindex": return .integer(place - growth.first + 1)
        case "previtem":
            return variants?.decide(countIsAtLeast: count + 1) == true
                ? growth.items[place + 1] : .undefined(hint: "there is no previous item")
        case "nextitem":
            return place > growth.first
                ? growth.items[place - 1] : .undefined(hint: "there is no next item")
        default: return nil
        }
    }

    private func messages(and constant: Int) -> TemplateValue? {
        TemplateVarying(messagesAnd: constant).map { .varying($0) }
    }

    // MARK: - Numbers

    /// The sum or difference of two integers, one or both of which vary; nil for anything else.
    func varying(
        _ left: TemplateValue, _ symbol: TemplateToken.Symbol, _ right: TemplateValue
    ) -> TemplateValue? {
        guard symbol == .add || symbol == .subtract, !isConcrete(left) || !isConcrete(right),
            let first = varying(left), let second = varying(right),
            let result = first.combined(with: second, isDifference: symbol == .subtract)
        else { return nil }
        return result.constant.map { .integer($0) } ?? .varying(result)
    }

    /// An integer as one that varies.
    private func varying(_ value: TemplateValue) -> TemplateVarying? {
        switch value {
        case .varying(let varying): varying.isBool ? nil : varying
        case .integer(let number): .constant(number)
        default: nil
        }
    }

    /// Whether a comparison holds of two numbers, one or both of which vary; nil for anything else.
    mutating func compareVarying(
        _ left: TemplateValue, _ comparison: TemplateComparison, _ right: TemplateValue
    ) throws -> Bool? {
        guard !isConcrete(left) || !isConcrete(right),
            let first = varying(left), let second = varying(right),
            let difference = first.combined(with: second, isDifference: true)
        else { return nil }
        try charge(1)
        switch comparison {
        case .equal: return decide(difference) { $0 == 0 }
        case .notEqual: return decide(difference) { $0 != 0 }
        case .less: return decide(difference) { $0 < 0 }
        case .lessOrEqual: return decide(difference) { $0 <= 0 }
        case .greater: return decide(difference) { $0 > 0 }
        case .greaterOrEqual: return decide(difference) { $0 >= 0 }
        case .contained, .notContained: return nil
        }
    }
}
