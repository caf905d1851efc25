/// Tests, `value is name(arguments)`, as jinja2/tests.py (3.1.6) has them.
extension TemplateInterpreter {
    mutating func test(
        _ name: String, _ value: TemplateValue, _ arguments: [TemplateValue]
    ) throws -> Bool {
        if let comparison = Self.comparisons[name] {
            guard arguments.count == 1 else { throw fault(.arguments(function: "is \(name)")) }
            return try compare(value, comparison, arguments[0])
        }
        switch (name, value) {
        case ("divisibleby", _):
            guard arguments.count == 1, let number = value.number,
                let divisor = arguments[0].number
            else { throw fault(.arguments(function: "is divisibleby")) }
            return try combine(.integer(number), .modulo, .integer(divisor)).number == 0
        case ("sameas", _):
            guard arguments.count == 1 else { throw fault(.arguments(function: "is sameas")) }
            // Only these are certain to be one object in Python.
            switch (value, arguments[0]) {
            case (.none, .none): return true
            case (.bool(let left), .bool(let right)): return left == right
            case (.none, _), (_, .none), (.bool, _), (_, .bool): return false
            default: throw unsupported("the test \"sameas\" of a \(value.typeName)")
            }
        default: break
        }
        guard TemplateVocabulary.tests.contains(name) else {
            throw unsupported("the test \"\(TemplateError.excerpt(name))\"")
        }
        guard arguments.isEmpty else { throw fault(.arguments(function: "is \(name)")) }
        switch (name, value) {
        case ("defined", .undefined): return false
        case ("defined", _): return true
        case ("undefined", .undefined): return true
        case ("none", .none): return true
        case ("boolean", .bool): return true
        case ("true", .bool(let isTrue)): return isTrue
        case ("false", .bool(let isTrue)): return !isTrue
        case ("integer", .integer), ("integer", .longInteger): return true
        case ("number", .longInteger), ("number", .integer), ("number", .bool), ("number", .float):
            return true
        case ("float", .float): return true
        case ("callable", .macro), ("callable", .function): return true
        case ("callable", .loop): return true
        case ("lower", _), ("upper", _):
            let text = try text(of: value)
            let cased = text.string.unicodeScalars.contains { $0.properties.isCased }
            guard cased else { return false }
            let recased = try recased(text, name)
            return recased == text
        case ("string", .text): return true
        case ("mapping", .mapping): return true
        case ("iterable", _): return isIterable(value)
        case ("sequence", _): return isSequence(value)
        case ("odd", _), ("even", _):
            if case .undefined(let hint) = value { throw undefined(hint) }
            guard let number = value.number else {
                throw fault(.operand(function: "is \(name)", type: value.typeName))
            }
            return (number % 2 != 0) == (name == "odd")
        default: return false
        }
    }

    private func isIterable(_ value: TemplateValue) -> Bool {
        switch value {
        case .undefined, .text, .list, .tuple, .mapping, .iterator, .loop: true
        default: false
        }
    }

    private func isSequence(_ value: TemplateValue) -> Bool {
        switch value {
        case .undefined, .text, .list, .tuple, .mapping: true
        default: false
        }
    }

    private static let comparisons: [String: TemplateComparison] = [
        "==": .equal, "eq": .equal, "equalto": .equal,
        "!=": .notEqual, "ne": .notEqual,
        "<": .less, "lt": .less, "lessthan": .less,
        "<=": .lessOrEqual, "le": .lessOrEqual,
        ">": .greater, "gt": .greater, "greaterthan": .greater,
        ">=": .greaterOrEqual, "ge": .greaterOrEqual,
        "in": .contained,
    ]
}
