/// Machines of the expressions and formats of one schema, each made once.
final class TextMachines {
    private var machines: [[UInt8]: (machine: ScalarMachine, isDeterministic: Bool)] = [:]
    private let budget: WorkBudget

    init(_ budget: WorkBudget) {
        self.budget = budget
    }

    /// A regular expression as a machine, deterministic if that is feasible.
    func machine(
        _ pattern: String, matchesWhole: Bool, pointer: String
    ) throws(GrammarError) -> ScalarMachine {
        try made(pattern, matchesWhole: matchesWhole, pointer: pointer).machine
    }

    private func made(
        _ pattern: String, matchesWhole: Bool, pointer: String
    ) throws(GrammarError) -> (machine: ScalarMachine, isDeterministic: Bool) {
        let key = [matchesWhole ? 1 : 0] + Array(pattern.utf8)
        if let known = machines[key] { return known }
        let tree: PatternNode
        do {
            tree = try PatternParser.parse(pattern)
        } catch {
            throw error.error(at: pointer)
        }
        var machine: ScalarMachine
        do {
            machine = try ScalarMachine(tree, matchesWhole: matchesWhole)
        } catch {
            throw error.error(at: pointer)
        }
        try budget.spend(8 + machine.states.count / 4, at: pointer)
        let deterministic = machine.determinised
        machine = deterministic ?? machine
        try budget.spend(deterministic == nil ? 2048 : machine.states.count / 4, at: pointer)
        machines[key] = (machine, deterministic != nil)
        return (machine, deterministic != nil)
    }

    /// Whether a text is as a rule asks.
    func accepts(_ text: String, _ rule: TextRule) throws(GrammarError) -> Bool {
        let length = text.unicodeScalars.count
        guard length >= rule.least, length <= rule.most ?? .max else { return false }
        for (pattern, matchesWhole, pointer) in rule.expressions {
            let (machine, isDeterministic) = try made(
                pattern, matchesWhole: matchesWhole, pointer: pointer)
            let width = isDeterministic ? 1 : machine.states.count
            try budget.spend(1 + min(length * width, GrammarLimits.matchWork) / 256, at: pointer)
            guard machine.contains(text) else { return false }
        }
        return !rule.excluded.contains(text.unicodeScalars.map(\.value))
    }

    /// A machine for all conditions of a rule together.
    func machine(_ rule: TextRule) throws(GrammarError) -> ScalarMachine {
        var machines: [ScalarMachine] = []
        for (pattern, matchesWhole, pointer) in rule.expressions {
            machines.append(
                try machine(pattern, matchesWhole: matchesWhole, pointer: pointer))
        }
        let pointer = rule.patterns.first?.pointer ?? ""
        let product: ScalarMachine
        do throws(ScalarMachineTooLarge) {
            if !rule.excluded.isEmpty { machines.append(try .excluding(rule.excluded)) }
            if rule.least > 0 || rule.most != nil {
                machines.append(try .length(rule.least, rule.most))
            }
            var all = machines.first ?? .any
            for machine in machines.dropFirst() { all = try all.intersection(machine) }
            product = all
        } catch {
            throw error.error(at: pointer)
        }
        try budget.spend(product.states.count / 4, at: pointer)
        return product
    }
}
