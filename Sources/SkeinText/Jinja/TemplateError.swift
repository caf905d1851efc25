/// Why a chat template could not be parsed or rendered. `line` counts from 1 in the template's
/// source.
package enum TemplateError: Error, Equatable {
    /// The template is not well-formed.
    case syntax(SyntaxFault, line: Int, template: String)
    /// The template uses a part of Jinja that this interpreter does not have.
    case unsupported(construct: String, line: Int, template: String)
    /// The template called `raise_exception(message)`: it refuses this conversation. A long message
    /// is cut.
    case raised(message: String, line: Int, template: String)
    /// The template used a value that does not exist; `hint` says which, in Jinja's words.
    case undefined(hint: String, line: Int, template: String)
    /// An operation failed on its values.
    case evaluation(EvaluationFault, line: Int, template: String)
    /// The template exceeds what a template may use.
    case limit(Limit, line: Int, template: String)

    /// Whether the template refuses or fails on this conversation and may accept another one.
    var isRefusal: Bool {
        switch self {
        case .raised, .undefined, .evaluation: true
        case .syntax, .unsupported, .limit: false
        }
    }

    /// The beginning of a text that the template or the conversation chose, for an error. In code
    /// points, because one grapheme cluster can be as long as the whole text.
    static func excerpt(_ text: String) -> String {
        String(text.unicodeScalars.prefix(TemplateLimits.quotedCharacters))
    }

    /// What is malformed.
    package enum SyntaxFault: Equatable, Sendable {
        case unterminatedComment
        case unterminatedTag
        case unterminatedString
        /// A block's end is missing; `line` of the error is where the block begins.
        case unclosedBlock(tag: String)
        /// A tag such as `else` or `endfor` without its open block.
        case unexpectedTag(String)
        case unexpectedCharacter(String)
        case unexpectedToken(found: String, expected: String)
        case unbalancedBracket(String)
        case invalidEscape(String)
        case integerTooLarge(String)
        case cannotAssign(to: String)
        case chainedTests
    }

    /// What failed while rendering. Types have Python's names, as in Jinja's own messages.
    package enum EvaluationFault: Equatable, Sendable {
        case operands(operator: String, left: String, right: String)
        case operand(function: String, type: String)
        case arguments(function: String)
        /// An argument has its name in the call and in what stands behind `**`.
        case repeatedArgument(String)
        case divisionByZero
        case integerOverflow
        case emptySeparator
        case zeroSliceStep
        case unpacking(expected: Int, found: Int)
        case notNamespace(name: String, type: String)
        case notCallable(String)
        case notSerializable(type: String)
    }

    /// Which limit was exceeded.
    package enum Limit: Equatable, Sendable {
        case sourceBytes(Int)
        case nesting(Int)
        case calls(Int)
        case steps(Int)
        case textBytes(Int)
        case items(Int)
        case valueDepth(Int)
    }
}
