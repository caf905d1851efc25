/// Machines of the expressions and formats of one schema, each made once.
final class TextMachines {
    /// A text is in the language if the machine has it and it is as long as this says.
    struct Language {
        var machine: ScalarMachine
        /// Code points.
        var least = 0
        /// nil: any number.
        var most: Int?

        /// Whether the length is not in the machine.
        var isCounted: Bool { least > 0 || most != nil }

        mutating func restrict(_ least: Int, _ most: Int?) {
            self.least = max(self.least, least)
            if let most { self.most = min(self.most ?? most, most) }
        }
    }

    private var languages: [[UInt8]: Language] = [:]
    private let budget: WorkBudget

    init(_ budget: WorkBudget) {
        self.budget = budget
    }

    /// The language of a regular expression, with a deterministic machine.
    ///
    /// Others are refused: `.*a.{100}` has 2^100 states, one for each set of places where an `a` may
    /// have been, and each mask would meet thousands of them.
    func language(
        _ pattern: String, matchesWhole: Bool, pointer: String
    ) throws(GrammarError) -> Language {
        let key = [matchesWhole ? 1 : 0] + Array(pattern.utf8)
        if let known = languages[key] { return known }
        var tree: PatternNode
        do {
            tree = try PatternParser.parse(pattern)
        } catch {
            throw error.error(at: pointer)
        }
        var language = Language(machine: .none)
        if let counted = tree.counted(matchesWhole: matchesWhole) {
            tree = counted.tree
            language.restrict(counted.least, counted.most)
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
        language.machine = deterministic
        languages[key] = language
        return language
    }

    /// Whether a model can be held to an expression, or it is left out: it is of a dialect that is not
    /// ours, or has no machine. What is no expression in any dialect is an error.
    ///
    /// Where keywords are not left out, what is wrong shows when the expression is used.
    func holds(
        _ pattern: String, at pointer: String, _ drops: KeywordDrops, _ keyword: String? = nil
    ) throws(GrammarError) -> Bool {
        guard drops.isLenient else { return true }
        do throws(PatternFlaw) {
            _ = try PatternParser.parse(pattern)
        } catch {
            guard error.kind.isOfDialect else { throw error.error(at: pointer) }
            try drops.drop(error.error(at: pointer), keyword)
            return false
        }
        do throws(GrammarError) {
            _ = try language(pattern, matchesWhole: false, pointer: pointer)
        } catch {
            guard case .tooLarge(.machine, _, _) = error else { throw error }
            try drops.drop(error, keyword)
            return false
        }
        return true
    }

    /// Whether a text is as a rule asks.
    func accepts(_ text: String, _ rule: TextRule) throws(GrammarError) -> Bool {
        let length = text.unicodeScalars.count
        guard length >= rule.least, length <= rule.most ?? .max else { return false }
        for (pattern, matchesWhole, pointer) in rule.expressions {
            let language = try language(pattern, matchesWhole: matchesWhole, pointer: pointer)
            try budget.spend(1 + length / 256, at: pointer)
            guard length >= language.least, length <= language.most ?? .max,
                language.machine.contains(text, budget.demand)
            else { return false }
        }
        return true
    }

    /// The language of all conditions of a rule together.
    ///
    /// The length is a part of the machine unless it is more than `unrolled`, and a number beside the
    /// state can tell as much.
    func language(_ rule: TextRule, unrolled: Int) throws(GrammarError) -> Language {
        var all = Language(machine: .any)
        all.restrict(rule.least, rule.most)
        var machines: [ScalarMachine] = []
        for (pattern, matchesWhole, pointer) in rule.expressions {
            let one = try language(pattern, matchesWhole: matchesWhole, pointer: pointer)
            machines.append(one.machine)
            all.restrict(one.least, one.most)
        }
        let pointer = rule.patterns.first?.pointer ?? ""
        do throws(ScalarMachineTooLarge) {
            if !rule.excluded.isEmpty { machines.append(try .excluding(rule.excluded)) }
            all.machine = machines.first ?? .any
            for machine in machines.dropFirst() {
                all.machine = try all.machine.intersection(machine, budget.demand)
            }
            try takeLength(of: &all, escaping: true, unrolled: unrolled)
        } catch {
            throw error.error(at: pointer)
        }
        try budget.spend(all.machine.states.count / 4, at: pointer)
        return all
    }

    /// The language of an expression that the whole text matches, the same way.
    func language(whole expression: String, unrolled: Int) throws(GrammarError) -> Language {
        var language = try language(expression, matchesWhole: true, pointer: "")
        do throws(ScalarMachineTooLarge) {
            try takeLength(of: &language, escaping: false, unrolled: unrolled)
        } catch {
            throw error.error(at: "")
        }
        return language
    }

    /// Leaves out what the machine says anyway, and puts into the machine what is short or cannot be
    /// told by a number.
    private func takeLength(
        of language: inout Language, escaping: Bool, unrolled: Int
    ) throws(ScalarMachineTooLarge) {
        guard !language.machine.isEmpty else {
            language = Language(machine: .none)
            return
        }
        let lengths = language.machine.lengths
        if language.least <= Int(lengths[0].lowerBound) { language.least = 0 }
        if let most = language.most, lengths[0].upperBound < .max,
            most >= Int(lengths[0].upperBound)
        {
            language.most = nil
        }
        guard language.isCounted else { return }
        guard language.least <= language.most ?? .max else {
            language = Language(machine: .none)
            return
        }
        if max(language.least, language.most ?? 0) > unrolled,
            language.machine.hasEveryLength(lengths, escaping: escaping)
        {
            let most = language.most ?? .max
            guard Int(lengths[0].lowerBound) <= most,
                language.least <= Int(lengths[0].upperBound)
            else {
                language = Language(machine: .none)
                return
            }
            return
        }
        let length = try ScalarMachine.length(language.least, language.most)
        language = Language(machine: try language.machine.intersection(length, budget.demand))
    }
}
