/// Machines of the expressions and formats of one schema, each made once.
final class TextMachines {
    private var machines: [[UInt8]: ScalarMachine] = [:]
    private let budget: WorkBudget

    init(_ budget: WorkBudget) {
        self.budget = budget
    }

    /// A regular expression as a deterministic machine.
    ///
    /// Others are refused: `.*a.{100}` has 2^100 states, one for each set of places where an `a` may
    /// have been, and each mask would meet thousands of them.
    func machine(
        _ pattern: String, matchesWhole: Bool, pointer: String
    ) throws(GrammarError) -> ScalarMachine {
        let key = [matchesWhole ? 1 : 0] + Array(pattern.utf8)
        if let known = machines[key] { return known }
        let tree: PatternNode
        do {
            tree = try PatternParser.parse(pattern)
        } catch {
            throw error.error(at: pointer)
        }
        let machine: ScalarMachine
        do {
            machine = try ScalarMachine(
                tree, matchesWhole: matchesWhole, budget.demand)
        } catch {
            throw error.error(at: pointer)
        }
        try budget.spend(8 + machine.states.count / 4, at: pointer)
        guard let deterministic = machine.determinised(budget.demand) else {
            throw .tooLarge(
                what: .machine, limit: GrammarLimits.machineStates, pointer: pointer)
        }
        try budget.spend(deterministic.states.count / 4, at: pointer)
        machines[key] = deterministic
        return deterministic
    }

    /// Whether a text is as a rule asks.
    func accepts(_ text: String, _ rule: TextRule) throws(GrammarError) -> Bool {
        let length = text.unicodeScalars.count
        guard length >= rule.least, length <= rule.most ?? .max else { return false }
        for (pattern, matchesWhole, pointer) in rule.expressions {
            let machine = try machine(pattern, matchesWhole: matchesWhole, pointer: pointer)
            try budget.spend(1 + length / 256, at: pointer)
            guard machine.contains(text, budget.demand) else { return false }
        }
        return true
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
            for machine in machines.dropFirst() {
                all = try all.intersection(machine, budget.demand)
            }
            product = all
        } catch {
            throw error.error(at: pointer)
        }
        try budget.spend(product.states.count / 4, at: pointer)
        return product
    }
}
