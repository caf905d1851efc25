import SkeinBasics
import SkeinGrammar
import SkeinText

/// What the user says an answer must be.
enum GrammarSource: Sendable, Equatable {
    case schema(path: String)
    case expression(String)

    /// The option that states it.
    var option: String {
        switch self {
        case .schema: "schema"
        case .expression: "regex"
        }
    }

    /// - Throws: `GrammarProblem`, `ForeignFileError`, `FileError`, `CommandError.inputTooLong`.
    func compiled(for tokenizer: Tokenizer) throws -> CompiledGrammar {
        let vocabulary = TokenVocabulary(tokens: tokenizer.writtenTokens)
        switch self {
        case .schema(let path):
            let source = try BoundedInput.text(path: path, limit: GrammarLimits.sourceBytes)
            return try explaining { () throws(GrammarError) in
                try CompiledGrammar(schema: source, vocabulary)
            }
        case .expression(let text):
            return try explaining { () throws(GrammarError) in
                try CompiledGrammar(expression: text, vocabulary)
            }
        }
    }

    /// A matcher for one answer of at most `limit` tokens.
    func matcher(_ grammar: CompiledGrammar, limit: Int) throws -> GrammarMatcher {
        try explaining { () throws(GrammarError) in try GrammarMatcher(grammar, limit: limit) }
    }

    /// Calls `body`, and says of its error where the grammar was stated.
    func explaining<Result>(
        _ body: () throws(GrammarError) -> Result
    ) throws(GrammarProblem) -> Result {
        do {
            return try body()
        } catch {
            throw GrammarProblem(error: error, source: self)
        }
    }
}

/// An error of a schema or a regular expression, with where it was stated.
struct GrammarProblem: Error, Equatable, Explained {
    let error: GrammarError
    let source: GrammarSource

    var explanation: Explanation {
        var explanation: Explanation
        let stated: String
        switch source {
        case .schema(let path):
            explanation = error.explanation
            stated = path
        case .expression:
            explanation = error.explanation(of: "expression")
            stated = "--regex"
        }
        switch error {
        case .doesNotFit: explanation.place = "--max-tokens"
        default:
            explanation.place =
                explanation.place.isEmpty ? stated : "\(stated): \(explanation.place)"
        }
        return explanation
    }
}
