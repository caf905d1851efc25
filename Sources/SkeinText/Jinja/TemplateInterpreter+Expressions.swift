/// Evaluating expressions.
extension TemplateInterpreter {
    mutating func evaluate(_ expression: TemplateExpression) throws -> TemplateValue {
        try charge(1)
        depth += 1
        defer { depth -= 1 }
        line = expression.line
        switch expression.form {
        case .literal(let literal): return value(of: literal)
        case .name(let name): return variable(name)
        case .list(let items): return .list(try collection(try evaluate(all: items)))
        case .tuple(let items): return .tuple(try collection(try evaluate(all: items)))
        case .mapping(let keys, let values): return try mapping(keys, values)
        case .arithmetic(let first, let operands): return try arithmetic(first, operands)
        case .concatenation(let operands): return try concatenation(operands)
        case .comparison(let first, let comparands): return try comparison(first, comparands)
        case .all(let operands): return try firstOperand(of: operands, whoseTruthIs: false)
        case .any(let operands): return try firstOperand(of: operands, whoseTruthIs: true)
        case .not(let operand):
            let value = try evaluate(operand)
            return .bool(!truth(of: value))
        case .negative(let operand): return try signed(operand, isNegative: true)
        case .positive(let operand): return try signed(operand, isNegative: false)
        case .conditional(let test, let then, let otherwise):
            let verdict = try evaluate(test)
            if truth(of: verdict) { return try evaluate(then) }
            guard let otherwise else {
                return .undefined(hint: "the inline if was false and has no else")
            }
            return try evaluate(otherwise)
        case .chain(let base, let links):
            return try follow(links, from: try evaluate(base))
        }
    }

    /// What the links lead to, one after the other.
    mutating func follow(
        _ links: [TemplateExpression.Link], from value: TemplateValue
    ) throws -> TemplateValue {
        var value = value
        for link in links { value = try follow(link, from: value) }
        return value
    }

    /// Evaluates the call of a `call` block, whose last link is the call.
    mutating func evaluate(
        _ expression: TemplateExpression, caller: TemplateValue
    ) throws -> TemplateValue {
        guard case .chain(let base, let links) = expression.form, let last = links.last else {
            return .none
        }
        var callee = try concrete(
            try follow(Array(links.dropLast()), from: try evaluate(base)))
        let arguments: TemplateArguments
        switch last.form {
        case .call(let given): arguments = given
        case .method(let name, let given):
            callee = try attribute(name, of: callee)
            arguments = given
        default: return .none
        }
        var values = try evaluate(arguments)
        values.keywords.append(("caller", caller))
        line = last.line
        return try call(callee, try admitted(values, for: callee))
    }

    private func value(of literal: TemplateLiteral) -> TemplateValue {
        switch literal {
        case .none: .none
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .float(let value): .float(value)
        case .text(let text): .text(text)
        }
    }

    private mutating func evaluate(
        all expressions: [TemplateExpression]
    ) throws -> [TemplateValue] {
        var values: [TemplateValue] = []
        for expression in expressions { values.append(try evaluate(expression)) }
        return values
    }

    /// The values of a call's arguments.
    struct Arguments {
        var positional: [TemplateValue] = []
        var keywords: [(name: String, value: TemplateValue)] = []
    }

    mutating func evaluate(_ arguments: TemplateArguments) throws -> Arguments {
        var result = Arguments()
        result.positional = try evaluate(all: arguments.positional)
        for (name, value) in arguments.keywords {
            result.keywords.append((name, try evaluate(value)))
        }
        if arguments.spread != nil { try append(arguments.spread, to: &result) }
        return result
    }

    /// What stands behind `*` and `**`. Its own function, so that the frames of nested calls stay small.
    private mutating func append(
        _ spread: TemplateSpread?, to arguments: inout Arguments
    ) throws {
        if let items = spread?.items {
            let found = try self.items(of: try evaluate(items))
            try charge(found.count)
            arguments.positional += found
        }
        if let entries = spread?.entries {
            try append(entries: try evaluate(entries), to: &arguments)
        }
    }

