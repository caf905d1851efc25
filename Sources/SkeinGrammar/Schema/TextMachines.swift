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

    /// Two languages by their numbers, the lower one first.
    private struct Two: Hashable {
        var first: Int
        var second: Int
    }

    private var languages: [Language] = []
    private var numbers: [[UInt8]: Int] = [:]
    /// Expressions without a machine: to learn that takes long.
    private var tooLarge: Set<[UInt8]> = []
    private var overlaps: [Two: Bool] = [:]
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
        languages[try number(of: pattern, matchesWhole: matchesWhole, pointer: pointer)]
    }

    /// The place of that language.
    private func number(
        of pattern: String, matchesWhole: Bool, pointer: String
    ) throws(GrammarError) -> Int {
        let key = [matchesWhole ? 1 : 0] + Array(pattern.utf8)
        _ = budget.demand.lasts(for: 20 + key.count / 8)
        if let known = numbers[key] { return known }
        try budget.spend(8, at: pointer)
        let flaw = GrammarError.tooLarge(
            what: .machine, limit: GrammarLimits.machineStates, pointer: pointer)
        if tooLarge.contains(key) { throw flaw }
        let read: Pattern
        do {
            read = try PatternParser.parse(pattern, budget.demand)
        } catch {
            throw error.error(at: pointer)
        }
        var tree = read.tree
        var language = Language(machine: .none)
        if let counted = tree.counted(matchesWhole: matchesWhole) {
            tree = counted.tree
            language.restrict(counted.least, counted.most)
        }
        let made = machine(tree, read.lookAheads, matchesWhole: matchesWhole)
        // Above all what led to nothing is paid for: a lenient schema goes on.
        try budget.spend(0, at: pointer)
        guard let machine = made else {
            tooLarge.insert(key)
            throw flaw
        }
        language.machine = machine
        numbers[key] = languages.count
        languages.append(language)
        return languages.count - 1
    }

    /// A deterministic machine of the texts that match and begin as the look-aheads ask; nil: it would be
    /// too large.
    private func machine(
        _ tree: PatternNode, _ lookAheads: [Pattern.LookAhead], matchesWhole: Bool
    ) -> ScalarMachine? {
        do throws(ScalarMachineTooLarge) {
            let demand = budget.demand
            var machine = try ScalarMachine(tree, matchesWhole: matchesWhole, demand)
                .determinised(demand)
            for ahead in lookAheads {
                guard let begins = try ScalarMachine.beginning(ahead, demand) else { return nil }
                machine = try machine?.intersection(begins, demand).merged(demand)
            }
            return machine
        } catch {
            // Too large is all that can be wrong; the caller throws the flaw of the expression.
            return nil
        }
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
            _ = try PatternParser.parse(pattern, budget.demand)
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

    /// Whether a text may match both of two expressions, or a machine of both would be too large.
    func overlap(
        _ first: TextRule.Pattern, _ second: TextRule.Pattern
    ) throws(GrammarError) -> Bool {
        try budget.spend(8, at: first.pointer)
        let two: Two
        do throws(GrammarError) {
            let a = try number(of: first.text, matchesWhole: false, pointer: first.pointer)
            let b = try number(of: second.text, matchesWhole: false, pointer: second.pointer)
            two = Two(first: min(a, b), second: max(a, b))
        } catch {
            guard case .tooLarge(.machine, _, _) = error else { throw error }
            return true
        }
        if let known = overlaps[two] { return known }
        let overlap: Bool
        do throws(ScalarMachineTooLarge) {
            overlap = try hasText(in: languages[two.first], languages[two.second])
        } catch {
            // A machine that is too large counts as one that has a text.
            overlap = true
        }
        try budget.spend(0, at: first.pointer)
        overlaps[two] = overlap
        return overlap
    }

    private func hasText(
        in first: Language, _ second: Language
    ) throws(ScalarMachineTooLarge) -> Bool {
        guard first.isCounted || second.isCounted else {
            return try first.machine.overlaps(second.machine, budget.demand)
        }
        var both = first
        both.restrict(second.least, second.most)
        both.machine = try first.machine.intersection(second.machine, budget.demand)
        try takeLength(of: &both, escaping: true, unrolled: .max)
        return !both.machine.isEmpty
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
        // Some 200 ns for each character of a name: many have a table of their own.
        try budget.spend(rule.excluded.reduce(0) { $0 + $1.count } / 100, at: pointer)
        do throws(ScalarMachineTooLarge) {
            if !rule.excluded.isEmpty { machines.append(try .excluding(rule.excluded)) }
            all.machine = machines.first ?? .any
            for machine in machines.dropFirst() {
                all.machine = try all.machine.intersection(machine, budget.demand)
            }
            try takeLength(of: &all, escaping: true, unrolled: unrolled)
        } catch {
            try budget.spend(0, at: pointer)
            throw error.error(at: pointer)
        }
        try budget.spend(all.machine.unitsOfUse, at: pointer)
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
        language = Language(
            machine: try language.machine.intersection(length, budget.demand))
    }
}

extension ScalarMachine {
    /// What it takes to write a machine's network and to look at its lengths, in units of a budget.
    fileprivate var unitsOfUse: Int {
        states.count / 4 + states.reduce(0) { $0 + $1.count } / 48
    }
}
