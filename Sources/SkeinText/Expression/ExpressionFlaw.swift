/// Why an expression cannot be used.
package enum ExpressionFlaw: Error, Sendable, Equatable {
    /// A construct that is not supported or not valid, as it is written, and the number of
    /// characters before it.
    case construct(String, at: Int)
    /// A parenthesis, bracket or brace has no partner.
    case unbalanced(at: Int)
    case tooLong(scalars: Int, limit: Int)
    case tooDeep(limit: Int)
    /// It compiles to too many instructions, sets or classes of characters.
    case tooLarge
    /// It takes more than the square of a text's length on a run of one character.
    case tooSlow
}
