import Synchronization

/// Compiled grammars by what was stated; the least recently used ones leave.
package final class GrammarCache: Sendable {
    private enum Source: Hashable {
        case schema([UInt8])
        case expression([UInt8])
    }

    private let vocabulary: TokenVocabulary
    private let grammars: Mutex<RecentlyUsed<Source, CompiledGrammar>>
    /// Of all grammars that came from here, those included that have left.
    let memory: GrammarMemory
    private let networkLimit: Int

    /// - Parameters:
    ///   - vocabulary: of the model.
    ///   - count: grammars that are kept.
    ///   - byteLimit: what all grammars that come from here take together, as long as somebody has
    ///     them: half of it for what was compiled, half for states and masks. nil: no limit.
    package init(_ vocabulary: TokenVocabulary, count: Int, byteLimit: Int? = nil) {
        self.vocabulary = vocabulary
        grammars = Mutex(RecentlyUsed(limit: count))
        networkLimit = (byteLimit ?? .max) / 2
        memory = GrammarMemory(stateLimit: (byteLimit ?? .max) / 2)
    }

    /// Whether the grammars that somebody uses leave no room for another one. Whoever compiles all the
    /// same exceeds the limit by what he compiles.
    package var isCrowded: Bool {
        guard memory.networkBytes >= networkLimit else { return false }
        grammars.withLock { $0.removeAll() }
        return memory.networkBytes >= networkLimit
    }

    /// `isWanted`: whether somebody still waits for it; asked now and then while it is made.
    ///
    /// - Throws: `GrammarError`.
    package func schema(
        _ schema: [UInt8], isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws(GrammarError) -> CompiledGrammar {
        try grammar(.schema(schema), isWanted)
    }

    /// Likewise.
    ///
    /// - Throws: `GrammarError`.
    package func expression(
        _ expression: String, isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws(GrammarError) -> CompiledGrammar {
        try grammar(.expression(Array(expression.utf8)), isWanted)
    }

    private func grammar(
        _ source: Source, _ isWanted: @escaping @Sendable () -> Bool
    ) throws(GrammarError) -> CompiledGrammar {
        if let known = grammars.withLock({ $0.value(for: source) }) { return known }
        // Others need not wait meanwhile. Two may compile the same; the first one is kept.
        let made: CompiledGrammar
        switch source {
        case .schema(let bytes):
            made = try CompiledGrammar(
                schema: bytes, vocabulary, sharing: memory, isWanted: isWanted)
        case .expression(let bytes):
            made = try CompiledGrammar(
                expression: String(decoding: bytes, as: UTF8.self), vocabulary, sharing: memory,
                isWanted: isWanted)
        }
        return grammars.withLock { grammars in
            if let known = grammars.value(for: source) { return known }
            grammars.insert(made, for: source, weight: 1)
            return made
        }
    }
}
