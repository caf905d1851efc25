import SkeinBasics

/// The characters that a match can begin with, and whether it can be empty. A look-around or an anchor
/// counts as empty.
struct FirstCharacters {
    private(set) var set = ScalarSet.none
    private(set) var canBeEmpty = false

    /// The first characters of an expression.
    ///
    /// - Parameters:
    ///   - node: the expression.
    ///   - visits: counts the nodes that were looked at. Each may join large sets, and parts of one
    ///     sequence ask for what follows them again and again.
    /// - Throws: `ExpressionFlaw.tooLarge`.
    init(of node: ExpressionNode, visits: inout Int) throws(ExpressionFlaw) {
        visits += 1
        guard visits <= ExpressionLimits.firstVisits else { throw .tooLarge }
        switch node {
        case .set(let set): self.set = set
        case .sequence(let parts): self = try Self(of: parts[...], visits: &visits)
        case .alternatives(let parts):
            for part in parts {
                let first = try Self(of: part, visits: &visits)
                set = set.union(first.set)
                canBeEmpty = canBeEmpty || first.canBeEmpty
            }
        case .repeated(_, _, 0, _), .lookAhead, .lookBehind, .anchor: canBeEmpty = true
        case .repeated(let body, let least, _, _):
            self = try Self(of: body, visits: &visits)
            canBeEmpty = canBeEmpty || least == 0
        case .atomic(let body): self = try Self(of: body, visits: &visits)
        }
    }

    /// The first characters of parts that follow each other.
    init(of parts: ArraySlice<ExpressionNode>, visits: inout Int) throws(ExpressionFlaw) {
        canBeEmpty = true
        for part in parts where canBeEmpty {
            let first = try Self(of: part, visits: &visits)
            set = set.union(first.set)
            canBeEmpty = first.canBeEmpty
        }
    }
}
