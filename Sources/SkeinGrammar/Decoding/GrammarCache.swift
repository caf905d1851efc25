import SkeinBasics
import Synchronization

/// What a grammar is compiled of.
package enum GrammarForm: Sendable, Equatable {
    /// JSON, and what becomes of keywords that cannot be held; `CompiledGrammar.dropped` lists those that
    /// were left out.
    case schema([UInt8], SchemaMode = .strict)
    case expression(String)
}

/// Compiled grammars by what was stated; the least recently used ones leave. What cannot be compiled is
/// remembered, too.
package final class GrammarCache: Sendable {
    /// By digest: what a client sent may take a mebibyte, and is needed no longer once it is compiled. A
    /// schema is compiled once for each mode.
    private enum Source: Hashable {
        case schema(SHA256.Digest, SchemaMode)
        case expression(SHA256.Digest)

        init(_ form: GrammarForm) {
            switch form {
            case .schema(let schema, let mode): self = .schema(SHA256.digest(of: schema), mode)
            case .expression(let text): self = .expression(SHA256.digest(of: text))
            }
        }
    }

    private struct State {
        struct Kept {
            let source: Source
            let grammar: CompiledGrammar
        }

        struct Lent {
            weak var grammar: CompiledGrammar?
        }

        /// They stay even if they are not in use; the latest used one is the last.
        var kept: [Kept] = []
        /// All that may be in use, kept or not.
        var lent: [Source: Lent] = [:]

        /// Why the latest of those that could not be made could not; the latest one last.
        private var failures: [(source: Source, error: GrammarError)] = []

        /// Remembers why a grammar cannot be made, so that it is not tried again and again.
        mutating func remember(_ error: GrammarError, of source: Source) {
            if case .cancelled = error { return }
            failures.removeAll { $0.source == source }
            // No error has more than two texts.
            failures.append((source, error.cut(toBytes: GrammarLimits.failureBytes / 2)))
            if failures.count > GrammarLimits.failures { failures.removeFirst() }
        }

        func failure(of source: Source) -> GrammarError? {
            failures.first { $0.source == source }?.error
        }

        /// Keeps a grammar as the latest used one.
        ///
        /// - Returns: one that leaves, which ends outside of the lock.
        mutating func keep(_ grammar: CompiledGrammar, for source: Source, atMost count: Int)
            -> Kept?
        {
            kept.removeAll { $0.source == source }
            kept.append(Kept(source: source, grammar: grammar))
            return kept.count > count ? kept.removeFirst() : nil
        }
    }

    private let vocabulary: TokenVocabulary
    private let state = Mutex(State())
    private let count: Int
    /// The memory of all grammars that came from here, those included that have left.
    let memory: GrammarMemory
    private let networkLimit: Int

    /// - Parameters:
    ///   - vocabulary: of the model.
    ///   - count: grammars that are kept.
    ///   - byteLimit: what all grammars that come from here take together, as long as they are in
    ///     use: half of it for what was compiled, half for states and masks. nil: no limit.
    package init(_ vocabulary: TokenVocabulary, count: Int, byteLimit: Int? = nil) {
        self.vocabulary = vocabulary
        self.count = count
        networkLimit = (byteLimit ?? .max) / 2
        memory = GrammarMemory(stateLimit: (byteLimit ?? .max) / 2)
    }

    /// Lets go of grammars, the least recently used one first, until there is room for another one.
    ///
    /// - Throws: `GrammarError.full`, if grammars that are in use take all of it.
    package func makeRoom() throws(GrammarError) {
        while memory.networkBytes >= networkLimit {
            let left = state.withLock { $0.kept.isEmpty ? nil : $0.kept.removeFirst() }
            if left == nil { throw .full }
        }
    }

    /// The grammar of a form that is kept, or in use: it takes no more room. It is kept from now on. nil:
    /// it would have to be compiled.
    package func known(_ form: GrammarForm) -> CompiledGrammar? { known(Source(form)) }

    /// The grammar of a form, which is compiled unless it is known; others need not wait meanwhile.
    ///
    /// - Parameters:
    ///   - form: a schema or an expression.
    ///   - makesRoom: false: the caller has called `makeRoom` for the whole request.
    ///   - isWanted: whether its client still waits; asked now and then while it is made.
    /// - Returns: the grammar, which others may use, too.
    /// - Throws: `GrammarError`, `.full` as `makeRoom`.
    package func grammar(
        _ form: GrammarForm, makesRoom: Bool = true,
        isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws(GrammarError) -> CompiledGrammar {
        let source = Source(form)
        if let known = known(source) { return known }
        if makesRoom { try makeRoom() }
        if let failure = state.withLock({ $0.failure(of: source) }) { throw failure }
        do {
            return add(
                try CompiledGrammar(form, vocabulary, sharing: memory, isWanted: isWanted),
                for: source)
        } catch {
            state.withLock { $0.remember(error, of: source) }
            throw error
        }
    }

    private func known(_ source: Source) -> CompiledGrammar? {
        state.withLock { state -> (grammar: CompiledGrammar, left: State.Kept?)? in
            // Whatever is kept is lent, too.
            guard let grammar = state.lent[source]?.grammar else { return nil }
            return (grammar, state.keep(grammar, for: source, atMost: count))
        }?.grammar
    }

    /// Two may have compiled the same; the first one is kept.
    private func add(_ made: CompiledGrammar, for source: Source) -> CompiledGrammar {
        state.withLock { state -> (grammar: CompiledGrammar, left: State.Kept?) in
            if let first = state.lent[source]?.grammar {
                return (first, state.keep(first, for: source, atMost: count))
            }
            state.lent = state.lent.filter { $0.value.grammar != nil }
            state.lent[source] = State.Lent(grammar: made)
            return (made, state.keep(made, for: source, atMost: count))
        }.grammar
    }
}
