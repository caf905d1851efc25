import SkeinBasics

extension ScalarMachine {
    /// The texts in both languages: a machine of those pairs of states that can be reached.
    ///
    /// - Throws: `ScalarMachineTooLarge`.
    func intersection(
        _ other: ScalarMachine, _ demand: Demand = Demand()
    ) throws(ScalarMachineTooLarge) -> ScalarMachine {
        var product = MachineProduct(self, other, demand)
        return try product.machine().trimmed
    }

    /// Whether a text is in both languages: it is found without a machine of both.
    ///
    /// - Throws: `ScalarMachineTooLarge` where the machine of both would be too large.
    func overlaps(
        _ other: ScalarMachine, _ demand: Demand
    ) throws(ScalarMachineTooLarge) -> Bool {
        var product = MachineProduct(self, other, demand)
        return try product.hasText()
    }
}

/// The product of two machines. Sets are numbered, so that each two of them are met once.
private struct MachineProduct {
    private struct NumberedStep {
        var set: Int
        var to: Int
    }

    private struct Pair: Hashable {
        var first: Int
        var second: Int
    }

    private let first: ScalarMachine
    private let second: ScalarMachine
    private var sets: [ScalarSet] = []
    private var firstSteps: [[NumberedStep]] = []
    private var secondSteps: [[NumberedStep]] = []
    private var meetings: [Pair: ScalarSet] = [:]
    private var workLeft = GrammarLimits.machineWork
    /// Work on pairs of states, and on their steps: those that are built are trimmed, too.
    private static let foundPair = 20
    private static let builtPair = 40
    private static let builtStep = 8
    private let demand: Demand

    init(_ first: ScalarMachine, _ second: ScalarMachine, _ demand: Demand) {
        self.demand = demand
        self.first = first
        self.second = second
        var numbers: [ScalarSet: Int] = [:]
        var sets: [ScalarSet] = []
        func numbered(_ machine: ScalarMachine) -> [[NumberedStep]] {
            machine.states.map { steps in
                steps.map { step in
                    // Equal sets are compared range by range.
                    _ = demand.lasts(for: 5 + step.set.ranges.count / 4)
                    if let known = numbers[step.set] {
                        return NumberedStep(set: known, to: step.to)
                    }
                    numbers[step.set] = sets.count
                    sets.append(step.set)
                    return NumberedStep(set: sets.count - 1, to: step.to)
                }
            }
        }
        firstSteps = numbered(first)
        secondSteps = numbered(second)
        self.sets = sets
    }

    mutating func machine() throws(ScalarMachineTooLarge) -> ScalarMachine {
        var states: [[ScalarMachine.Step]] = []
        var accepting: [Bool] = []
        var steps = 0
        var pairs = [Pair(first: 0, second: 0)]
        var numbers = [pairs[0]: 0]
        while states.count < pairs.count {
            let pair = pairs[states.count]
            var state: [ScalarMachine.Step] = []
            for mine in firstSteps[pair.first] {
                for theirs in secondSteps[pair.second] {
                    let set = try meeting(mine.set, theirs.set)
                    if set.isEmpty { continue }
                    let target = Pair(first: mine.to, second: theirs.to)
                    let to = numbers[target] ?? pairs.count
                    if to == pairs.count {
                        if to >= GrammarLimits.machineStates { throw .states }
                        numbers[target] = to
                        pairs.append(target)
                    }
                    state.append(ScalarMachine.Step(set: set, to: to))
                }
            }
            try note(Self.builtPair + Self.builtStep * state.count)
            steps += state.count
            if steps > GrammarLimits.machineSteps { throw .steps }
            states.append(state)
            accepting.append(first.accepting[pair.first] && second.accepting[pair.second])
        }
        return ScalarMachine(states: states, accepting: accepting)
    }

    /// Whether an accepting pair can be reached. It is looked for as far as `machine()` goes.
    mutating func hasText() throws(ScalarMachineTooLarge) -> Bool {
        var pairs = [Pair(first: 0, second: 0)]
        var seen: Set<Pair> = [pairs[0]]
        var next = 0
        var steps = 0
        while next < pairs.count {
            let pair = pairs[next]
            next += 1
            try note(Self.foundPair)
            if first.accepting[pair.first] && second.accepting[pair.second] { return true }
            for mine in firstSteps[pair.first] {
                for theirs in secondSteps[pair.second] {
                    if try meeting(mine.set, theirs.set).isEmpty { continue }
                    steps += 1
                    let target = Pair(first: mine.to, second: theirs.to)
                    guard seen.insert(target).inserted else { continue }
                    if pairs.count >= GrammarLimits.machineStates { throw .states }
                    pairs.append(target)
                }
            }
            if steps > GrammarLimits.machineSteps { throw .steps }
        }
        return false
    }

    private func note(_ work: Int) throws(ScalarMachineTooLarge) {
        guard demand.lasts(for: work) else { throw .work }
    }

    /// What is in both of two numbered sets.
    private mutating func meeting(
        _ mine: Int, _ theirs: Int
    ) throws(ScalarMachineTooLarge) -> ScalarSet {
        workLeft -= 1
        guard workLeft >= 0, demand.lasts() else { throw .work }
        if mine == theirs { return sets[mine] }
        let pair = Pair(first: mine, second: theirs)
        if let known = meetings[pair] { return known }
        // An entry of the table takes as much room as several ranges.
        let work = 16 + sets[mine].ranges.count + sets[theirs].ranges.count
        workLeft -= work
        try note(work)
        let set = sets[mine].intersection(sets[theirs])
        meetings[pair] = set
        return set
    }
}