    /// The entries of what stands behind `**`.
    private mutating func append(
        entries: TemplateValue, to arguments: inout Arguments
    ) throws {
        if case .undefined(let hint) = entries { throw undefined(hint) }
        guard case .mapping(let mapping) = entries else {
            throw fault(.operand(function: "** in a call", type: entries.typeName))
        }
        guard !mapping.hasIntegerKeys else {
            throw fault(.operand(function: "** in a call", type: "keys other than strings"))
        }
        try charge(mapping.keys.count * (1 + arguments.keywords.count))
        let given = arguments.keywords.map(\.name)
        for (key, value) in zip(mapping.keys, mapping.values) {
            try charge(bytes: key.bytes.count)
            let name = key.string
            guard !given.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw fault(.repeatedArgument(TemplateError.excerpt(name)))
            }
            arguments.keywords.append((name, value))
        }
    }

    /// `and` and `or` return the operand that decides, else the last one.
    private mutating func firstOperand(
        of operands: [TemplateExpression], whoseTruthIs decisive: Bool
    ) throws -> TemplateValue {
        var value = TemplateValue.none
        for operand in operands {
            value = try evaluate(operand)
            if truth(of: value) == decisive { break }
        }
        return value
    }

    private mutating func mapping(
        _ keys: [TemplateExpression], _ values: [TemplateExpression]
    ) throws -> TemplateValue {
        let line = line
        var result = TemplateMapping(keys: [], values: [])
        for (keyExpression, valueExpression) in zip(keys, values) {
            let keyValue = try concrete(try evaluate(keyExpression))
            if case .bool = keyValue { throw unsupported("a dict with true or false as a key") }
            if case .float = keyValue { throw unsupported("a dict with a decimal as a key") }
            guard let key = TemplateMapping.key(of: keyValue) else {
                throw unsupported("a dict whose keys are neither strings nor integers")
            }
            let value = try evaluate(valueExpression)
            try set(key, to: value, in: &result)
        }
        self.line = line
        return .mapping(try limited(result))
    }

    /// Sets one key of a dict that is being made.
    mutating func set(
        _ key: TemplateText, to value: TemplateValue, in mapping: inout TemplateMapping
    ) throws {
        try charge(1 + mapping.keys.count)
        let value = try concrete(value)
        if let index = mapping.keys.firstIndex(of: key) {
            mapping.values[index] = value
        } else {
            mapping.keys.append(key)
            mapping.values.append(value)
        }
    }

    /// The dict, once its size and depth are found to be allowed.
    mutating func limited(_ mapping: TemplateMapping) throws -> TemplateMapping {
        let collected = try collection(mapping.values)
        var mapping = mapping
        mapping.values = collected.items
        mapping.depth = collected.depth
        mapping.weight = collected.weight
        return mapping
    }

    private mutating func concatenation(
        _ operands: [TemplateExpression]
    ) throws -> TemplateValue {
        var result = TemplateText()
        for value in try evaluate(all: operands) {
            try append(try text(of: value), to: &result)
        }
        return .text(result)
    }

    private mutating func comparison(
        _ first: TemplateExpression, _ comparands: [TemplateExpression.Comparand]
    ) throws -> TemplateValue {
        let line = line
        var left = try evaluate(first)
        for comparand in comparands {
            let right = try evaluate(comparand.value)
            self.line = line
            guard try compare(left, comparand.comparison, right) else { return .bool(false) }
            left = right
        }
        return .bool(true)
    }

    private mutating func signed(
        _ operand: TemplateExpression, isNegative: Bool
    ) throws -> TemplateValue {
        let value = try concrete(try evaluate(operand))
        if case .undefined(let hint) = value { throw undefined(hint) }
        if case .float(let number) = value { return .float(isNegative ? -number : number) }
        guard let number = value.number else {
            throw fault(.operand(function: isNegative ? "-" : "+", type: value.typeName))
        }
        guard isNegative else { return .integer(number) }
        let (result, overflows) = 0.subtractingReportingOverflow(number)
        if overflows { throw fault(.integerOverflow) }
        return .integer(result)
    }

    private mutating func arithmetic(
        _ first: TemplateExpression, _ operands: [TemplateExpression.Operand]
    ) throws -> TemplateValue {
        let line = line
        var value = try evaluate(first)
        for operand in operands {
            let right = try evaluate(operand.value)
            self.line = line
            value = try combine(value, operand.symbol, right)
        }
        return value
    }

    private mutating func follow(
        _ link: TemplateExpression.Link, from value: TemplateValue
    ) throws -> TemplateValue {
        try charge(1)
        line = link.line
        if let result = try followGrowing(link, from: value) { return result }
        let value = try concrete(value)
        switch link.form {
        case .attribute(let name):
            return try attribute(name, of: value)
        case .item(let expression):
            let key = try concrete(try evaluate(expression))
            line = link.line
            return try item(key, of: value)
        case .slice(let from, let to, let step):
            let bounds = [
                try bound(from), try bound(to), try bound(step),
            ]
            line = link.line
            return try slice(value, from: bounds[0], to: bounds[1], step: bounds[2] ?? 1)
        case .method(let name, let arguments):
            let arguments = try concrete(try evaluate(arguments))
            line = link.line
            return try call(name, of: value, arguments)
        case .call(let arguments):
            let arguments = try admitted(try evaluate(arguments), for: value)
            line = link.line
            return try call(value, arguments)
        case .filter(let name, let arguments):
            let arguments = try concrete(try evaluate(arguments))
            line = link.line
            return try filter(name, value, arguments)
        case .test(let name, let arguments, let isNegated):
            let arguments = try concrete(try evaluate(arguments))
            line = link.line
            return .bool(try test(name, value, arguments.positional) != isNegated)
        }
    }

    /// A bound of a slice: an integer; nil when it is omitted or none.
    mutating func bound(_ expression: TemplateExpression?) throws -> Int? {
        guard let expression else { return nil }
        let value = try concrete(try evaluate(expression))
        if case .none = value { return nil }
        guard let number = value.number else {
            throw fault(.operand(function: "a slice", type: value.typeName))
        }
        return number
    }
}
