import SkeinText

/// Why a line of a data file cannot be used.
package enum LineProblem: Error, Equatable, Sendable {
    case tooLong(bytes: Int, limit: Int)
    case notUTF8
    /// Not JSON; `detail` is the parser's own message.
    case notJSON(detail: String)
    /// JSON, but not an object.
    case notAnObject(found: String)
    /// An object in none of the forms.
    case unknownForm(fields: [String])
    /// The form needs `field`; `others` are keys of the row that no form has.
    case missing(field: String, part: String? = nil, others: [String] = [])
    /// `field` is not of the type `expected`.
    case wrongType(field: String, expected: String, found: String)
    /// `messages` is empty or longer than the limit.
    case messageCount(found: Int, limit: Int)
    /// A field that would change what is trained, and that Skein does not support.
    case unsupported(field: String)
    /// The row is written otherwise than the file's first one, of line `line`.
    case otherForm(found: RowForm, first: RowForm, line: Int)
    /// OpenAI's older way to write calls: `function_call`, `functions`.
    case olderCall(field: String)
    /// Two answers that are conversations, and that do not begin with the same question.
    case noCommonPrompt
    /// A preference row whose two answers are the same.
    case equalAnswers
    /// A field that a template may see holds lists and objects in each other, more than `limit`.
    case tooDeep(field: String, limit: Int)
    /// Calls of a message that no template can write.
    case badCalls(problem: ToolProblem)
    /// A system stands beside turns that begin with another one.
    case twoSystems(field: String)
    /// An answer with a label that is true or false: it may be a bad one.
    case booleanLabel
    /// A row of a table whose cells cannot be read.
    case cells(what: String, remedy: String)
}
