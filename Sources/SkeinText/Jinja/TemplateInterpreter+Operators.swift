/// Operators on values: arithmetic, comparison, conversion to text.
extension TemplateInterpreter {
    /// `left symbol right`
    mutating func combine(
        _ left: TemplateValue, _ symbol: TemplateToken.Symbol, _ right: TemplateValue
    ) throws -> TemplateValue {
        if let varying = varying(left, symbol, right) { return varying }
        let (left, right) = (try concrete(left), try concrete(right))
        if case .undefined(let hint) = left { throw undefined(hint) }
        for value in [left, right] {
            if case .longInteger = value { throw fault(.integerOverflow) }
        }
        if let first = left.number, let second = right.number {
            if symbol == .power || symbol == .divide {
                return try fraction(first, symbol, second)
            }
            return .integer(try combine(first, symbol, second))
        }
        if let first = left.real, let second = right.real {
            return .float(try combine(first, symbol, second))
        }
        switch (symbol, left, right) {
        case (.add, .text(let first), .text(let second)):
            var result = TemplateText().marked(first.isMarkup || second.isMarkup)
            try insert(first, into: &result)
            try insert(second, into: &result)
            return .text(result)
        case (.add, .list(let first), .list(let second)):
            return .list(try collection(first.items + second.items))
        case (.add, .tuple(let first), .tuple(let second)):
            return .tuple(try collection(first.items + second.items))
        case (.modulo, .text(let format), _):
            return .text(try formatted(format, by: right))
        case (.multiply, _, _):
            if let count = right.number { return try repeated(left, count, mismatch: right) }
            if let count = left.number { return try repeated(right, count, mismatch: left) }
            throw mismatch(left, symbol, right)
        default:
            throw mismatch(left, symbol, right)
        }
    }

    /// `/` and `**` of two integers.
    private func fraction(
        _ left: Int, _ symbol: TemplateToken.Symbol, _ right: Int
    ) throws -> TemplateValue {
        guard symbol == .power, right >= 0 else {
            return .float(try combine(Double(left), symbol, Double(right)))
        }
        var result = 1
        var left = left
        var rest = right
        // By squaring: a huge exponent takes 63 steps, or overflows.
        while rest > 0 {
            if rest & 1 == 1 { result = try combine(result, .multiply, left) }
            rest >>= 1
            if rest > 0 { left = try combine(left, .multiply, left) }
        }
        return .integer(result)
    }

    private func combine(
        _ left: Double, _ symbol: TemplateToken.Symbol, _ right: Double
    ) throws -> Double {
        switch symbol {
        case .add: return left + right
        case .subtract: return left - right
        case .multiply: return left * right
        case .divide, .floorDivide, .modulo:
            if right == 0 { throw fault(.divisionByZero) }
            if symbol == .divide { return left / right }
            // Python's fmod rule: the remainder has the divisor's sign.
            var remainder = left.truncatingRemainder(dividingBy: right)
            if remainder != 0, (remainder < 0) != (right < 0) { remainder += right }
            return symbol == .modulo ? remainder : ((left - remainder) / right).rounded()
        default: throw unsupported("\"\(symbol.rawValue)\" between these numbers")
        }
    }

