/// Why a schema or a regular expression cannot hold a model to it.
package enum GrammarError: Error, Equatable {
    /// What has a limit.
    package enum Limited: Equatable, Sendable {
        case source, nodes, alternatives, subschemas, machine, values, references, work
        /// Bytes of the shortest value.
        case shortest
    }

    /// The text is no JSON; `offset` counts bytes from 0.
    case malformed(offset: Int)
    /// JSON is nested deeper than `limit`.
    case tooDeep(limit: Int)
    /// There would be more of something than allowed.
    case tooLarge(what: Limited, limit: Int, pointer: String)
    /// A keyword that cannot be enforced, and why.
    case unsupported(pointer: String, reason: Reason)
    /// A keyword whose value is not what JSON Schema asks for.
    case badKeyword(pointer: String, expected: String)
    /// `$ref` to something that is not there.
    case badReference(pointer: String, reference: String)
    /// Members of a `oneOf` that one value may satisfy together.
    case overlap(pointer: String, first: Int, second: Int)
    /// A regular expression that cannot be used; `offset` counts its bytes.
    case pattern(pointer: String, offset: Int, reason: String)
    /// No value satisfies the schema.
    case empty(pointer: String)
    /// The shortest value takes more tokens than there are; nil: none can be written with the tokens.
    case doesNotFit(needed: Int?, limit: Int)
    /// The states made from a grammar took more room than allowed.
    case tooComplex
    /// Grammars that are in use take all room for them.
    case full
    /// The result was no longer wanted.
    case cancelled

    package enum Reason: Equatable, Sendable {
        /// This version knows the keyword and cannot hold a model to it.
        case keyword
        /// A format that is not in the list.
        case format(String)
        /// A reference to another document.
        case remote(String)
        /// A reference that leads to itself without a value between.
        case circular
        /// `multipleOf` that is no whole number, or too large a one.
        case divisor
        /// A bound with too many digits.
        case digits
    }
}
