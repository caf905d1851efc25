import SkeinBasics

/// A set of texts as a nondeterministic finite automaton over characters, without empty steps.
///
/// Every machine made here is trimmed: from each of its states an accepting one can be reached,
/// unless its language is empty. There is at most one step from a state to another.
struct ScalarMachine: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        var set: ScalarSet
        var to: Int
    }

    /// Steps of each state. State 0 is the start.
    var states: [[Step]]
    var accepting: [Bool]

    /// Every text.
    static let any = ScalarMachine(states: [[Step(set: .all, to: 0)]], accepting: [true])
    /// No text.
    static let none = ScalarMachine(states: [[]], accepting: [false])

    init(states: [[Step]], accepting: [Bool]) {
        precondition(!states.isEmpty && states.count == accepting.count)
        self.states = states
        self.accepting = accepting
    }

    /// The texts of `least` to `most` characters (Unicode scalars); nil: any number from `least` on.
    ///
    /// - Throws: `ScalarMachineTooLarge`, as there is a state for each character.
    static func length(_ least: Int, _ most: Int?) throws(ScalarMachineTooLarge) -> ScalarMachine {
        let least = max(least, 0)
        if let most, most < least { return none }
        let last = most ?? least
        guard last < GrammarLimits.machineStates else { throw .states }
        var states = (0..<last).map { [Step(set: .all, to: $0 + 1)] }
        states.append(most == nil ? [Step(set: .all, to: last)] : [])
        return ScalarMachine(states: states, accepting: (0...last).map { $0 >= least })
    }

    /// Every text but some, which are given as scalars. What holds a number that is no scalar is no
    /// text and does not matter.
    ///
    /// - Throws: `ScalarMachineTooLarge`, as there is a state for each character of the words.
    static func excluding(
        _ words: [[UInt32]]
    ) throws(ScalarMachineTooLarge) -> ScalarMachine {
        var children: [[UInt32: Int]] = [[:]]
        var ends: Set<Int> = []
        for word in words where word.allSatisfy({ Unicode.Scalar($0) != nil }) {
            var here = 0
            for scalar in word {
                if let child = children[here][scalar] {
                    here = child
                } else {
                    guard children.count < GrammarLimits.machineStates else { throw .states }
                    children[here][scalar] = children.count
                    here = children.count
                    children.append([:])
                }
            }
            ends.insert(here)
        }
        // Once a text has left the words, any character may follow.
        let free = children.count
        var states: [[Step]] = children.map { branches in
            var steps = branches.sorted { $0.key < $1.key }
                .map { Step(set: ScalarSet($0.key), to: $0.value) }
            let named = ScalarSet(branches.keys.map { $0...$0 })
            steps.append(Step(set: named.inverted, to: free))
            return steps
        }
        states.append([Step(set: .all, to: free)])
        return ScalarMachine(
            states: states, accepting: (0...free).map { !ends.contains($0) }
        ).trimmed
    }

    /// Whether no text is in the language of a trimmed machine.
    var isEmpty: Bool { !accepting.contains(true) }

    /// The same language without steps over nothing, states that cannot be reached and states from
    /// which no accepting one can be. Linear in the number of steps.
    var trimmed: ScalarMachine {
        var before: [[Int]] = Array(repeating: [], count: states.count)
        for (state, steps) in states.enumerated() {
            for step in steps where !step.set.isEmpty { before[step.to].append(state) }
        }
        let isUseful = Self.reachable(from: accepting.indices.filter { accepting[$0] }) {
            before[$0]
        }
        guard isUseful.contains(0) else { return .none }
        var order: [Int] = []
        var places: [Int: Int] = [:]
        _ = Self.reachable(from: [0]) { state in
            places[state] = order.count
            order.append(state)
            return states[state].lazy.filter { !$0.set.isEmpty && isUseful.contains($0.to) }
                .map { $0.to }
        }
        let kept = order.map { state in
            states[state].compactMap { step in
                guard !step.set.isEmpty, let to = places[step.to] else { return nil as Step? }
                return Step(set: step.set, to: to)
            }
        }
        return ScalarMachine(states: kept, accepting: order.map { accepting[$0] })
    }

    /// Calls `next` once for each state that can be reached, the first ones included.
    private static func reachable(
        from first: [Int], next: (Int) -> some Sequence<Int>
    ) -> Set<Int> {
        var found = Set(first)
        var waiting = first
        while let state = waiting.popLast() {
            for other in next(state) where found.insert(other).inserted { waiting.append(other) }
        }
        return found
    }

    /// Whether a text is in the language.
    ///
    /// A text that takes more than `GrammarLimits.matchWork` counts as not in it: a model is then
    /// not allowed to write it, which is the safe side.
    func contains(_ text: String, _ demand: Demand = Demand()) -> Bool {
        var work = 0
        var here = [0]
        var arrival = [Int](repeating: -1, count: states.count)
        for (place, scalar) in text.unicodeScalars.enumerated() {
            var there: [Int] = []
            let known = work
            for state in here {
                work += states[state].count + 1
                for step in states[state]
                where arrival[step.to] < place && step.set.contains(scalar.value) {
                    arrival[step.to] = place
                    there.append(step.to)
                }
            }
            guard !there.isEmpty, work <= GrammarLimits.matchWork, demand.lasts(for: work - known)
            else { return false }
            here = there
        }
        return here.contains { accepting[$0] }
    }
}

/// A machine would have more states or steps than allowed, or it would take too long to make.
enum ScalarMachineTooLarge: Error, Equatable, Sendable {
    /// `GrammarLimits.machineStates`
    case states
    /// `GrammarLimits.machineSteps`
    case steps
    /// `GrammarLimits.machineWork`
    case work

    /// The same as an error of a schema.
    func error(at pointer: String) -> GrammarError {
        .tooLarge(what: .machine, limit: GrammarLimits.machineStates, pointer: pointer)
    }
}
