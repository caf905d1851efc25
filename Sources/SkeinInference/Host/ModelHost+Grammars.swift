import SkeinGrammar
import SkeinJSON
import SkeinText

/// What a grammar is compiled of.
package enum GrammarForm: Sendable {
    /// JSON.
    case schema([UInt8], SchemaMode)
    case expression(String)
}

/// The grammars that requests use take all room for them, and another one would have to be compiled.
package struct GrammarsFull: Error {}

/// Grammars of requests: one is looked for first, and only one that must be compiled needs room.
extension ModelHost {
    /// The grammar of a form that is kept or in use; nil: it would have to be compiled.
    package func known(_ form: GrammarForm) -> CompiledGrammar? {
        switch form {
        case .schema(let source, let mode): grammars.known(schema: source, mode: mode)
        case .expression(let text): grammars.known(expression: text)
        }
    }

    /// The grammar of a form.
    ///
    /// - Parameters:
    ///   - form: a schema or an expression.
    ///   - isWanted: whether its client still waits; asked now and then while it is made.
    /// - Returns: the grammar, which others may use, too.
    /// - Throws: `GrammarsFull`, `GrammarError`.
    package func grammar(
        _ form: GrammarForm, isWanted: @escaping @Sendable () -> Bool
    ) throws -> CompiledGrammar {
        if let known = known(form) { return known }
        try makeRoom()
        switch form {
        case .schema(let source, let mode):
            return try grammars.schema(source, mode: mode, isWanted: isWanted)
        case .expression(let text): return try grammars.expression(text, isWanted: isWanted)
        }
    }

    /// Holds an answer of at most `limit` tokens to the calls of tools. Parameters as of `ToolGuide`.
    ///
    /// - Throws: `GrammarsFull`; what `ToolGuide` throws.
    package func guide(
        tools: [Tool], choice: ToolChoice, parallel: Bool = true, beginsWithCalls: Bool = false,
        limit: Int, idSeed: String, isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws -> ToolGuide {
        if !knows(tools, choice) { try makeRoom() }
        return try ToolGuide(
            prompts.format, tools: tools, choice: choice, parallel: parallel,
            beginsWithCalls: beginsWithCalls, grammars: grammars, tokenizer: tokenizer,
            limit: limit, idSeed: idSeed, isWanted: isWanted)
    }

    /// Whether there is a grammar of these tools as they are. Where some of their schemas cannot be
    /// enforced there is none, though there may be one without those.
    package func knows(_ tools: [Tool], _ choice: ToolChoice) -> Bool {
        let callable = tools.filter { choice.allows($0) }
        // Nothing is compiled: the request is refused, or its answer is free.
        if callable.isEmpty { return true }
        let schema = ToolGrammar.schema(callable, prompts.format.argumentsKey, loose: [])
        return known(.schema(Array(schema.written.utf8), ToolGrammar.mode(of: callable))) != nil
    }

    private func makeRoom() throws(GrammarsFull) {
        guard grammars.makeRoom() else { throw GrammarsFull() }
    }
}
