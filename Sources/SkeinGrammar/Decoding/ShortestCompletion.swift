/// How many tokens the shortest way from a state to a complete value takes.
///
/// The answer is a function of grammar, vocabulary and state alone, never of what was asked before:
/// what a model may say must not depend on who else uses the grammar.
///
/// Where a byte that the shortest values need is no token of its own, the number is exact
/// (`TokenDistances`), unless that takes more than `GrammarLimits` allow.
///
/// Otherwise two numbers are compared. The **chain** is the shortest text in bytes, of equally short ones the
/// lowest, cut into as few tokens as possible; the rest of a chain is the chain of the state there. The
/// **search** tries tokens, breadth first: those that lead nearer to the end, counted in bytes, or all of
/// them if bytes are missing in the vocabulary. It gives up after `GrammarLimits.searchedStates`
/// states; from a state on its way it takes fewer, so where it succeeds, it also succeeds after the
/// first token of what it found. So there is always a token after which the number is smaller by one,
/// and a model that keeps within it never gets stuck.
final class ShortestCompletion {
    typealias State = GrammarAutomaton.State

    /// More than any limit: there is no way.
    static let never = ByteNetwork.never

    let vocabulary: TokenVocabulary
    private let network: ByteNetwork
    private var exact = Exact.unknown
    /// Whether each byte of a chain is a token of its own, so that a chain has no more tokens than bytes.
    let hasEveryByte: Bool
    /// Whether the automaton holds nothing but what is asked for. If there is no room for a search even
    /// then, it has found nothing, and that is a function of the state again.
    var isAlone = false
    /// By state: tokens of the chain.
    private var chains: [State: Int32] = [:]
    /// By state: the least number, where the search was made.
    private var searched: [State: Int32] = [:]

    private enum Exact {
        case unknown, tooLarge
        case known(ExactCompletion)
    }

    init(_ vocabulary: TokenVocabulary, _ network: ByteNetwork) {
        self.vocabulary = vocabulary
        self.network = network
        hasEveryByte = network.hasEveryByte(vocabulary)
    }

    /// Bytes of what is kept, roughly.
    var byteCount: Int {
        var exactBytes = 0
        if case .known(let exact) = exact { exactBytes = exact.byteCount }
        return exactBytes + 16 * (chains.count + searched.count) + 64 * successors.count + 4
            * keptSuccessors
            + 4 * seen.count
    }

    /// Forgets everything about states: the automaton's have new numbers. `keepsRoom`: not what is
    /// known of the network. Without it only what takes no more than an empty automaton stays of that:
    /// it is found by a search that costs far more than new states.
    func reset(keepsRoom: Bool) {
        if case .known(var known) = exact {
            exact = .unknown
            known.forget()
            if keepsRoom || known.byteCount <= GrammarLimits.keptDistanceBytes {
                exact = .known(known)
            }
        }
        chains = [:]
        searched = [:]
        successors = [:]
        keptSuccessors = 0
        seen = []
        search = 0
    }

    /// Whether a value can be completed with `left` tokens; nil if there is no room for the states.
    func fits(_ state: State, left: Int, _ automaton: GrammarAutomaton) -> Bool? {
        let need = automaton.facts[Int(state)].need
        if need == 0 { return left >= 0 }
        if hasEveryByte && Int(need) <= left { return true }
        if Int(need) > left * vocabulary.longest { return false }
        if let tokens = exactTokens(from: state, automaton) { return Int(tokens) <= left }
        guard let chain = chain(from: state, automaton) else { return nil }
        if Int(chain) <= left { return true }
        guard let least = least(from: state, automaton) else { return nil }
        return Int(least) <= left
    }

    /// A number of tokens that is enough, or `never`; nil if there is no room for the states.
    func bound(from state: State, _ automaton: GrammarAutomaton) -> Int32? {
        if let tokens = exactTokens(from: state, automaton) { return tokens }
        guard let chain = chain(from: state, automaton) else { return nil }
        return chain < Self.never ? chain : least(from: state, automaton)
    }

    /// The least number of tokens, or `never`; nil if there is no room for the states.
    func tokens(from state: State, _ automaton: GrammarAutomaton) -> Int32? {
        exactTokens(from: state, automaton) ?? least(from: state, automaton)
    }

    /// nil where the other numbers do.
    private func exactTokens(from state: State, _ automaton: GrammarAutomaton) -> Int32? {
        if hasEveryByte { return nil }
        if case .unknown = exact {
            if let distances = TokenDistanceSearch.distances(
                network, vocabulary.shapes, automaton.demand)
            {
                exact = .known(ExactCompletion(distances))
            } else if !automaton.demand.hasEnded {
                exact = .tooLarge
            }
        }
        guard case .known(var known) = exact else { return nil }
        // So that it is not copied.
        exact = .unknown
        defer { exact = .known(known) }
        return known.tokens(from: state, automaton)
    }

    // MARK: - The chain

    private func chain(from state: State, _ automaton: GrammarAutomaton) -> Int32? {
        if automaton.facts[Int(state)].need > GrammarLimits.chainBytes { return Self.never }
        if let known = chains[state] { return known }
        // Down to a state that is known, or to the end, and back.
        var path: [State] = [state]
        var bytes: [UInt8] = []
        while let here = path.last, automaton.facts[Int(here)].need > 0 {
            if chains[here] != nil { break }
            guard let (byte, next) = Self.nearer(here, automaton) else { return nil }
            bytes.append(byte)
            path.append(next)
        }
        // Tokens that reach beyond the last state of the path need what comes after it.
        let known = path.count
        while let here = path.last, automaton.facts[Int(here)].need > 0,
            path.count < known + vocabulary.longest
        {
            guard let (byte, next) = Self.nearer(here, automaton) else { return nil }
            bytes.append(byte)
            path.append(next)
        }
        var least = [Int32](repeating: Self.never, count: path.count)
        for place in path.indices.reversed() {
            if automaton.facts[Int(path[place])].need == 0 {
                least[place] = 0
            } else if let chain = chains[path[place]] {
                least[place] = chain
            } else if place < known {
                vocabulary.whole.prefixes(of: bytes[place...]) { length in
                    least[place] = min(least[place], 1 + least[place + length])
                }
                least[place] = min(least[place], Self.never)
                chains[path[place]] = least[place]
            } else {
                least[place] = Self.never
            }
        }
        return least[0]
    }

