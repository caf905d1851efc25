/// Operators on values: arithmetic, comparison, conversion to text.
extension TemplateInterpreter {
    /// `left symbol right`
    mutating func combine(
        _ left: TemplateValue, _ symbol: TemplateToken.Symbol, _ right: TemplateValue
    ) throws -> TemplateValue {
        if case .undefined(let hint) = left { throw undefined(hint) }
        if let first = left.number, let second = right.number {
            return .integer(try combine(first, symbol, second))
        }
        switch (symbol, left, right) {
        case (.add, .text(let first), .text(let second)):
            var result = TemplateText()
            try append(first, to: &result)
            try append(second, to: &result)
            return .text(result)
        case (.add, .list(let first), .list(let second)):
            return .list(try collection(first.items + second.items))
        case (.add, .tuple(let first), .tuple(let second)):
            return .tuple(try collection(first.items + second.items))
        case (.modulo, .text, _):
            throw unsupported("formatting with \"%\"")
        case (.multiply, .text, _), (.multiply, .list, _), (.multiply, .tuple, _):
            if right.number != nil { throw unsupported("repetition with \"*\"") }
            throw mismatch(left, symbol, right)
        case (.multiply, _, .text), (.multiply, _, .list), (.multiply, _, .tuple):
            if left.number != nil { throw unsupported("repetition with \"*\"") }
            throw mismatch(left, symbol, right)
        default:
            throw mismatch(left, symbol, right)
        }
    }

    /// The error for operands that an arithmetic operator does not take.
    private func mismatch(
        _ left: TemplateValue, _ symbol: TemplateToken.Symbol, _ right: TemplateValue
    ) -> TemplateError {
        if case .undefined(let hint) = right { return undefined(hint) }
        return fault(
            .operands(operator: symbol.rawValue, left: left.typeName, right: right.typeName))
    }

    private func combine(
        _ left: Int, _ symbol: TemplateToken.Symbol, _ right: Int
    ) throws -> Int {
        let (result, overflows): (Int, Bool)
        switch symbol {
        case .add: (result, overflows) = left.addingReportingOverflow(right)
        case .subtract: (result, overflows) = left.subtractingReportingOverflow(right)
        case .multiply: (result, overflows) = left.multipliedReportingOverflow(by: right)
        case .floorDivide, .modulo:
            if right == 0 { throw fault(.divisionByZero) }
            // The one quotient that does not fit: Int.min / -1.
            if right == -1, left == .min { throw fault(.integerOverflow) }
            // Python rounds the quotient down, and the remainder has the divisor's sign.
            let (quotient, remainder) = left.quotientAndRemainder(dividingBy: right)
            let isRoundedUp = remainder != 0 && (remainder < 0) != (right < 0)
            if symbol == .modulo { return isRoundedUp ? remainder + right : remainder }
            return isRoundedUp ? quotient - 1 : quotient
        default:
            throw unsupported("the operator \"\(symbol.rawValue)\"")
        }
        if overflows { throw fault(.integerOverflow) }
        return result
    }

    /// Whether `left comparison right` holds.
    mutating func compare(
        _ left: TemplateValue, _ comparison: TemplateComparison, _ right: TemplateValue
    ) throws -> Bool {
        switch comparison {
        case .equal: return try equals(left, right)
        case .notEqual: return try !equals(left, right)
        case .contained: return try contains(right, left)
        case .notContained: return try !contains(right, left)
        case .less: return try precedes(left, right, comparison)
        case .greater: return try precedes(right, left, comparison)
        case .lessOrEqual: return try !precedes(right, left, comparison)
        case .greaterOrEqual: return try !precedes(left, right, comparison)
        }
    }

