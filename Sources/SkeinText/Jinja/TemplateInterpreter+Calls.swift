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

    mutating func call(
        _ function: TemplateFunction, _ arguments: Arguments, line: Int
    ) throws -> TemplateValue {
        self.line = line
        guard case .function = variable(function.rawValue) else {
            throw fault(.notCallable(function.rawValue))
        }
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
        }
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
            for (key, value) in zip(mapping.keys, mapping.values) {
                try set(value, as: key.string, in: namespace)
            }
        }
        for (name, value) in arguments.keywords { try set(value, as: name, in: namespace) }
        return .namespace(namespace)
    }
}
