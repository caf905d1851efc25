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
    var frames: [[String: TemplateValue]] = []
    private var output = TemplateText()
    private var steps = 0
    /// Statements and expressions around the current one.
    var depth = 0
    /// A `break` or `continue` on its way out to its loop.
    private var interruption: Interruption?

    private enum Interruption {
        case leave
        case goOn
    }

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
        for statement in statements {
            try run(statement)
            if interruption != nil { return }
        }
    }

    private mutating func run(_ statement: TemplateStatement) throws {
        try charge(1)
        depth += 1
        defer { depth -= 1 }
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
        case .capture(let target, let line, let filters, let body):
            let captured = try capturing { try $0.inFrame([:]) { try $0.run(body) } }
            if interruption != nil { return }
            self.line = line
            try assign(try follow(filters, from: .text(captured)), to: target)
        case .filtered(let filters, let body):
            let captured = try capturing { try $0.inFrame([:]) { try $0.run(body) } }
            try write(try text(of: try follow(filters, from: .text(captured))))
        case .generation(let body):
            let captured = try capturing { try $0.inFrame([:]) { try $0.run(body) } }
            try write(captured.generated())
        case .with(let assignments, let body):
            var frame: [String: TemplateValue] = [:]
            for (target, expression) in assignments {
                guard case .name(let name) = target else { continue }
                frame[name] = try evaluate(expression)
            }
            try inFrame(frame) { try $0.run(body) }
        case .macro(let syntax):
            let macro = TemplateMacro(syntax, visibleFrames: frames.count)
            frames[frames.count - 1][syntax.name] = .macro(macro)
        case .callBlock(let call, let syntax):
            let caller = TemplateMacro(syntax, visibleFrames: frames.count, frames: frames)
            try write(try text(of: try evaluate(call, caller: .macro(caller))))
        case .interruption(let isBreak):
            interruption = isBreak ? .leave : .goOn
        }
    }

    /// What `body` writes.
    private mutating func capturing(
        _ body: (inout TemplateInterpreter) throws -> Void
    ) throws -> TemplateText {
        let outer = output
        output = TemplateText()
        try body(&self)
        let captured = output
        output = outer
        return captured
    }

    /// Runs a macro whose arguments are in `frame`, which `prepare` completes, with the macro's
    /// variables in sight.
    mutating func run(
        _ macro: TemplateMacro, in frame: [String: TemplateValue],
        preparing prepare: (inout TemplateInterpreter) throws -> Void
    ) throws -> TemplateText {
        try inCall(seeing: macro.frames ?? Array(frames.prefix(macro.visibleFrames))) {
            try $0.inFrame(frame) { interpreter in
                try prepare(&interpreter)
                return try interpreter.capturing { try $0.run(macro.syntax.body) }
            }
        }
    }

    /// `loop(items)` inside of a recursive loop.
    mutating func recurse(_ loop: TemplateLoop, into items: TemplateValue) throws -> TemplateText {
        guard loop.syntax.isRecursive else { throw fault(.notCallable("loop")) }
        return try inCall(seeing: Array(frames.prefix(loop.outerFrames))) {
            try $0.capturing { try $0.run(loop.syntax, over: items, depth: loop.depth + 1) }
        }
    }

    private mutating func inCall(
        seeing visible: [[String: TemplateValue]],
        _ body: (inout TemplateInterpreter) throws -> TemplateText
    ) throws -> TemplateText {
        guard depth <= TemplateLimits.callDepth else {
            throw limit(.calls(TemplateLimits.callDepth))
        }
        try charge(visible.count)
        let outer = frames
        frames = visible
        let result = try body(&self)
        frames = outer
        return result
    }

    private mutating func run(_ syntax: TemplateLoopSyntax) throws {
        try run(syntax, over: try evaluate(syntax.items), depth: 0)
    }

    mutating func run(
        _ syntax: TemplateLoopSyntax, over iterable: TemplateValue, depth: Int
    ) throws {
        line = syntax.items.line
        let loop = TemplateLoop(
            source: try items(of: iterable), syntax: syntax, outerFrames: frames.count,
            depth: depth)
        var hasRun = false
        while let item = try advance(loop) {
            try inFrame(["loop": .loop(loop)]) { interpreter in
                interpreter.line = syntax.items.line
                try interpreter.assign(item, to: syntax.target)
                try interpreter.run(syntax.body)
            }
            // As in Jinja2, an iteration that is cut short does not count for `else`.
            if interruption == nil { hasRun = true }
            let isLeft = interruption == .leave
            interruption = nil
            if isLeft { break }
        }
        if !hasRun { try inFrame([:]) { try $0.run(syntax.otherwise) } }
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
        case .namespace, .loop, .macro:
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
            case .namespace, .loop, .iterator, .macro:
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
