/// Runs a parsed template. Each value does one rendering.
///
/// Semantics are those of Jinja2 3.1.6 and Python 3.11. What a template can do is bounded by
/// `TemplateLimits`; every recursion follows the nesting of the source or of a value, which the
/// parser and `collection` bound.
struct TemplateInterpreter {
    let template: String
    let date: TemplateDate
    /// The line of what is being evaluated, for errors.
    var line = 1
    private var frames: [[String: TemplateValue]] = []
    private var output = TemplateText()
    private var steps = 0

    init(template: String, date: TemplateDate) {
        self.template = template
        self.date = date
    }

    /// The text that `body` writes.
    mutating func render(
        _ body: [TemplateStatement], variables: [String: TemplateValue]
    ) throws -> TemplateText {
        frames = [variables]
        try run(body)
        return output
    }

    // MARK: - Statements

    private mutating func run(_ statements: [TemplateStatement]) throws {
        for statement in statements { try run(statement) }
    }

    private mutating func run(_ statement: TemplateStatement) throws {
        try charge(1)
        switch statement {
        case .text(let text):
            try write(text)
        case .output(let expression):
            let value = try evaluate(expression)
            line = expression.line
            try write(try text(of: value))
        case .choice(let branches, let otherwise):
            for branch in branches where try evaluate(branch.test).isTrue {
                return try run(branch.body)
            }
            try run(otherwise)
        case .loop(let syntax):
            try run(syntax)
        case .assignment(let target, let expression):
            let value = try evaluate(expression)
            line = expression.line
            try assign(value, to: target)
        case .capture(let target, let line, let body):
            let outer = output
            output = TemplateText()
            try inFrame([:]) { try $0.run(body) }
            let captured = output
            output = outer
            self.line = line
            try assign(.text(captured), to: target)
        case .scope(let body):
            try inFrame([:]) { try $0.run(body) }
        }
    }

    private mutating func run(_ syntax: TemplateLoopSyntax) throws {
        let iterable = try evaluate(syntax.items)
        line = syntax.items.line
        let loop = TemplateLoop(
            source: try items(of: iterable), filter: syntax.filter, target: syntax.target,
            outerFrames: frames.count)
        while let item = try advance(loop) {
            try inFrame(["loop": .loop(loop)]) { interpreter in
                interpreter.line = syntax.items.line
                try interpreter.assign(item, to: syntax.target)
                try interpreter.run(syntax.body)
            }
        }
        if loop.index0 < 0 { try inFrame([:]) { try $0.run(syntax.otherwise) } }
    }

    private mutating func write(_ text: TemplateText) throws {
        try admit(text, after: output.bytes.count)
        output.append(text)
    }

    // MARK: - Loops

    /// Moves to the next item; nil at the end.
    private mutating func advance(_ loop: TemplateLoop) throws -> TemplateValue? {
        let item = try peek(loop)
        loop.ahead = nil
        guard let item else { return nil }
        loop.index0 += 1
        loop.previous = loop.current
        loop.current = item
        return item
    }

    /// The item after the current one, nil at the end.
    mutating func peek(_ loop: TemplateLoop) throws -> TemplateValue? {
        if loop.ahead == nil { loop.ahead = try pull(loop) }
        return loop.ahead
    }

    /// The loop's total number of items. Filters all those that remain.
    mutating func length(of loop: TemplateLoop) throws -> Int {
        if loop.filter != nil {
            var rest: [TemplateValue] = []
            while let item = try pull(loop) { rest.append(item) }
            loop.source = rest
            loop.position = 0
            loop.filter = nil
        }
        let left = loop.source.count - loop.position
        return loop.index0 + 1 + (loop.ahead == nil ? 0 : 1) + left
    }

    /// The next item that passes the filter, which sees the target and what is outside the loop.
    private mutating func pull(_ loop: TemplateLoop) throws -> TemplateValue? {
        while loop.position < loop.source.count {
            let item = loop.source[loop.position]
            loop.position += 1
            try charge(1)
            guard let filter = loop.filter else { return item }
            let inner = Array(frames[loop.outerFrames...])
            frames.removeSubrange(loop.outerFrames...)
            let passes = try inFrame([:]) { interpreter in
                try interpreter.assign(item, to: loop.target)
                return try interpreter.evaluate(filter).isTrue
            }
            frames += inner
            if passes { return item }
        }
        return nil
    }

    // MARK: - Variables

    private mutating func inFrame<Result>(
        _ variables: [String: TemplateValue],
        _ body: (inout TemplateInterpreter) throws -> Result
    ) throws -> Result {
        frames.append(variables)
        let result = try body(&self)
        frames.removeLast()
        return result
    }

