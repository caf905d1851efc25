import SkeinBasics

/// From a regular expression to a machine.
extension ScalarMachine {
    /// The texts that a regular expression matches.
    ///
    /// - Parameters:
    ///   - pattern: a tree; time and memory are bounded for any.
    ///   - matchesWhole: whether it is to match from the first character to the last, and not
    ///     somewhere, as JSON Schema's `pattern` does.
    ///   - demand: the caller's.
    /// - Throws: `ScalarMachineTooLarge`.
    init(
        _ pattern: PatternNode, matchesWhole: Bool, _ demand: Demand = Demand()
    ) throws(ScalarMachineTooLarge) {
        var compiler = PatternCompiler(demand: demand)
        self = try compiler.machine(pattern, matchesWhole: matchesWhole).trimmed
    }
}

/// Thompson's construction from the end to the beginning, and then a machine whose states are the
/// parts that follow a character.
///
/// Each part of the expression is built before what follows it (`next`), so alternatives share it:
/// `(a|b|c)*` becomes a single state. `^` and `$` are ways without a character that may be taken
/// under a condition: `^` before the first character, and after `$` no character may come.
private struct PatternCompiler {
    private enum Part {
        case character(set: Int, next: Int)
        case branch([Int])
        case beginning(next: Int)
        case end(next: Int)
        case accept
    }

    /// A way without characters from the part where it began.
    private struct Way {
        var part: Int
        /// Whether a `$` was passed.
        var isOver: Bool
    }

    private let demand: Demand
    private var parts: [Part] = []
    private var sets: [ScalarSet] = []
    private var setNumbers: [ScalarSet: Int] = [:]
    private var unions: [[Int]: ScalarSet] = [:]
    private var hasBeginning = false
    private var workLeft = GrammarLimits.machineWork
    /// For each part the last search that came by, and the last that did after a `$`.
    private var visited: [Int] = []
    private var visitedOver: [Int] = []

    init(demand: Demand) {
        self.demand = demand
    }

    mutating func machine(
        _ pattern: PatternNode, matchesWhole: Bool
    ) throws(ScalarMachineTooLarge) -> ScalarMachine {
        let accept = try add(.accept)
        let start: Int
        if matchesWhole {
            start = try entry(of: pattern, next: accept)
        } else {
            let anything = number(of: .all)
            let after = try add(.branch([]))
            let more = try add(.character(set: anything, next: after))
            parts[after] = .branch([more, accept])
            let before = try add(.branch([]))
            let earlier = try add(.character(set: anything, next: before))
            parts[before] = .branch([earlier, try entry(of: pattern, next: after)])
            start = before
        }
        return try machine(from: start)
    }

    // MARK: Parts

    private mutating func spend(_ work: Int) throws(ScalarMachineTooLarge) {
        workLeft -= work
        guard workLeft >= 0, demand.lasts(for: work) else { throw .work }
    }

    private mutating func add(_ part: Part) throws(ScalarMachineTooLarge) -> Int {
        if parts.count >= 4 * GrammarLimits.machineStates { throw .states }
        parts.append(part)
        return parts.count - 1
    }

    private mutating func number(of set: ScalarSet) -> Int {
        if let known = setNumbers[set] { return known }
        setNumbers[set] = sets.count
        sets.append(set)
        return sets.count - 1
    }

    /// Builds a tree before `next`, and returns where it begins.
    private mutating func entry(
        of tree: PatternNode, next: Int
    ) throws(ScalarMachineTooLarge) -> Int {
        try spend(1)
        switch tree {
        case .set(let set):
            return try add(.character(set: number(of: set), next: next))
        case .beginning:
            hasBeginning = true
            return try add(.beginning(next: next))
        case .end:
            return try add(.end(next: next))
        case .sequence(let trees):
            var here = next
            for tree in trees.reversed() { here = try entry(of: tree, next: here) }
            return here
        case .choice(let trees):
            var options: [Int] = []
            for tree in trees { options.append(try entry(of: tree, next: next)) }
            return try add(.branch(options))
        case .repetition(let body, let least, let most):
            return try repetition(of: body, least: least, most: most, next: next)
        }
    }

