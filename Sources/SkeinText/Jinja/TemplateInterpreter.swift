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
    /// Where the text goes, unless it is captured, when several renderings are done at once.
    var log: TemplateLog?
    /// Captures around the current statement.
    private var captures = 0
    private(set) var steps = 0
    /// The renderings that are done at once; nil: one alone.
    var variants: TemplateVariants?
    /// Statements and expressions around the current one.
    var depth = 0
    /// A `break` or `continue` on its way out to its loop.
    var interruption: Interruption?

    enum Interruption {
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

    mutating func run(_ statements: [TemplateStatement]) throws {
        for statement in statements {
            try run(statement)
            if interruption != nil { return }
        }
    }

    mutating func run(_ statement: TemplateStatement) throws {
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
            for branch in branches {
                let test = try evaluate(branch.test)
                if truth(of: test) { return try run(branch.body) }
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
        captures += 1
        try body(&self)
        captures -= 1
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

    private mutating func write(_ text: TemplateText) throws {
        guard captures == 0, let before = log?.byteCount else {
            try admit(text, after: output.bytes.count)
            return output.append(text)
        }
        try admit(text, after: before)
        log?.append(text)
    }

    // MARK: - Variables

    mutating func inFrame<Result>(
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

    mutating func assign(_ value: TemplateValue, to target: TemplateTarget) throws {
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

    /// Takes the steps of another run for this one's, if they are more.
    mutating func charge(asMuchAs other: TemplateInterpreter) { steps = max(steps, other.steps) }

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
    mutating func collection(_ given: [TemplateValue]) throws -> TemplateCollection {
        try charge(2 * given.count)
        let items = try concrete(all: given)
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
