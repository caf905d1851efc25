import Synchronization

/// What a model may write, for one tokenizer: a grammar with its states and masks.
///
/// Any number of generations may share it. What it answers depends on the grammar and the bytes so
/// far alone: states and masks that others have made only make it faster.
package final class CompiledGrammar: Sendable {
    package let vocabulary: TokenVocabulary
    /// Keywords that a lenient schema was compiled without: the first of them, in the order in which
    /// they were met. Empty of strict schemas.
    package let dropped: [DroppedKeyword]
    /// How many there are.
    package let droppedCount: Int
    /// Bytes of what it was compiled to, roughly. States and masks, which come while it is used, are
    /// bounded by themselves.
    package let networkBytes: Int
    private let memory: Mutex<Memory>
    /// What it shares with other grammars of its server; nil: it is alone.
    private let shared: GrammarMemory?

    /// A state that is only valid as long as the automaton has not been reset since.
    struct Place {
        var state: GrammarAutomaton.State
        var epoch: Int
    }

    private final class Memory {
        let automaton: GrammarAutomaton
        let completion: ShortestCompletion
        var masks = RecentlyUsed<GrammarAutomaton.State, TokenMask>(
            limit: GrammarLimits.maskBytes)
        /// How often everything was forgotten.
        var epoch = 0
        private var reports = 0

        init(_ network: ByteNetwork, _ vocabulary: TokenVocabulary) {
            automaton = GrammarAutomaton(network)
            completion = ShortestCompletion(vocabulary, network)
        }

        /// What states and masks take, roughly.
        var byteCount: Int { automaton.byteCount + completion.byteCount + masks.weight }

        /// What is there now, for the memory that bounds it.
        func report() -> GrammarMemory.Report {
            reports += 1
            return GrammarMemory.Report(number: reports, stateBytes: byteCount)
        }

        func reset(keepsRoom: Bool = true) {
            automaton.reset(keepsRoom: keepsRoom)
            completion.reset(keepsRoom: keepsRoom)
            masks.removeAll()
            epoch += 1
        }
    }

    /// - Throws: `GrammarError` for what cannot be enforced, and is not left out.
    package convenience init(
        schema: [UInt8], mode: SchemaMode = .strict, _ vocabulary: TokenVocabulary
    ) throws(GrammarError) {
        try self.init(.schema(schema, mode), vocabulary)
    }

    /// The whole answer matches a regular expression (ECMA-262's syntax; of look-around only
    /// look-aheads after a leading `^`).
    package convenience init(
        expression: String, _ vocabulary: TokenVocabulary
    ) throws(GrammarError) {
        try self.init(.expression(expression), vocabulary)
    }

    convenience init(
        _ form: GrammarForm, _ vocabulary: TokenVocabulary, sharing memory: GrammarMemory? = nil,
        isWanted: @escaping @Sendable () -> Bool = Demand.always
    ) throws(GrammarError) {
        switch form {
        case .schema(let schema, let mode):
            let counted = try SchemaCompiler.result(of: schema, mode, Demand(isWanted))
            let network = try Self.network(counted.network, vocabulary) {
                () throws(GrammarError) in
                let unrolled = try SchemaCompiler.result(
                    of: schema, mode, Demand(isWanted), unrolled: .max)
                return unrolled.dropped == counted.dropped ? unrolled.network : counted.network
            }
            self.init(
                network, vocabulary, dropped: counted.dropped, count: counted.droppedCount,
                sharing: memory)
        case .expression(let text):
            let counted = try ExpressionNetwork.network(of: text, Demand(isWanted))
            let network = try Self.network(counted, vocabulary) { () throws(GrammarError) in
                try ExpressionNetwork.network(of: text, Demand(isWanted), unrolled: .max)
            }
            self.init(network, vocabulary, sharing: memory)
        }
    }

    /// A network that counts, or, where tokens are missing for single bytes, one that has a state for
    /// each number: `TokenDistances` needs one, if it is not too large.
    private static func network(
        _ counted: ByteNetwork, _ vocabulary: TokenVocabulary,
        _ unrolled: () throws(GrammarError) -> ByteNetwork
    ) throws(GrammarError) -> ByteNetwork {
        guard counted.counts, !counted.hasEveryByte(vocabulary) else { return counted }
        do throws(GrammarError) {
            return try unrolled()
        } catch {
            guard case .tooLarge = error else { throw error }
            return counted
        }
    }

    init(
        _ network: ByteNetwork, _ vocabulary: TokenVocabulary, dropped: [DroppedKeyword] = [],
        count: Int = 0, sharing shared: GrammarMemory? = nil
    ) {
        self.vocabulary = vocabulary
        self.dropped = dropped
        droppedCount = count
        self.shared = shared
        networkBytes = network.byteCount
        memory = Mutex(Memory(network, vocabulary))
        shared?.add(self, networkBytes: networkBytes)
    }

    deinit { shared?.remove(ObjectIdentifier(self)) }

    /// States made so far.
    var stateCount: Int { memory.withLock { $0.automaton.count } }

    /// Fails if even the shortest value does not fit.
    ///
    /// - Parameters:
    ///   - limit: tokens.
    ///   - isWanted: whether the answer is still wanted; asked now and then.
    /// - Throws: `GrammarError.doesNotFit`, `.cancelled`.
    package func check(
        limit: Int, isWanted: @escaping @Sendable () -> Bool = { true }
    ) throws(GrammarError) {
        let needed = try withRoom(nil, [], isWanted) { memory, state -> Int32? in
            guard
                let fits = memory.completion.fits(state, left: limit, memory.automaton)
            else { return nil }
            return fits ? 0 : memory.completion.tokens(from: state, memory.automaton)
        }
        guard Int(needed) > limit else { return }
        throw .doesNotFit(
            needed: needed < ShortestCompletion.never ? Int(needed) : nil, limit: limit)
    }

    /// The place after one more token; its state is `GrammarAutomaton.dead` if that is not allowed.
    func advance(
        _ place: Place?, by added: some Sequence<UInt8>, before bytes: [UInt8],
        _ isWanted: @escaping @Sendable () -> Bool = Demand.always
    ) throws(GrammarError) -> Place {
        try withRoom(place, bytes, isWanted) { memory, state in
            let next = memory.automaton.step(state, added)
            return next == GrammarAutomaton.full ? nil : Place(state: next, epoch: memory.epoch)
        }
    }

    /// All tokens that the grammar allows, and those of them after which a value still fits.
    ///
    /// The two are the same object unless the limit is near.
    func masks(
        _ place: Place?, _ bytes: [UInt8], left: Int,
        _ isWanted: @escaping @Sendable () -> Bool = Demand.always
    ) throws(GrammarError) -> (all: TokenMask, fitting: TokenMask) {
        try withRoom(place, bytes, isWanted) { memory, state in
            guard let all = Self.mask(state, memory) else { return nil }
            if Int(all.need) <= left - 1 { return (all, all) }
            guard let fitting = Self.limited(state, left: left, all, memory) else { return nil }
            return (all, fitting.count == all.count ? all : fitting)
        }
    }

    /// All tokens that the grammar allows.
    func mask(
        _ place: Place?, _ bytes: [UInt8],
        _ isWanted: @escaping @Sendable () -> Bool = Demand.always
    ) throws(GrammarError) -> TokenMask {
        try withRoom(place, bytes, isWanted) { memory, state in Self.mask(state, memory) }
    }

    /// Forgets all states and masks, which are made again when they are needed.
    func forget() { memory.withLock { $0.reset() } }

    /// Forgets all states and masks, unless another thread makes some just now.
    ///
    /// - Returns: what is left; nil: another thread makes some.
    func forgetIfIdle() -> GrammarMemory.Report? {
        memory.withLockIfAvailable { memory in
            memory.reset(keepsRoom: false)
            return memory.report()
        }
    }

    /// The bytes that must come next, as far as there is no choice.
    func forced(
        _ place: Place?, _ bytes: [UInt8], atMost limit: Int,
        _ isWanted: @escaping @Sendable () -> Bool = Demand.always
    ) throws(GrammarError) -> [UInt8] {
        try withRoom(place, bytes, isWanted) { memory, state in
            var state = state
            var forced: [UInt8] = []
            while forced.count < limit, !memory.automaton.facts[Int(state)].isAccepting,
                let byte = memory.automaton.onlyByte(after: state)
            {
                state = memory.automaton.step(state, byte)
                if state == GrammarAutomaton.full { return nil }
                forced.append(byte)
            }
            return forced
        }
    }

    func isAccepting(
        _ place: Place?, _ bytes: [UInt8],
        _ isWanted: @escaping @Sendable () -> Bool = Demand.always
    ) throws(GrammarError) -> Bool {
        try withRoom(place, bytes, isWanted) { memory, state in
            memory.automaton.facts[Int(state)].isAccepting
        }
    }

    /// Whether a value still fits.
    func fits(
        _ place: Place?, _ bytes: [UInt8], left: Int,
        _ isWanted: @escaping @Sendable () -> Bool = Demand.always
    ) throws(GrammarError) -> Bool {
        try withRoom(place, bytes, isWanted) { memory, state in
            memory.completion.fits(state, left: left, memory.automaton)
        }
    }

    /// Calls `body` with the state after `bytes`, which `place` may know. If it finds no room for
    /// another state, everything is forgotten and it is called once more: what fits into an empty
    /// memory must not depend on what others have put there.
    ///
    /// - Throws: `GrammarError.tooComplex`, `.cancelled`.
    private func withRoom<Result: Sendable>(
        _ place: Place?, _ bytes: [UInt8], _ isWanted: @escaping @Sendable () -> Bool,
        _ body: (Memory, GrammarAutomaton.State) -> Result?
    ) throws(GrammarError) -> Result {
        guard isWanted() else { throw .cancelled }
        var report: GrammarMemory.Report?
        var hasEnded = false
        let result: Result? = memory.withLock { memory in
            let demand = Demand(isWanted)
            memory.automaton.demand = demand
            defer {
                hasEnded = demand.hasEnded
                memory.automaton.demand = Demand()
                memory.completion.isAlone = false
                report = memory.report()
            }
            if memory.automaton.isCrowded { memory.reset() }
            for attempt in 0..<2 {
                memory.completion.isAlone = attempt == 1
                let state: GrammarAutomaton.State
                if let place, place.epoch == memory.epoch {
                    state = place.state
                } else {
                    state = memory.automaton.state(after: bytes)
                }
                precondition(state != GrammarAutomaton.dead, "only allowed tokens were accepted")
                if state >= 0, let result = body(memory, state) { return result }
                if demand.hasEnded { return nil }
                memory.reset()
            }
            return nil
        }
        if let report { shared?.note(self, report) }
        if hasEnded { throw .cancelled }
        guard let result else { throw .tooComplex }
        return result
    }

    private static func mask(
        _ state: GrammarAutomaton.State, _ memory: Memory
    ) -> TokenMask? {
        // The least value goes on from a token whatever more there may be. Where single bytes are no
        // tokens it may be no way on, and what is one must stay below the numbers, too.
        let tokens = memory.completion.hasEveryByte ? 1 : GrammarLimits.endlessTokens
        let endless = memory.automaton.endless(
            state, within: tokens * memory.completion.vocabulary.longest)
        guard endless >= 0, let mask = keptMask(endless, memory) else { return nil }
        if tokens == 1 || endless == state || Int(mask.need) < tokens { return mask }
        return keptMask(state, memory)
    }

    private static func keptMask(
        _ state: GrammarAutomaton.State, _ memory: Memory
    ) -> TokenMask? {
        let automaton = memory.automaton
        let vocabulary = memory.completion.vocabulary
        if let known = memory.masks.value(for: state) { return known }
        let facts = automaton.facts[Int(state)]
        let found: (tokens: TokenSet, states: [GrammarAutomaton.State])?
        var need: Int32 = 0
        if memory.completion.hasEveryByte {
            found = automaton.tokens(after: state, vocabulary) { next in
                need = max(need, automaton.facts[Int(next)].need)
                return true
            }
            if facts.body > 0 { need = max(need, facts.bodyNeed) }
        } else {
            // Single bytes need not be tokens, so a state may have no way on.
            let completion = memory.completion
            func finite(_ next: GrammarAutomaton.State) -> Bool? {
                guard let tokens = completion.bound(from: next, automaton) else { return nil }
                guard tokens < ShortestCompletion.never else { return false }
                need = max(need, tokens)
                return true
            }
            found = automaton.tokens(
                after: state, vocabulary,
                bodyFits: { length in
                    let next = automaton.afterBody(state, characters: length)
                    return next == GrammarAutomaton.full ? nil : finite(next)
                }, fits: finite)
        }
        // What was cut short is not kept.
        guard let found, !automaton.demand.hasEnded else { return nil }
        let mask = TokenMask(tokens: found.tokens, allowsEnd: facts.isAccepting, need: need)
        memory.masks.insert(mask, for: state, weight: found.tokens.size / 8 + 256)
        return mask
    }

    private static func limited(
        _ state: GrammarAutomaton.State, left: Int, _ all: TokenMask, _ memory: Memory
    ) -> TokenMask? {
        let automaton = memory.automaton
        let completion = memory.completion
        func fits(_ next: GrammarAutomaton.State) -> Bool? {
            completion.fits(next, left: left - 1, automaton)
        }
        guard
            let found = automaton.tokens(
                after: state, completion.vocabulary,
                bodyFits: { length in
                    let next = automaton.afterBody(state, characters: length)
                    return next == GrammarAutomaton.full ? nil : fits(next)
                }, fits: fits)
        else { return nil }
        return TokenMask(tokens: found.tokens, allowsEnd: all.allowsEnd, need: all.need)
    }
}