    /// Python's `==`.
    mutating func equals(_ left: TemplateValue, _ right: TemplateValue) throws -> Bool {
        try charge(1)
        if let first = left.number, let second = right.number { return first == second }
        switch (left, right) {
        case (.undefined, .undefined), (.none, .none): return true
        case (.text(let first), .text(let second)):
            guard first.bytes.count == second.bytes.count else { return false }
            try charge(bytes: first.bytes.count)
            return first == second
        case (.list(let first), .list(let second)), (.tuple(let first), .tuple(let second)):
            guard first.items.count == second.items.count else { return false }
            for (one, other) in zip(first.items, second.items) {
                guard try equals(one, other) else { return false }
            }
            return true
        case (.mapping(let first), .mapping(let second)):
            guard first.keys.count == second.keys.count else { return false }
            for (key, value) in zip(first.keys, first.values) {
                guard let other = try lookUp(key, in: second), try equals(value, other) else {
                    return false
                }
            }
            return true
        case (.iterator(let first), .iterator(let second)): return first === second
        case (.namespace(let first), .namespace(let second)): return first === second
        case (.loop(let first), .loop(let second)): return first === second
        case (.function(let first), .function(let second)): return first == second
        default: return false
        }
    }

    /// Whether `left < right`; `comparison` is what the template wrote.
    private mutating func precedes(
        _ left: TemplateValue, _ right: TemplateValue, _ comparison: TemplateComparison
    ) throws -> Bool {
        if let first = left.number, let second = right.number { return first < second }
        switch (left, right) {
        case (.undefined(let hint), _), (_, .undefined(let hint)):
            throw undefined(hint)
        case (.text(let first), .text(let second)):
            try charge(bytes: min(first.bytes.count, second.bytes.count))
            // UTF-8 sorts as its code points do.
            return first.bytes.lexicographicallyPrecedes(second.bytes)
        case (.list, .list), (.tuple, .tuple):
            throw unsupported("the order of lists")
        default:
            throw fault(
                .operands(
                    operator: comparison.rawValue, left: left.typeName, right: right.typeName))
        }
    }

    /// Python's `item in container`.
    mutating func contains(_ container: TemplateValue, _ item: TemplateValue) throws -> Bool {
        switch container {
        case .undefined:
            return false
        case .text(let text):
            guard case .text(let part) = item else {
                throw fault(.operands(operator: "in", left: item.typeName, right: "str"))
            }
            try charge(bytes: text.bytes.count)
            try charge(part.bytes.count)
            return text.contains(part)
        case .mapping(let mapping):
            guard case .text(let key) = item else { return false }
            return try lookUp(key, in: mapping) != nil
        case .list(let collection), .tuple(let collection):
            for candidate in collection.items where try equals(candidate, item) { return true }
            return false
        case .iterator(let iterator) where !iterator.isView:
            while let candidate = iterator.next() {
                if try equals(candidate, item) { return true }
            }
            return false
        case .iterator(let view):
            for candidate in view.items where try equals(candidate, item) { return true }
            return false
        case .loop:
            throw unsupported("a search in \"loop\"")
        default:
            throw fault(
                .operands(operator: "in", left: item.typeName, right: container.typeName))
        }
    }

    mutating func lookUp(
        _ key: TemplateText, in mapping: TemplateMapping
    ) throws -> TemplateValue? {
        try charge(mapping.keys.count)
        try charge(bytes: key.bytes.count)
        return mapping.value(of: key)
    }

    /// Python's `str(value)`, which is what `{{ }}`, `~` and most filters write.
    func text(of value: TemplateValue) throws -> TemplateText {
        switch value {
        case .text(let text): return text
        case .undefined: return TemplateText()
        case .none: return TemplateText("None")
        case .bool(let value): return TemplateText(value ? "True" : "False")
        case .integer(let value): return TemplateText(String(value))
        default: throw unsupported("the conversion of a \(value.typeName) to text")
        }
    }

    /// The items that a loop over `value`, or a filter of sequences, visits.
    mutating func items(of value: TemplateValue) throws -> [TemplateValue] {
        switch value {
        case .undefined: return []
        case .list(let collection), .tuple(let collection): return collection.items
        case .mapping(let mapping):
            return try collection(mapping.keys.map { .text($0) }).items
        case .iterator(let iterator): return iterator.drain()
        case .text(let text):
            guard text.bytes.count <= TemplateLimits.items else {
                throw limit(.items(TemplateLimits.items))
            }
            try charge(2 * text.bytes.count)
            return text.scalarRanges.map { .text(text.slice($0)) }
        case .loop: throw unsupported("iteration over \"loop\"")
        default: throw fault(.operand(function: "iteration", type: value.typeName))
        }
    }
}