    /// The lowest byte that leads a byte nearer to the end.
    private static func nearer(
        _ state: State, _ automaton: GrammarAutomaton
    ) -> (UInt8, State)? {
        let need = automaton.facts[Int(state)].need
        for byte in automaton.bytes(after: state) {
            let next = automaton.step(state, byte)
            if next == GrammarAutomaton.full { return nil }
            if next >= 0, automaton.facts[Int(next)].need == need - 1 { return (byte, next) }
        }
        preconditionFailure("a state's least number of bytes is one more than a neighbour's")
    }

    // MARK: - The search

    private func least(from state: State, _ automaton: GrammarAutomaton) -> Int32? {
        if let known = searched[state] { return known }
        guard let chain = chain(from: state, automaton) else { return nil }
        guard let found = search(from: state, automaton, chain: chain) else { return nil }
        let least = min(chain, found)
        searched[state] = least
        return least
    }

    /// The least number of tokens if it is less than the chain's and found within the states allowed,
    /// else `never`.
    private func search(
        from state: State, _ automaton: GrammarAutomaton, chain: Int32
    ) -> Int32? {
        // Nearer to the end there are fewer bytes, so this holds after each token, too.
        if hasEveryByte, automaton.facts[Int(state)].need > GrammarLimits.searchedBytes {
            return Self.never
        }
        search += 1
        mark(state)
        var level = [state]
        var tokens: Int32 = 0
        var states = 0
        var nodes = 0
        while !level.isEmpty, tokens + 1 < chain {
            states += level.count
            guard states <= GrammarLimits.searchedStates else { return Self.never }
            var next: [State] = []
            for state in level {
                guard let after = successors(of: state, automaton) else {
                    return isAlone && !automaton.demand.hasEnded ? Self.never : nil
                }
                nodes += after.nodes
                guard nodes <= GrammarLimits.searchedNodes else { return Self.never }
                let need = automaton.facts[Int(state)].need
                for successor in after.states where isNew(successor) {
                    if hasEveryByte, automaton.facts[Int(successor)].need >= need { continue }
                    mark(successor)
                    next.append(successor)
                }
            }
            tokens += 1
            if next.contains(where: { automaton.facts[Int($0)].need == 0 }) { return tokens }
            level = next
        }
        return Self.never
    }

    /// The search in which a state was seen last.
    private var seen: [Int32] = []
    /// Which search this is.
    private var search: Int32 = 0

    private func isNew(_ state: State) -> Bool {
        Int(state) >= seen.count || seen[Int(state)] != search
    }

    private func mark(_ state: State) {
        if Int(state) >= seen.count {
            seen += [Int32](repeating: 0, count: Int(state) + 1024 - seen.count)
        }
        seen[Int(state)] = search
    }

    /// The states after one more token, and how many nodes of the trie were looked at for them.
    private struct Successors {
        var states: [State]
        var nodes: Int
    }

    /// As many as fit `GrammarLimits.keptSuccessors`.
    private var successors: [State: Successors] = [:]
    private var keptSuccessors = 0

    private func successors(of state: State, _ automaton: GrammarAutomaton) -> Successors? {
        if let known = successors[state] { return known }
        let began = automaton.walked
        guard let states = found(after: state, automaton) else { return nil }
        let found = Successors(states: states, nodes: automaton.walked - began)
        if keptSuccessors + states.count <= GrammarLimits.keptSuccessors {
            keptSuccessors += states.count
            successors[state] = found
        }
        return found
    }

    private func found(after state: State, _ automaton: GrammarAutomaton) -> [State]? {
        let facts = automaton.facts[Int(state)]
        guard facts.isBodyAlone else {
            return automaton.tokens(
                after: state, vocabulary, bodyFits: { _ in true }, fits: { _ in true })?.states
        }
        // Characters of a string are alike, so that one token of each length stands for all.
        var states: [State] = []
        for length in vocabulary.bodyLengths where length <= Int(facts.body) {
            let here = automaton.afterBody(state, characters: length)
            if here == GrammarAutomaton.full { return nil }
            states.append(here)
            if facts.body == .max, here == state { break }
        }
        guard let walked = automaton.tokens(after: state, vocabulary, fits: { _ in true }) else {
            return nil
        }
        return states + walked.states
    }
}

extension ByteNetwork {
    /// Whether each byte of the shortest ways is a token of its own.
    func hasEveryByte(_ vocabulary: TokenVocabulary) -> Bool {
        shortestBytes.allSatisfy { vocabulary.singles[Int($0)] >= 0 }
    }
}

extension TokenTrie {
    /// Calls `body` with the length of each token that is a prefix of some bytes.
    func prefixes(of bytes: ArraySlice<UInt8>, _ body: (Int) -> Void) {
        var index = 0
        var end = nodes.count
        var length = 0
        for byte in bytes {
            while index < end, nodes[index].byte != byte { index += Int(nodes[index].size) }
            guard index < end else { return }
            length += 1
            if nodes[index].token >= 0 { body(length) }
            end = index + Int(nodes[index].size)
            index += 1
        }
    }
}
