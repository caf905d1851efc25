import SkeinBasics

/// A regular expression: a tree, and what a text begins with or does not.
struct Pattern: Hashable, Sendable {
    /// `(?=...)` or `(?!...)` right after the `^` with which the whole expression begins.
    struct LookAhead: Hashable, Sendable {
        /// If it is negative, all texts on which it matches in any dialect.
        var tree: PatternNode
        var isNegative: Bool
    }

    /// What else stands there, with its `^`.
    var tree: PatternNode
    var lookAheads: [LookAhead] = []
}

extension PatternParser {
    /// A line feed at the end, which Python lets follow `$`.
    private static let lineFeed = PatternNode.sequence([.set(ScalarSet(0x0A)), .end])

    /// The look-aheads after a leading `^`, which is read with them; none, and nothing is read, if the
    /// expression does not begin so.
    mutating func leadingLookAheads() throws(PatternFlaw) -> [Pattern.LookAhead] {
        var found: [Pattern.LookAhead] = []
        guard next == "^", peek(1) == "(", peek(2) == "?", peek(3) == "=" || peek(3) == "!" else {
            return found
        }
        position += 1
        while true {
            let start = position
            let isNegative = take("(?!")
            guard isNegative || take("(?=") else { return found }
            // What it must not match is all that it may mean.
            isWide = isNegative
            var tree = try choice()
            isWide = false
            guard take(")") else { throw flaw(.unterminatedGroup, at: start) }
            // Dialects differ in what a repeated one means.
            if let next, "*+?{".unicodeScalars.contains(next) { throw flaw(.lookAround, at: start) }
            if isNegative {
                guard let wide = tree.endingBeforeLineFeed(Self.lineFeed) else {
                    throw flaw(.lookAround, at: start)
                }
                tree = wide
            }
            found.append(Pattern.LookAhead(tree: tree, isNegative: isNegative))
            if found.count > GrammarLimits.lookAheads { throw flaw(.lookAround, at: start) }
        }
    }
}

extension PatternNode {
    /// The same where each `$` may also stand before a line feed at the end; nil if one is not the last
    /// thing on its way, so that something could match that line feed.
    fileprivate func endingBeforeLineFeed(
        _ lineFeed: PatternNode, isLast: Bool = true
    ) -> PatternNode? {
        func all(_ nodes: [PatternNode], isLast: (Int) -> Bool) -> [PatternNode]? {
            var made: [PatternNode] = []
            for (place, node) in nodes.enumerated() {
                guard let node = node.endingBeforeLineFeed(lineFeed, isLast: isLast(place)) else {
                    return nil
                }
                made.append(node)
            }
            return made
        }
        switch self {
        case .set, .beginning: return self
        case .end: return isLast ? .choice([.end, lineFeed]) : nil
        case .sequence(let nodes):
            return all(nodes) { isLast && $0 == nodes.count - 1 }.map { .sequence($0) }
        case .choice(let nodes): return all(nodes) { _ in isLast }.map { .choice($0) }
        case .repetition(let body, let least, let most):
            return body.endingBeforeLineFeed(lineFeed, isLast: false)
                .map { .repetition($0, least: least, most: most) }
        }
    }
}

extension ScalarMachine {
    /// The texts that begin as a look-ahead asks: a machine with one step at most for each character.
    ///
    /// - Returns: nil as `determinised`.
    /// - Throws: `ScalarMachineTooLarge`.
    static func beginning(
        _ ahead: Pattern.LookAhead, _ demand: Demand = Demand()
    ) throws(ScalarMachineTooLarge) -> ScalarMachine? {
        let matching = try ScalarMachine(
            .sequence([.beginning, ahead.tree]), matchesWhole: false, demand
        ).determinised(demand)
        return ahead.isNegative ? matching?.complement : matching
    }

    /// Every text that is not in the language of a deterministic machine.
    private var complement: ScalarMachine {
        let free = states.count
        var all = states.map { steps in
            let named = ScalarSet(steps.flatMap(\.set.ranges))
            return steps + [Step(set: named.inverted, to: free)]
        }
        all.append([Step(set: .all, to: free)])
        return ScalarMachine(states: all, accepting: accepting.map { !$0 } + [true]).trimmed
    }
}
