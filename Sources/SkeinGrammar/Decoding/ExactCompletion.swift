/// How many tokens the shortest way from a state to a complete value takes, exactly.
struct ExactCompletion {
    typealias State = GrammarAutomaton.State
    typealias Costs = TokenDistances.Costs

    private let distances: TokenDistances
    /// By frame: from where it returns to, to the end of everything.
    private var frames: [Costs] = []
    private var frameCosts = 0
    /// By state; -1: not known yet.
    private var states: [Int32] = []
    /// What tokens there are between two of them: the end of everything.
    private let end: Costs

    init(_ distances: TokenDistances) {
        self.distances = distances
        end = [(distances.root, 0)]
    }

    /// Bytes of what is kept, roughly.
    var byteCount: Int {
        distances.byteCount + 4 * states.count + 32 * frames.count + 8 * frameCosts
    }

    /// Forgets states and frames, which have new numbers.
    mutating func forget() {
        frames = []
        frameCosts = 0
        states = []
    }

    /// The least number of tokens, or `ByteNetwork.never`.
    mutating func tokens(from state: State, _ automaton: GrammarAutomaton) -> Int32 {
        if automaton.facts[Int(state)].isAccepting { return 0 }
        if Int(state) >= states.count {
            states += [Int32](repeating: -1, count: automaton.count - states.count)
        }
        if states[Int(state)] >= 0 { return states[Int(state)] }
        learnFrames(automaton)
        var least = ByteNetwork.never
        for configuration in automaton.configurations(of: state) {
            let inside = distances.costs(from: configuration.node)
            least = min(least, TokenDistances.least(inside, frames[Int(configuration.frame)]))
        }
        states[Int(state)] = least
        return least
    }

    private mutating func learnFrames(_ automaton: GrammarAutomaton) {
        if frames.isEmpty { frames.append(end) }
        // They return to frames of lower numbers.
        while frames.count < automaton.frames.count {
            var costs: [Int32: Int32] = [:]
            for back in automaton.frames[frames.count] {
                for (shape, tokens) in distances.costs(
                    from: back.node, before: frames[Int(back.frame)])
                {
                    costs[shape] = min(costs[shape] ?? .max, tokens)
                }
            }
            let sorted = costs.sorted { $0.key < $1.key }
            frames.append(sorted.map { ($0.key, $0.value) })
            frameCosts += sorted.count
        }
    }
}
