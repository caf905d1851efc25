extension ScalarMachine {
    /// The same language with at most one step for each character, and as few states as that needs.
    ///
    /// Where many states of a nondeterministic machine are open at once, each of the automaton's
    /// states over bytes would hold all of them, and `maxLength` would multiply them.
    ///
    /// - Parameter demand: of whoever waits for it.
    /// - Returns: nil if he does not any more, or if that takes more than `GrammarLimits.machineStates` states or
    ///   `GrammarLimits.subsetWork`: some machines have exponentially many.
    func determinised(_ demand: Demand = Demand()) -> ScalarMachine? {
        var builder = SubsetBuilder(machine: self, demand)
        return builder.build()?.trimmed.merged(demand)
    }

    /// Equal states of a deterministic machine as one, or the machine itself if that takes more than
    /// `GrammarLimits.machineWork`; nil if nobody waits for it any more.
    ///
    /// Classes only ever split, and only what leads to states that got a new number is looked at again:
    /// `a{4096}` needs as many rounds as it has states. (Hopcroft, 1971, does it better still.)
    private func merged(_ demand: Demand) -> ScalarMachine? {
        var classes = accepting.map { $0 ? 1 : 0 }
        let ends = accepting.count { $0 }
        var sizes = [states.count - ends, ends]
        var before = [[Int]](repeating: [], count: states.count)
        for (state, steps) in states.enumerated() {
            for step in steps { before[step.to].append(state) }
        }
        var work = 0
        // Of a class, those that are not looked at are equal, and differ from those that are.
        var unsure = Set(states.indices)
        while !unsure.isEmpty {
            var groups: [Int: [[Step]: [Int]]] = [:]
            for state in unsure {
                let units = 50 + 20 * states[state].count
                work += units
                guard demand.lasts(for: units) else { return nil }
                guard work <= GrammarLimits.machineWork else { return self }
                groups[classes[state], default: [:]][steps(of: state, classes), default: []]
                    .append(state)
            }
            unsure = []
            for (number, found) in groups {
                // The largest one, or those that are not looked at, keep the number.
                var parts = found.values.sorted { $0.count < $1.count }
                let others = sizes[number] - parts.reduce(0) { $0 + $1.count }
                if others == 0 { parts.removeLast() }
                for part in parts {
                    for state in part {
                        classes[state] = sizes.count
                        unsure.formUnion(before[state])
                    }
                    sizes[number] -= part.count
                    sizes.append(part.count)
                }
            }
        }
        // In the order of their first states, so that the start keeps its place.
        var numbers: [Int: Int] = [:]
        var first: [Int] = []
        for state in states.indices where numbers[classes[state]] == nil {
            numbers[classes[state]] = first.count
            first.append(state)
        }
        let places = classes.map { numbers[$0] ?? 0 }
        return ScalarMachine(
            states: first.map { steps(of: $0, places) }, accepting: first.map { accepting[$0] })
    }

    /// A state's steps to classes of states, those to one class together.
    private func steps(of state: Int, _ classes: [Int]) -> [Step] {
        var sets: [Int: ScalarRanges] = [:]
        for step in states[state] {
            let to = classes[step.to]
            sets[to] = sets[to]?.union(step.set) ?? step.set
        }
        return sets.sorted { $0.key < $1.key }.map { Step(set: $0.value, to: $0.key) }
    }
}

/// The subset construction: a state is the set of all states that the text so far may have led to.
private struct SubsetBuilder {
    let machine: ScalarMachine
    private var numbers: [[Int]: Int] = [[0]: 0]
    private var subsets: [[Int]] = [[0]]
    private var work = 0
    private let demand: Demand

    init(machine: ScalarMachine, _ demand: Demand) {
        self.machine = machine
        self.demand = demand
    }

    mutating func build() -> ScalarMachine? {
        var states: [[ScalarMachine.Step]] = []
        while states.count < subsets.count {
            guard let steps = steps(of: subsets[states.count]) else { return nil }
            states.append(steps)
        }
        return ScalarMachine(
            states: states,
            accepting: subsets.map { $0.contains { machine.accepting[$0] } })
    }

    /// Cuts the characters where a step's set begins or ends; between two cuts all characters lead to
    /// the same states.
    private mutating func steps(of subset: [Int]) -> [ScalarMachine.Step]? {
        var cuts: [(at: UInt32, to: Int, isStart: Bool)] = []
        for state in subset {
            for step in machine.states[state] {
                for range in step.set.ranges {
                    cuts.append((range.lowerBound, step.to, true))
                    cuts.append((range.upperBound + 1, step.to, false))
                }
            }
        }
        cuts.sort { $0.at < $1.at }
        var open: [Int: Int] = [:]
        var found: [[Int]: [ScalarRanges.Bounds]] = [:]
        var order: [[Int]] = []
        for (index, cut) in cuts.enumerated() {
            open[cut.to, default: 0] += cut.isStart ? 1 : -1
            if open[cut.to] == 0 { open[cut.to] = nil }
            guard index + 1 < cuts.count, cuts[index + 1].at > cut.at, !open.isEmpty else {
                continue
            }
            work += open.count + 1
            guard work <= GrammarLimits.subsetWork, demand.lasts(for: 5 * (open.count + 1)) else {
                return nil
            }
            let target = open.keys.sorted()
            if found[target] == nil { order.append(target) }
            found[target, default: []].append(cut.at...cuts[index + 1].at - 1)
        }
        var steps: [ScalarMachine.Step] = []
        for target in order {
            guard let number = number(of: target), let ranges = found[target] else { return nil }
            steps.append(ScalarMachine.Step(set: ScalarRanges(ranges), to: number))
        }
        return steps
    }

    private mutating func number(of subset: [Int]) -> Int? {
        if let known = numbers[subset] { return known }
        guard subsets.count < GrammarLimits.machineStates else { return nil }
        numbers[subset] = subsets.count
        subsets.append(subset)
        return subsets.count - 1
    }
}
