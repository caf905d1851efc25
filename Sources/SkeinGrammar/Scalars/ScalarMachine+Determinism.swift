import SkeinBasics

extension ScalarMachine {
    /// The same language with at most one step for each character, and as few states as that needs.
    ///
    /// Where many states of a nondeterministic machine are open at once, each of the automaton's
    /// states over bytes would hold all of them, and `maxLength` would multiply them.
    ///
    /// - Parameter demand: the caller's.
    /// - Returns: nil if it is no longer wanted, or if that takes more than
    ///   `GrammarLimits.machineStates` states or `GrammarLimits.subsetWork`: some machines have
    ///   exponentially many.
    func determinised(_ demand: Demand = Demand()) -> ScalarMachine? {
        var builder = SubsetBuilder(machine: self, demand)
        return builder.build()?.trimmed.merged(demand)
    }

    /// Equal states of a deterministic machine as one, or the machine itself if that takes more than
    /// `GrammarLimits.machineWork`; nil if it is no longer wanted.
    ///
    /// Classes only ever split, and only what leads to states that got a new number is looked at again:
    /// `a{4096}` needs as many rounds as it has states. (Hopcroft, 1971, does it better still.)
    ///
    /// Everything is in an order, so that the work does not depend on how sets are hashed.
    func merged(_ demand: Demand) -> ScalarMachine? {
        var classes = accepting.map { $0 ? 1 : 0 }
        let ends = accepting.count { $0 }
        var sizes = [states.count - ends, ends]
        var before = [[Int]](repeating: [], count: states.count)
        for (state, steps) in states.enumerated() {
            for step in steps { before[step.to].append(state) }
        }
        var work = 0
        func spends(_ units: Int) -> Bool {
            work += units
            return work <= GrammarLimits.machineWork && demand.lasts(for: units)
        }
        // Those of a class that are not looked at are equal, and differ from those that are.
        var unsure = Set(states.indices)
        while !unsure.isEmpty {
            var groups: [Int: [[Step]: [Int]]] = [:]
            for state in unsure.sorted() {
                guard let steps = steps(of: state, classes, spends) else {
                    return demand.hasEnded ? nil : self
                }
                groups[classes[state], default: [:]][steps, default: []].append(state)
            }
            unsure = []
            for (number, found) in groups.sorted(by: { $0.key < $1.key }) {
                // The largest one, or those that are not looked at, keep the number.
                var parts = found.values.sorted { ($0.count, $0[0]) < ($1.count, $1[0]) }
                let others = sizes[number] - parts.reduce(0) { $0 + $1.count }
                if others == 0 { parts.removeLast() }
                for part in parts {
                    for state in part {
                        guard spends(5 * before[state].count) else {
                            return demand.hasEnded ? nil : self
                        }
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
        var kept: [[Step]] = []
        for state in first {
            // As many steps as there are, which is little beside what was done.
            guard let steps = steps(of: state, places, { demand.lasts(for: $0) }) else {
                return nil
            }
            kept.append(steps)
        }
        return ScalarMachine(states: kept, accepting: first.map { accepting[$0] })
    }

    /// A state's steps to classes of states, those to one class together; nil if that takes more than
    /// `spends` gives.
    private func steps(
        of state: Int, _ classes: [Int], _ spends: (Int) -> Bool
    ) -> [Step]? {
        guard spends(50 + 20 * states[state].count) else { return nil }
        var sets: [Int: [ScalarSet]] = [:]
        for step in states[state] { sets[classes[step.to], default: []].append(step.set) }
        var steps: [Step] = []
        for (to, sets) in sets.sorted(by: { $0.key < $1.key }) {
            if sets.count == 1 {
                steps.append(Step(set: sets[0], to: to))
                continue
            }
            // All at once: one after another, thousands of them are copied thousands of times.
            guard spends(10 * sets.reduce(0) { $0 + $1.ranges.count }) else { return nil }
            steps.append(Step(set: ScalarSet(sets.flatMap(\.ranges)), to: to))
        }
        return steps
    }
}

/// The subset construction: a state is the set of all states that the text so far may have led to.
private struct SubsetBuilder {
    let machine: ScalarMachine
    /// The machine's steps, those that several states have once.
    private var steps: [ScalarMachine.Step] = []
    /// By state: of `steps`.
    private var stepNumbers: [[Int]] = []
    /// By step: the last subset that has it.
    private var seen: [Int] = []
    private var numbers: [[Int]: Int] = [[0]: 0]
    private var subsets: [[Int]] = [[0]]
    private var work = 0
    private let demand: Demand

    init(machine: ScalarMachine, _ demand: Demand) {
        self.machine = machine
        self.demand = demand
        var known: [ScalarMachine.Step: Int] = [:]
        for state in machine.states {
            stepNumbers.append(
                state.map { step in
                    if let number = known[step] { return number }
                    known[step] = steps.count
                    steps.append(step)
                    return steps.count - 1
                })
        }
        seen = Array(repeating: -1, count: steps.count)
    }

    mutating func build() -> ScalarMachine? {
        var states: [[ScalarMachine.Step]] = []
        while states.count < subsets.count {
            guard let steps = steps(of: states.count) else { return nil }
            states.append(steps)
        }
        return ScalarMachine(
            states: states,
            accepting: subsets.map { $0.contains { machine.accepting[$0] } })
    }

    /// Whether the work so far is within what is allowed and wanted.
    private mutating func spends(_ units: Int) -> Bool {
        work += units
        return work <= GrammarLimits.subsetWork && demand.lasts(for: 5 * units)
    }

    /// The steps of the states of a subset, each once; nil if that is too much work.
    private mutating func steps(in subset: Int) -> [ScalarMachine.Step]? {
        let looks = subsets[subset].reduce(0) { $0 + stepNumbers[$1].count }
        guard spends(looks / Self.looksPerUnit) else { return nil }
        var found: [ScalarMachine.Step] = []
        for state in subsets[subset] {
            for number in stepNumbers[state] where seen[number] != subset {
                seen[number] = subset
                found.append(steps[number])
            }
        }
        return found
    }

    /// Steps that are looked at for one unit of work: 3 ns each.
    private static let looksPerUnit = 16

    /// Cuts the characters where a step's set begins or ends; between two cuts all characters lead to
    /// the same states.
    private mutating func steps(of subset: Int) -> [ScalarMachine.Step]? {
        // Tables of its own and its place among all others: 1.5 us, however few states it has.
        guard demand.lasts(for: 150), let members = steps(in: subset),
            spends(members.reduce(0) { $0 + $1.set.ranges.count })
        else { return nil }
        var cuts: [Cut] = []
        for step in members {
            for range in step.set.ranges {
                cuts.append(Cut(at: range.lowerBound, to: step.to, isStart: true))
                cuts.append(Cut(at: range.upperBound + 1, to: step.to, isStart: false))
            }
        }
        cuts.sort { $0.key < $1.key }
        var open: [Int: Int] = [:]
        var found: [[Int]: [ScalarSet.Bounds]] = [:]
        var order: [[Int]] = []
        for (index, cut) in cuts.enumerated() {
            open[cut.to, default: 0] += cut.isStart ? 1 : -1
            if open[cut.to] == 0 { open[cut.to] = nil }
            guard index + 1 < cuts.count, cuts[index + 1].at > cut.at, !open.isEmpty else {
                continue
            }
            guard spends(open.count) else { return nil }
            let target = open.keys.sorted()
            if found[target] == nil { order.append(target) }
            found[target, default: []].append(cut.at...cuts[index + 1].at - 1)
        }
        var steps: [ScalarMachine.Step] = []
        for target in order {
            guard let number = number(of: target), let ranges = found[target] else { return nil }
            steps.append(ScalarMachine.Step(set: ScalarSet(ranges), to: number))
        }
        return steps
    }

    /// Where a step's set begins or ends, in one word: sorting them is most of the work.
    private struct Cut {
        /// The character, the state, and whether it is a beginning.
        let key: UInt64

        init(at: UInt32, to: Int, isStart: Bool) {
            key = UInt64(at) << 32 | UInt64(to) << 1 | (isStart ? 1 : 0)
        }

        var at: UInt32 { UInt32(key >> 32) }
        var to: Int { Int(key >> 1 & 0x7fff_ffff) }
        var isStart: Bool { key & 1 == 1 }
    }

    private mutating func number(of subset: [Int]) -> Int? {
        if let known = numbers[subset] { return known }
        guard subsets.count < GrammarLimits.machineStates else { return nil }
        numbers[subset] = subsets.count
        subsets.append(subset)
        return subsets.count - 1
    }
}
