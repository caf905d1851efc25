/// Functions, and the binding of arguments to parameters.
extension TemplateInterpreter {
    /// The values of `parameters`, nil where none was given.
    ///
    /// - Parameters:
    ///   - arguments: What the template wrote.
    ///   - parameters: Names that can be given by position or by name.
    ///   - function: Its name, for errors.
    ///   - positionalOnly: How many leading parameters have no name.
    ///   - required: How many of all must be given.
    /// - Returns: One value for every parameter, those without a name first.
    /// - Throws: `EvaluationFault.arguments` when they do not fit.
    func bind(
        _ arguments: Arguments, _ parameters: [String], _ function: String,
        positionalOnly: Int = 0, required: Int = 0
    ) throws -> [TemplateValue?] {
        let count = positionalOnly + parameters.count
        guard arguments.positional.count <= count else {
            throw fault(.arguments(function: function))
        }
        var bound: [TemplateValue?] = arguments.positional
        bound += [TemplateValue?](repeating: nil, count: count - bound.count)
        for (name, value) in arguments.keywords {
            guard let index = parameters.firstIndex(of: name), bound[positionalOnly + index] == nil
            else { throw fault(.arguments(function: function)) }
            bound[positionalOnly + index] = value
        }
        guard bound.prefix(required).allSatisfy({ $0 != nil }) else {
            throw fault(.arguments(function: function))
        }
        return bound
    }

    /// `callee(arguments)`
    mutating func call(
        _ callee: TemplateValue, _ arguments: Arguments
    ) throws -> TemplateValue {
        switch callee {
        case .undefined(let hint): throw undefined(hint)
        case .macro(let macro): return .text(try call(macro, arguments))
        case .loop(let loop):
            let items = try bind(arguments, ["iterable"], "loop()", required: 1)[0]
            return .text(try recurse(loop, into: items ?? .none))
        case .function(let name):
            guard let function = TemplateFunction(rawValue: name) else {
                throw unsupported("the function \"\(TemplateError.excerpt(name))\"")
            }
            return try call(function, arguments)
        default: throw fault(.notCallable(callee.typeName))
        }
    }

    private mutating func call(
        _ function: TemplateFunction, _ arguments: Arguments
    ) throws -> TemplateValue {
        switch function {
        case .raiseException:
            let message = try bind(arguments, ["message"], "raise_exception()", required: 1)[0]
            let text = try text(of: message ?? .none).string
            throw TemplateError.raised(
                message: TemplateError.excerpt(text), line: line, template: template)
        case .strftimeNow:
            let format = try bind(arguments, ["format"], "strftime_now()", required: 1)[0]
            return try date(format ?? .none)
        case .namespace:
            return try namespace(arguments)
        case .range:
            return try range(arguments)
        case .dict:
            return try dict(arguments)
        }
    }

    /// Binds the arguments as Jinja2 does: a missing one is undefined unless it has a default.
    private mutating func call(
        _ macro: TemplateMacro, _ arguments: Arguments
    ) throws -> TemplateText {
        let syntax = macro.syntax
        var frame: [String: TemplateValue] = [:]
        for (name, value) in zip(syntax.parameters, arguments.positional) { frame[name] = value }
        let extra = Array(arguments.positional.dropFirst(syntax.parameters.count))
        var others: [(name: String, value: TemplateValue)] = []
        for (name, value) in arguments.keywords {
            if syntax.parameters.contains(name) || name == "caller" {
                guard frame[name] == nil else { throw fault(.arguments(function: syntax.name)) }
                frame[name] = value
            } else {
                others.append((name, value))
            }
        }
        if syntax.accepted.contains("caller"), frame["caller"] == nil {
            frame["caller"] = .undefined(hint: "No caller defined")
        }
        guard extra.isEmpty || syntax.accepted.contains("varargs"),
            others.isEmpty || syntax.accepted.contains("kwargs"),
            frame["caller"] == nil || syntax.accepted.contains("caller")
                || syntax.parameters.contains("caller")
        else { throw fault(.arguments(function: syntax.name)) }
        frame["varargs"] = .tuple(try collection(extra))
        frame["kwargs"] = .mapping(
            try limited(
                TemplateMapping(
                    keys: others.map { TemplateText($0.name) }, values: others.map(\.value))))
        let missing = syntax.parameters.enumerated().filter { frame[$0.element] == nil }
        let firstDefault = syntax.parameters.count - syntax.defaults.count
        return try run(macro, in: frame) { interpreter in
            for (index, name) in missing {
                let value: TemplateValue =
                    index >= firstDefault
                    ? try interpreter.evaluate(syntax.defaults[index - firstDefault])
                    : .undefined(
                        hint: "parameter '\(TemplateError.excerpt(name))' was not provided")
                interpreter.frames[interpreter.frames.count - 1][name] = value
            }
        }
    }

    /// `range(end)`, `range(start, end, step)`
    private mutating func range(_ given: Arguments) throws -> TemplateValue {
        if let growing = try growingRange(given) { return growing }
        let arguments = try concrete(given)
        let numbers = try bind(arguments, [], "range()", positionalOnly: 3, required: 1).map {
            (value: TemplateValue?) throws -> Int? in
            guard let value else { return nil }
            guard case .some(let number) = value.number else {
                throw fault(.operand(function: "range", type: value.typeName))
            }
            return number
        }
        let start = numbers[1] == nil ? 0 : numbers[0] ?? 0
        let end = numbers[1] ?? numbers[0] ?? 0
        let step = numbers[2] ?? 1
        guard step != 0 else { throw fault(.zeroSliceStep) }
        var items: [TemplateValue] = []
        var next = start
        while step > 0 ? next < end : next > end {
            guard items.count < TemplateLimits.items else {
                throw limit(.items(TemplateLimits.items))
            }
            items.append(.integer(next))
            let (sum, overflows) = next.addingReportingOverflow(step)
            if overflows { break }
            next = sum
        }
        return .list(try collection(items))
    }

    private mutating func dict(_ arguments: Arguments) throws -> TemplateValue {
        var result = TemplateMapping(keys: [], values: [])
        if let first = arguments.positional.first {
            guard arguments.positional.count == 1 else { throw fault(.arguments(function: "dict")) }
            guard case .mapping(let mapping) = first else {
                throw unsupported("a dict from anything but a dict")
            }
            result = mapping
        }
        for (name, value) in arguments.keywords {
            try set(TemplateText(name), to: value, in: &result)
        }
        return .mapping(try limited(result))
    }

    private mutating func date(_ format: TemplateValue) throws -> TemplateValue {
        guard case .text(let text) = format else {
            throw fault(.operand(function: "strftime_now", type: format.typeName))
        }
        try charge(bytes: text.bytes.count)
        switch date.formatted(text.string) {
        case .success(let result): return .text(TemplateText(result))
        case .failure(let directive):
            throw unsupported("\"\(directive.text)\" in the format of strftime_now")
        }
    }

    /// `namespace(mapping?, name=value...)`
    private mutating func namespace(_ arguments: Arguments) throws -> TemplateValue {
        let namespace = TemplateNamespace([:])
        if let first = arguments.positional.first {
            guard arguments.positional.count == 1, case .mapping(let mapping) = first else {
                throw unsupported("a namespace from anything but one dict")
            }
            guard !mapping.hasIntegerKeys else { throw fault(.arguments(function: "namespace")) }
            for (key, value) in zip(mapping.keys, mapping.values) {
                try set(value, as: key.string, in: namespace)
            }
        }
        for (name, value) in arguments.keywords { try set(value, as: name, in: namespace) }
        return .namespace(namespace)
    }
}