    private mutating func repetition(
        of body: PatternNode, least: Int, most: Int?, next: Int
    ) throws(ScalarMachineTooLarge) -> Int {
        var here = next
        var copies = least
        if let most {
            // x{0,3} is (x(x(x)?)?)?: each copy leads to the next one or out.
            for _ in 0..<max(0, most - least) {
                here = try add(.branch([try entry(of: body, next: here), next]))
            }
        } else {
            let loop = try add(.branch([]))
            let again = try entry(of: body, next: loop)
            parts[loop] = .branch([again, next])
            // The last of the required copies is the way into the loop.
            here = least > 0 ? again : loop
            copies = max(0, least - 1)
        }
        for _ in 0..<copies { here = try entry(of: body, next: here) }
        return here
    }

    // MARK: States

    private mutating func machine(from start: Int) throws(ScalarMachineTooLarge) -> ScalarMachine {
        visited = Array(repeating: -1, count: parts.count)
        visitedOver = visited
        var states: [[ScalarMachine.Step]] = []
        var accepting: [Bool] = []
        var steps = 0
        // The start is a state of its own if `^` makes it different from a later visit.
        var numbers: [Int: Int] = hasBeginning ? [:] : [start: 0]
        var entries = [start]
        while states.count < entries.count {
            let isFirst = states.isEmpty
            let row = try row(
                from: entries[states.count], atBeginning: isFirst, search: states.count)
            steps += row.targets.count
            if steps > GrammarLimits.machineSteps { throw .steps }
            // Each has a list of sets.
            guard demand.lasts(for: 15 * row.targets.count) else { throw .work }
            var state: [ScalarMachine.Step] = []
            for (target, members) in row.targets {
                let to: Int
                if let known = numbers[target] {
                    to = known
                } else {
                    to = entries.count
                    if to >= GrammarLimits.machineStates { throw .states }
                    numbers[target] = to
                    entries.append(target)
                }
                state.append(ScalarMachine.Step(set: try union(of: members), to: to))
            }
            states.append(state)
            accepting.append(row.accepts)
        }
        return ScalarMachine(states: states, accepting: accepting)
    }

    /// What can be done from a part before the next character: where characters of which sets lead,
    /// in the order of the expression, and whether the text may end.
    private mutating func row(
        from first: Int, atBeginning: Bool, search: Int
    ) throws(ScalarMachineTooLarge) -> (targets: [(Int, sets: [Int])], accepts: Bool) {
        var targets: [(Int, sets: [Int])] = []
        var places: [Int: Int] = [:]
        var accepts = false
        var ways = [Way(part: first, isOver: false)]
        while let way = ways.popLast() {
            try spend(1)
            if way.isOver {
                if visitedOver[way.part] == search { continue }
                visitedOver[way.part] = search
            } else {
                if visited[way.part] == search { continue }
                visited[way.part] = search
            }
            switch parts[way.part] {
            case .character(let set, let next):
                if way.isOver || sets[set].isEmpty { continue }
                if let place = places[next] {
                    targets[place].sets.append(set)
                } else {
                    places[next] = targets.count
                    targets.append((next, sets: [set]))
                }
            case .branch(let options):
                for option in options.reversed() {
                    ways.append(Way(part: option, isOver: way.isOver))
                }
            case .beginning(let next):
                if atBeginning { ways.append(Way(part: next, isOver: way.isOver)) }
            case .end(let next):
                ways.append(Way(part: next, isOver: true))
            case .accept:
                accepts = true
            }
        }
        return (targets, accepts)
    }

    private mutating func union(of members: [Int]) throws(ScalarMachineTooLarge) -> ScalarSet {
        if members.count == 1 { return sets[members[0]] }
        let key = Set(members).sorted()
        if let known = unions[key] { return known }
        try spend(key.reduce(0) { $0 + sets[$1].ranges.count + 1 })
        let union = ScalarSet(key.flatMap { sets[$0].ranges })
        unions[key] = union
        return union
    }
}