    /// The innermost variable of this name; else the function of this name; else undefined.
    func variable(_ name: String) -> TemplateValue {
        for frame in frames.reversed() {
            if let value = frame[name] { return value }
        }
        if TemplateFunction(rawValue: name) != nil
            || TemplateVocabulary.absentFunctions.contains(name)
        {
            return .function(name)
        }
        return .undefined(hint: "'\(TemplateError.excerpt(name))' is undefined")
    }

    private mutating func assign(_ value: TemplateValue, to target: TemplateTarget) throws {
        switch target {
        case .name(let name):
            frames[frames.count - 1][name] = value
        case .names(let names):
            let parts = try items(of: value)
            guard parts.count == names.count else {
                throw fault(.unpacking(expected: names.count, found: parts.count))
            }
            for (name, part) in zip(names, parts) { frames[frames.count - 1][name] = part }
        case .attribute(let name, let attribute):
            let holder = variable(name)
            guard case .namespace(let namespace) = holder else {
                throw fault(.notNamespace(name: TemplateError.excerpt(name), type: holder.typeName))
            }
            try set(value, as: attribute, in: namespace)
        }
    }

    /// Sets an attribute of a namespace. Namespaces and loops may not be put into one, so that no
    /// cycle and no unbounded depth can arise.
    mutating func set(
        _ value: TemplateValue, as attribute: String, in namespace: TemplateNamespace
    ) throws {
        if attribute.hasPrefix("_") {
            throw unsupported("a namespace attribute that begins with an underscore")
        }
        switch value {
        case .namespace, .loop, .iterator:
            throw unsupported("a \(value.typeName) inside a namespace")
        default: namespace.attributes[attribute] = value
        }
    }

    // MARK: - Limits and errors

    /// Counts `cost` units of work.
    mutating func charge(_ cost: Int) throws {
        steps += cost
        if steps > TemplateLimits.steps { throw limit(.steps(TemplateLimits.steps)) }
    }

    /// Counts the work of reading or copying `count` bytes.
    mutating func charge(bytes count: Int) throws {
        try charge(1 + count / TemplateLimits.bytesPerStep)
    }

    /// Appends `text`, within the limits of work and size.
    mutating func append(_ text: TemplateText, to result: inout TemplateText) throws {
        try admit(text, after: result.bytes.count)
        result.append(text)
    }

    /// Counts the work of appending `text` to `count` bytes, and checks the length of the result.
    private mutating func admit(_ text: TemplateText, after count: Int) throws {
        try charge(bytes: text.bytes.count)
        guard count + text.bytes.count <= TemplateLimits.textBytes else {
            throw limit(.textBytes(TemplateLimits.textBytes))
        }
    }

    /// The items of a list or tuple, within the limits of size and depth. Creating them costs
    /// steps, too.
    mutating func collection(_ items: [TemplateValue]) throws -> TemplateCollection {
        try charge(2 * items.count)
        var depth = 0
        var weight = 1
        for item in items {
            switch item {
            case .namespace, .loop, .iterator:
                throw unsupported("a \(item.typeName) inside a list")
            default:
                depth = max(depth, item.depth)
                weight += item.weight
            }
            guard weight <= TemplateLimits.items else { throw limit(.items(TemplateLimits.items)) }
        }
        guard depth < TemplateLimits.valueDepth else {
            throw limit(.valueDepth(TemplateLimits.valueDepth))
        }
        return TemplateCollection(items: items, depth: depth + 1, weight: weight)
    }

    func fault(_ fault: TemplateError.EvaluationFault) -> TemplateError {
        .evaluation(fault, line: line, template: template)
    }

    func unsupported(_ construct: String) -> TemplateError {
        .unsupported(construct: construct, line: line, template: template)
    }

    func undefined(_ hint: String) -> TemplateError {
        .undefined(hint: hint, line: line, template: template)
    }

    func limit(_ limit: TemplateError.Limit) -> TemplateError {
        .limit(limit, line: line, template: template)
    }
}

/// Tests, `value is name(arguments)`, as jinja2/tests.py (3.1.6) has them.
extension TemplateInterpreter {
    mutating func test(
        _ name: String, _ value: TemplateValue, _ arguments: [TemplateValue]
    ) throws -> Bool {
        if let comparison = Self.comparisons[name] {
            guard arguments.count == 1 else { throw fault(.arguments(function: "is \(name)")) }
            return try compare(value, comparison, arguments[0])
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
        case ("integer", .integer): return true
        case ("number", .integer), ("number", .bool): return true
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
