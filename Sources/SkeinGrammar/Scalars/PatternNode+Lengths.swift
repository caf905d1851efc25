/// A long repetition of a class is told by the length of the text where all else has a fixed length.
extension PatternNode {
    /// An expression with a star in the place of a long repetition, and how many characters a text must
    /// have that the expression matches as a whole: `^[A-Z]{2}\d{1,5000}$` is `^[A-Z]{2}\d*$` for texts
    /// of 3 to 5002.
    ///
    /// nil: it is no such expression.
    func counted(matchesWhole: Bool) -> (tree: PatternNode, least: Int, most: Int?)? {
        var parts = flat
        let begins = parts.first == .beginning
        if begins { parts.removeFirst() }
        let ends = parts.last == .end
        if ends { parts.removeLast() }
        guard matchesWhole || begins && ends else { return nil }
        var fixed = 0
        var long: (place: Int, least: Int, most: Int?)?
        for (place, part) in parts.enumerated() {
            if case .repetition(.set, let least, let most) = part, long == nil,
                max(least, most ?? 0) > GrammarLimits.unrolledCount
            {
                long = (place, least, most)
            } else if let length = part.fixedLength {
                fixed += length
            } else {
                return nil
            }
        }
        guard let long, case .repetition(let set, _, _) = parts[long.place] else { return nil }
        parts[long.place] = .repetition(set, least: 0, most: nil)
        return (
            .sequence([.beginning] + parts + [.end]), fixed + long.least,
            long.most.map { fixed + $0 }
        )
    }

    private var flat: [PatternNode] {
        if case .sequence(let parts) = self { return parts.flatMap(\.flat) }
        return [self]
    }

    /// How many characters each text has that it matches; nil: not all have as many, or it says where
    /// they stand. Short enough not to overflow.
    private var fixedLength: Int? {
        switch self {
        case .set: return 1
        case .sequence(let parts):
            var sum = 0
            for part in parts {
                guard let length = part.fixedLength else { return nil }
                sum += length
            }
            return sum <= GrammarLimits.count ? sum : nil
        case .choice(let options):
            let lengths = Set(options.map(\.fixedLength))
            return lengths.count == 1 ? lengths.first ?? nil : nil
        case .repetition(let body, let least, let most):
            guard least == most, let length = body.fixedLength else { return nil }
            let (product, isTooLarge) = length.multipliedReportingOverflow(by: least)
            return isTooLarge || product > GrammarLimits.count ? nil : product
        case .beginning, .end: return nil
        }
    }
}