    /// `value * count` of a text, list or tuple.
    private mutating func repeated(
        _ value: TemplateValue, _ count: Int, mismatch other: TemplateValue
    ) throws -> TemplateValue {
        switch value {
        case .text(let text):
            var result = TemplateText().marked(text.isMarkup)
            guard !text.isEmpty, count > 0 else { return .text(result) }
            for _ in 0..<count { try append(text, to: &result) }
            return .text(result)
        case .list(let items), .tuple(let items):
            var result: [TemplateValue] = []
            if !items.items.isEmpty, count > 0 {
                for _ in 0..<count {
                    try charge(items.items.count)
                    result += items.items
                    guard result.count <= TemplateLimits.items else {
                        throw limit(.items(TemplateLimits.items))
                    }
                }
            }
            let collected = try collection(result)
            if case .list = value { return .list(collected) }
            return .tuple(collected)
        default: throw mismatch(value, .multiply, other)
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
        if let verdict = try compareVarying(left, comparison, right) { return verdict }
        let (left, right) = (try concrete(left), try concrete(right))
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
        if let first = left.real, let second = right.real { return first == second }
        switch (left, right) {
        case (.undefined, .undefined), (.none, .none): return true
        case (.longInteger(let first), .longInteger(let second)): return first == second
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
        case (.macro(let first), .macro(let second)): return first === second
        case (.function(let first), .function(let second)): return first == second
        default: return false
        }
    }

    /// Whether `left < right`; `comparison` is what the template wrote.
    mutating func precedes(
        _ left: TemplateValue, _ right: TemplateValue, _ comparison: TemplateComparison
    ) throws -> Bool {
        if let first = left.number, let second = right.number { return first < second }
        if let first = left.real, let second = right.real { return first < second }
        switch (left, right) {
        case (.undefined(let hint), _), (_, .undefined(let hint)):
            throw undefined(hint)
        case (.text(let first), .text(let second)):
            try charge(bytes: min(first.bytes.count, second.bytes.count))
            // UTF-8 sorts as its code points do.
            return first.bytes.lexicographicallyPrecedes(second.bytes)
        case (.list(let first), .list(let second)), (.tuple(let first), .tuple(let second)):
            for (one, other) in zip(first.items, second.items)
            where try !equals(one, other) {
                return try precedes(one, other, comparison)
            }
            return first.items.count < second.items.count
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
            guard let key = TemplateMapping.key(of: item) else { return false }
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
    mutating func text(of value: TemplateValue) throws -> TemplateText {
        let value = try concrete(value)
        switch value {
        case .text(let text): return text
        case .undefined: return TemplateText()
        case .none: return TemplateText("None")
        case .bool(let value): return TemplateText(value ? "True" : "False")
        case .integer(let value): return TemplateText(String(value))
        case .longInteger(let digits): return TemplateText(digits)
        case .float(let value): return TemplateText(PythonText.float(value))
        case .list, .tuple, .mapping:
            var result = TemplateText()
            try represent(value, in: &result)
            return result
        default: throw unsupported("the conversion of a \(value.typeName) to text")
        }
    }

    /// Python's `repr(value)`, which `str` of a list or dict writes of what is in it. The texts keep
    /// their origins.
    private mutating func represent(
        _ value: TemplateValue, in result: inout TemplateText
    ) throws {
        func items(_ collection: TemplateCollection, _ open: String, _ close: String) throws {
            try append(TemplateText(open), to: &result)
            for (index, item) in collection.items.enumerated() {
                if index > 0 { try append(TemplateText(", "), to: &result) }
                try represent(item, in: &result)
            }
            try append(TemplateText(close), to: &result)
        }
        switch value {
        case .text(let text):
            try charge(text.bytes.count)
            let literal = TemplateText(PythonText.literal(text.string), origin: text.soleOrigin)
            if !text.isMarkup { return try append(literal, to: &result) }
            try append(TemplateText("Markup("), to: &result)
            try append(literal, to: &result)
            try append(TemplateText(")"), to: &result)
        case .list(let collection): try items(collection, "[", "]")
        case .tuple(let collection):
            try items(collection, "(", collection.items.count == 1 ? ",)" : ")")
        case .mapping(let mapping):
            try append(TemplateText("{"), to: &result)
            for (index, (key, item)) in zip(mapping.keyValues, mapping.values).enumerated() {
                if index > 0 { try append(TemplateText(", "), to: &result) }
                try represent(key, in: &result)
                try append(TemplateText(": "), to: &result)
                try represent(item, in: &result)
            }
            try append(TemplateText("}"), to: &result)
        case .undefined: try append(TemplateText("Undefined"), to: &result)
        default: try append(try text(of: value), to: &result)
        }
    }

    /// The items that a loop over `value`, or a filter of sequences, visits.
    mutating func items(of value: TemplateValue) throws -> [TemplateValue] {
        let value = try concrete(value)
        switch value {
        case .undefined: return []
        case .list(let collection), .tuple(let collection): return collection.items
        case .mapping(let mapping):
            return try collection(mapping.keyValues).items
        case .iterator(let iterator): return iterator.drain()
        case .text(let text):
            guard text.bytes.count <= TemplateLimits.items else {
                throw limit(.items(TemplateLimits.items))
            }
            try charge(2 * text.bytes.count)
            return text.scalarRanges.map { .text(text.slice($0).marked(false)) }
        case .loop: throw unsupported("iteration over \"loop\"")
        default: throw fault(.operand(function: "iteration", type: value.typeName))
        }
    }
}
