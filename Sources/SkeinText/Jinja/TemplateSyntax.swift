/// A statement of a parsed template.
indirect enum TemplateStatement: Sendable {
    case text(TemplateText)
    case output(TemplateExpression)
    /// `if`, `elif`...: the first branch whose test holds, else `otherwise`.
    case choice([TemplateBranch], otherwise: [TemplateStatement])
    case loop(TemplateLoopSyntax)
    /// `{% set target = value %}`
    case assignment(TemplateTarget, TemplateExpression)
    /// `{% set target %}...{% endset %}`
    case capture(TemplateTarget, line: Int, [TemplateStatement])
    /// `{% generation %}...{% endgeneration %}`: rendered unchanged, with variables of its own.
    case scope([TemplateStatement])
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
        case call(TemplateFunction, TemplateArguments)
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
        case filter(String, TemplateArguments)
        case test(String, TemplateArguments, isNegated: Bool)
    }
}

enum TemplateLiteral: Sendable {
    case none
    case bool(Bool)
    case integer(Int)
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

struct TemplateArguments: Sendable {
    var positional: [TemplateExpression] = []
    var keywords: [(name: String, value: TemplateExpression)] = []
}

/// The functions that a template can call.
enum TemplateFunction: String, Sendable {
    case raiseException = "raise_exception"
    case strftimeNow = "strftime_now"
    case namespace
}

/// The names that this interpreter knows. Anything else is an unsupported construct, which the
/// parser finds before anything is rendered.
enum TemplateVocabulary {
    static let filters: Set<String> = [
        "count", "d", "default", "first", "items", "join", "last", "length", "list", "lower",
        "reject", "rejectattr", "select", "selectattr", "string", "tojson", "trim", "upper",
    ]

    static let tests: Set<String> = [
        "!=", "<", "<=", "==", ">", ">=", "boolean", "defined", "eq", "equalto", "even", "false",
        "float", "ge", "greaterthan", "gt", "in", "integer", "iterable", "le", "lessthan", "lt",
        "mapping", "ne", "none", "number", "odd", "sequence", "string", "true", "undefined",
    ]

    static let textMethods: Set<String> = [
        "endswith", "lower", "lstrip", "rstrip", "split", "startswith", "strip", "upper",
    ]

    static let mappingMethods: Set<String> = ["get", "items", "keys", "values"]

    /// Functions that Jinja2 has and this interpreter lacks. They are defined, so `is defined` is
    /// true.
    static let absentFunctions: Set<String> = ["cycler", "dict", "joiner", "lipsum", "range"]

    /// Words that cannot be variables.
    static let reservedWords: Set<String> = ["and", "else", "if", "in", "is", "not", "or"]
}
