extension ScalarMachine {
    /// The same language with at most one step for each character, and as few states as that needs.
    ///
    /// Where many states of a nondeterministic machine are open at once, each of the automaton's
    /// states over bytes would hold all of them, and `maxLength` would multiply them.
    ///
    /// - Returns: nil if that takes more than `GrammarLimits.machineStates` states or
    ///   `GrammarLimits.subsetWork`: some machines have exponentially many.
    var determinised: ScalarMachine? {
        var builder = SubsetBuilder(machine: self)
        return builder.build()?.trimmed.merged
    }

    /// Equal states of a deterministic machine as one: Moore's refinement. Classes only ever split, so
    /// it ends after as many rounds as there are states; as a rule after a few.
    private var merged: ScalarMachine {
        var classes = accepting.map { $0 ? 1 : 0 }
        var count = Set(classes).count
        for _ in states.indices {
            var numbers: [Signature: Int] = [:]
            let next = states.indices.map { state in
                let signature = Signature(own: classes[state], steps: steps(of: state, classes))
                if let known = numbers[signature] { return known }
                numbers[signature] = numbers.count
                return numbers.count - 1
            }
            classes = next
            if numbers.count == count { break }
            count = numbers.count
        }
        // The start keeps its place: its class was numbered first.
        var first = [Int](repeating: -1, count: count)
        for state in states.indices.reversed() { first[classes[state]] = state }
        return ScalarMachine(
            states: first.map { steps(of: $0, classes) }, accepting: first.map { accepting[$0] })
    }

    private struct Signature: Hashable {
        var own: Int
        var steps: [Step]
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

    init(machine: ScalarMachine) {
        self.machine = machine
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
            guard work <= GrammarLimits.subsetWork else { return nil }
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
