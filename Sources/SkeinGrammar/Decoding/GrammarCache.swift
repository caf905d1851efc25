import Synchronization

/// Compiled grammars by what was stated; the least recently used ones leave.
package final class GrammarCache: Sendable {
    private enum Source: Hashable {
        case schema([UInt8])
        case expression([UInt8])
    }

    private let vocabulary: TokenVocabulary
    private let grammars: Mutex<RecentlyUsed<Source, CompiledGrammar>>

    /// - Parameters:
    ///   - vocabulary: of the model.
    ///   - count: grammars that are kept. Each takes up to some 100 MB if it is used in all its states.
    package init(_ vocabulary: TokenVocabulary, count: Int) {
        self.vocabulary = vocabulary
        grammars = Mutex(RecentlyUsed(limit: count))
    }

    /// - Throws: `GrammarError`.
    package func schema(_ schema: [UInt8]) throws(GrammarError) -> CompiledGrammar {
        try grammar(.schema(schema))
    }

    /// - Throws: `GrammarError`.
    package func expression(_ expression: String) throws(GrammarError) -> CompiledGrammar {
        try grammar(.expression(Array(expression.utf8)))
    }

    private func grammar(_ source: Source) throws(GrammarError) -> CompiledGrammar {
        if let known = grammars.withLock({ $0.value(for: source) }) { return known }
        // Others need not wait meanwhile. Two may compile the same; the first one is kept.
        let made: CompiledGrammar
        switch source {
        case .schema(let bytes): made = try CompiledGrammar(schema: bytes, vocabulary)
        case .expression(let bytes):
            made = try CompiledGrammar(
                expression: String(decoding: bytes, as: UTF8.self), vocabulary)
        }
        return grammars.withLock { grammars in
            if let known = grammars.value(for: source) { return known }
            grammars.insert(made, for: source, weight: 1)
            return made
        }
    }
}
