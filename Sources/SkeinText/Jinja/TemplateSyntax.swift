/// A statement of a parsed template.
indirect enum TemplateStatement: Sendable {
    case text(TemplateText)
    case output(TemplateExpression)
    /// `if`, `elif`...: the first branch whose test holds, else `otherwise`.
    case choice([TemplateBranch], otherwise: [TemplateStatement])
    case loop(TemplateLoopSyntax)
    /// `{% set target = value %}`
    case assignment(TemplateTarget, TemplateExpression)
    /// `{% set target|filters %}...{% endset %}`
    case capture(
        TemplateTarget, line: Int, filters: [TemplateExpression.Link], [TemplateStatement])
    /// `{% filter filters %}...{% endfilter %}`
    case filtered([TemplateExpression.Link], [TemplateStatement])
    /// `{% generation %}...{% endgeneration %}`: rendered unchanged, with variables of its own;
    /// what it writes is what the model said.
    case generation([TemplateStatement])
    /// `{% with target = value, ... %}...{% endwith %}`
    case with([(target: TemplateTarget, value: TemplateExpression)], [TemplateStatement])
    case macro(TemplateMacroSyntax)
    /// `{% call(parameters) callee(arguments) %}body{% endcall %}`
    case callBlock(TemplateExpression, caller: TemplateMacroSyntax)
    /// `{% break %}`, which ends the loop, or `{% continue %}`.
    case interruption(isBreak: Bool)
}

struct TemplateBranch: Sendable {
    var test: TemplateExpression
    var body: [TemplateStatement]
}

/// `{% for target in items if filter %}body{% else %}otherwise{% endfor %}`
struct TemplateLoopSyntax: Sendable {
    var target: TemplateTarget
    var items: TemplateExpression
    var filter: TemplateExpression?
    var body: [TemplateStatement]
    /// Rendered when there are no items.
    var otherwise: [TemplateStatement]
    /// Whether the body may call `loop(items)`.
    var isRecursive = false
}

/// `{% macro name(parameters) %}body{% endmacro %}`
struct TemplateMacroSyntax: Sendable {
    var name: String
    var parameters: [String]
    /// The defaults of the last parameters.
    var defaults: [TemplateExpression]
    var body: [TemplateStatement] = []
    /// Which of `varargs`, `kwargs` and `caller` the body uses: only these it accepts.
    var accepted: Set<String> = []
}

/// What a value can be assigned to.
enum TemplateTarget: Sendable, Equatable {
    case name(String)
    case names([String])
    /// `{% set namespace.attribute = ... %}`
    case attribute(namespace: String, String)
}

/// An expression of a parsed template.
///
/// Chains of equal precedence are one node with many operands, so that an expression is as deep as
/// its brackets, not as long as its text: the parser's nesting limit then bounds every recursion.
struct TemplateExpression: Sendable {
    var line: Int
    var form: Form

    indirect enum Form: Sendable {
        case literal(TemplateLiteral)
        case name(String)
        case list([TemplateExpression])
        case tuple([TemplateExpression])
        case mapping(keys: [TemplateExpression], values: [TemplateExpression])
        /// `first + a - b...`, from left to right, all of one precedence.
        case arithmetic(TemplateExpression, [Operand])
        case concatenation([TemplateExpression])
        /// `first < a <= b`: every neighbouring pair must hold, as in Python.
        case comparison(TemplateExpression, [Comparand])
        case all([TemplateExpression])
        case any([TemplateExpression])
        case not(TemplateExpression)
        case negative(TemplateExpression)
        case positive(TemplateExpression)
        case conditional(
            test: TemplateExpression, then: TemplateExpression, otherwise: TemplateExpression?)
        /// Subscripts, methods, filters and tests, applied one after the other.
        case chain(TemplateExpression, [Link])
    }

    struct Operand: Sendable {
        var symbol: TemplateToken.Symbol
        var value: TemplateExpression
    }

    struct Comparand: Sendable {
        var comparison: TemplateComparison
        var value: TemplateExpression
    }

    struct Link: Sendable {
        var line: Int
        var form: LinkForm
    }

    indirect enum LinkForm: Sendable {
        case attribute(String)
        case item(TemplateExpression)
        case slice(TemplateExpression?, TemplateExpression?, TemplateExpression?)
        case method(String, TemplateArguments)
        case call(TemplateArguments)
        case filter(String, TemplateArguments)
        case test(String, TemplateArguments, isNegated: Bool)
    }
}

enum TemplateLiteral: Sendable {
    case none
    case bool(Bool)
    case integer(Int)
    case float(Double)
    case text(TemplateText)
}

enum TemplateComparison: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case contained = "in"
    case notContained = "not in"
}

/// `(a, b=1, *c, **d)`
struct TemplateArguments: Sendable {
    var positional: [TemplateExpression] = []
    var keywords: [(name: String, value: TemplateExpression)] = []
    /// nil for almost all calls; elsewhere than in the arguments, which are on the stack at each level of
    /// an expression.
    var spread: TemplateSpread?
}

/// What stands behind `*` and `**`: its items are further positional arguments, its entries further ones
/// with names.
indirect enum TemplateSpread: Sendable {
    case of(items: TemplateExpression?, entries: TemplateExpression?)

    var items: TemplateExpression? {
        switch self {
        case .of(let items, _): items
        }
    }

    var entries: TemplateExpression? {
        switch self {
        case .of(_, let entries): entries
        }
    }
}

/// The functions that a template can call.
enum TemplateFunction: String, Sendable {
    case raiseException = "raise_exception"
    case strftimeNow = "strftime_now"
    case namespace
    case range
    case dict
}

/// The names that this interpreter knows. Any other filter or test is an unsupported construct,
/// which the parser finds before anything is rendered, unless it stands in a branch.
enum TemplateVocabulary {
    static let filters: Set<String> = [
        "abs", "attr", "batch", "capitalize", "count", "d", "default", "dictsort", "e", "escape",
        "first", "float", "format", "indent", "int", "items", "join", "last", "length", "list",
        "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "safe",
        "select", "selectattr", "sort", "string", "sum", "title", "tojson", "trim", "unique",
        "upper", "wordcount",
    ]

    static let tests: Set<String> = [
        "!=", "<", "<=", "==", ">", ">=", "boolean", "callable", "defined", "divisibleby", "eq",
        "equalto", "even", "false", "float", "ge", "greaterthan", "gt", "in", "integer",
        "iterable", "le", "lessthan", "lower", "lt", "mapping", "ne", "none", "number", "odd",
        "sameas", "sequence", "string", "true", "undefined", "upper",
    ]

    static let textMethods: Set<String> = [
        "capitalize", "count", "endswith", "find", "format", "isalnum", "isalpha", "isdigit",
        "isspace", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix",
        "replace",
        "rfind", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip",
        "title", "upper",
    ]

    static let mappingMethods: Set<String> = ["copy", "get", "items", "keys", "values"]

    static let listMethods: Set<String> = ["copy", "count", "index"]

    static let loopMethods: Set<String> = ["changed", "cycle"]

    /// Functions that Jinja2 has and this interpreter lacks. They are defined, so `is defined` is
    /// true.
    static let absentFunctions: Set<String> = ["cycler", "joiner", "lipsum"]

    /// Words that cannot be variables.
    static let reservedWords: Set<String> = ["and", "else", "if", "in", "is", "not", "or"]
}
